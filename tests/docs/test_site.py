"""The site has the repository's pages, its links lead somewhere, and it loads nothing."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.checkout import ROOT

_API = {
    "reference": "wheelproof.timer.SystemTimer",
    "sync": "wheelproof.sync.AtomicReference",
    "explore": "wheelproof.explore.every_interleaving",
    "oracle": "wheelproof_spec.components.timer.oracle.HeapTimer",
}
_LOADED = re.compile(
    r"<(?:script|img|iframe)[^>]* src=\"(http[^\"]*)|<link[^>]*stylesheet[^>]*http"
)


def _build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    words = ("build", "--strict", "--config-file", config, "--site-dir", site)
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_site_is_whole(tmp_path: Path) -> None:
    done = _build(ROOT / "mkdocs.yml", tmp_path)
    assert done.returncode == 0, done.stderr
    for page, name in _API.items():
        text = (tmp_path / f"docs/site/api/{page}.html").read_text(encoding="utf-8")
        assert f'id="{name}"' in text
    pages = list(tmp_path.rglob("*.html"))
    elsewhere = [name for page in pages for name in _LOADED.findall(page.read_text("utf-8"))]
    assert elsewhere == []
    assert "purgatory" in (tmp_path / "search/search_index.json").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("link", ["nowhere.md", "#nowhere"])
def test_a_link_that_leads_nowhere_is_found(link: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Here\n\n[there]({link})\n")
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    rules = config[config.index("validation:") : config.index("theme:")]
    (tmp_path / "mkdocs.yml").write_text(f"site_name: x\n{rules}")
    done = _build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode == 1
    assert "nowhere" in done.stderr
