"""The site has the repository's pages, its links lead somewhere, and it loads nothing."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import seeds
from support.browser import dump_dom, look_at
from support.checkout import ROOT
from support.node import node_command

_API = {
    "reference": "wheelproof.timer.SystemTimer",
    "sync": "wheelproof.sync.AtomicReference",
    "explore": "wheelproof_explore.every_interleaving",
    "oracle": "wheelproof_spec.components.timer.model.HeapTimer",
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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = _build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_the_site_is_whole(site: Path) -> None:
    for page, name in _API.items():
        text = (site / f"docs/site/api/{page}.html").read_text(encoding="utf-8")
        assert f'id="{name}"' in text
    pages = list(site.rglob("*.html"))
    elsewhere = [name for page in pages for name in _LOADED.findall(page.read_text("utf-8"))]
    assert elsewhere == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("deadlock", "docs/explore.html"),
        ("timing wheel", "docs/questions/timing-wheel.html"),
        ("hangs", "docs/questions/asyncio-pool.html"),
    ],
)
def test_a_search_leads_to_the_guide(query: str, page: str, site: Path) -> None:
    command = node_command(str(ROOT / "tests/support/site_search.js"), str(site), query)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)[0].partition("#")[0] == page


@pytest.mark.slow
def test_a_button_copies_commands_alone(site: Path) -> None:
    page = (site / "docs/questions/discipline.html").read_text(encoding="utf-8")
    told = [html.unescape(one) for one in re.findall(r'data-copy="([^"]*)"', page)]
    commands = [
        "wheelproof tlc MCMaybeTryComplete_exclusive MCMaybeTryComplete_KAFKA_6653 --explain",
        "wheelproof explore complete-exclusive-2\nwheelproof explore complete-exclusive-expiry-2",
        "wheelproof fuzz purgatory --cases 30 --seed 1",
    ]
    assert told == commands
    without_commands = (site / "docs/standard/timer.html").read_text(encoding="utf-8")
    assert "data-copy" not in without_commands


def test_a_label_is_the_heading_of_its_page() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    labels = re.findall(r"^ +- ([^:\n]+): (\S+\.md)$", nav, re.MULTILINE)
    assert len(labels) > 20
    assert [one for one in labels if not _is_of(*one)] == [("Home", "README.md")]
    assert not _is_of("The purgatory", "docs/standard/timer.md")


def _is_of(label: str, page: str) -> bool:
    """Return whether a label is a heading, or what is before or behind its colon."""
    heading = re.search(r"^# (.+)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert heading is not None
    parts = (heading[1], heading[1].partition(": ")[0], heading[1].partition(": ")[2])
    return label.lower() in [part.lower() for part in parts]


_LOOKS = [("default", 390), ("slate", 1280)]


@pytest.mark.long
@pytest.mark.campaign
@pytest.mark.parametrize(("scheme", "width"), _LOOKS)
def test_the_site_shuts_nobody_out(scheme: str, width: int, site: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(site, tmp_path / "site")
    # Each page would build this index again, which takes longer than all that axe does.
    index = folder / "search/search_index.json"
    index.write_text(json.dumps({**json.loads(index.read_text("utf-8")), "docs": []}))
    names = [one.relative_to(folder).with_suffix("").as_posix() for one in folder.rglob("*.html")]
    assert len(names) > 75
    # axe takes minutes for all pages: it looks at a quarter, light or dark.
    chosen = seeds.share(sorted(names)[_LOOKS.index((scheme, width)) :: 2], 2)
    pages = {name: (folder / f"{name}.html").read_text(encoding="utf-8") for name in chosen}
    # The theme asks the browser for its scheme only after axe has begun to look.
    shown = {
        name: page.replace('md-color-scheme="default"', f'md-color-scheme="{scheme}"', 1)
        for name, page in pages.items()
    }
    if "404" in shown:
        # This page alone is written for the root of a server.
        shown["404"] = shown["404"].replace('="/', '="')
    looked = look_at(shown, (width,), folder, dark=scheme == "slate")
    assert len(looked) == len(chosen)
    found = {f"{seen.page} at {seen.width}": seen.problems for seen in looked if seen.problems}
    assert found == {}
    assert [f"{seen.page} at {seen.width}" for seen in looked if seen.content > seen.width] == []


_PROBE = """<script>addEventListener("load", () => {
  const table = document.querySelector(".filtered table"), row = "tbody tr";
  const shown = () => [...table.querySelectorAll(row)].filter((one) => one.offsetHeight > 0);
  const cut = [...table.querySelectorAll("th, td")].filter(
    (cell) => cell.getBoundingClientRect().right > innerWidth);
  const [language, component, verdict] = document.querySelectorAll(".filtered select");
  const choose = (field, value) => {
    field.value = value;
    field.dispatchEvent(new Event("change"));
    return shown().map((one) => one.innerText.replace(/\\s+/g, " "));
  };
  const told = {all: shown().length, cut: cut.length, height: document.body.scrollHeight};
  told.java = choose(language, "Java");
  told.pools = choose(component, "buffer_pool");
  told.failed = choose(verdict, "FAIL");
  document.getElementById("netty-timer-driven-profile-kafka").closest("details").open = false;
  location.hash = "netty";
  addEventListener("hashchange", () => {
    told.open = [...document.querySelectorAll("details[open] h3")].map((one) => one.id);
    parent.postMessage(told, "*");
  });
});</script></body>"""


@pytest.mark.long
@pytest.mark.parametrize("width", [390, 1280])
def test_verdicts_are_chosen_and_opened(width: int, site: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(site, tmp_path / "site")
    page = folder / "docs/verdicts.html"
    page.write_text(page.read_text("utf-8").replace("</body>", _PROBE), encoding="utf-8")
    frame = f'<iframe src="docs/verdicts.html" width="{width}" height="900"></iframe>'
    script = "onmessage = (told) => document.querySelector('pre').textContent ="
    (folder / "probe.html").write_text(
        f"<!doctype html><pre></pre>{frame}<script>{script} JSON.stringify(told.data);</script>"
    )
    options = ("--allow-file-access-from-files", "--virtual-time-budget=20000")
    seen = dump_dom((folder / "probe.html").as_uri(), tmp_path / "profile", *options)
    told = json.loads(html.unescape(seen.partition("<pre>")[2].partition("</pre>")[0]))
    assert told["cut"] == 0
    assert told["height"] < 16_000
    assert told["all"] > len(told["java"]) > len(told["pools"]) > len(told["failed"]) > 0
    assert all("Java" in row for row in told["java"])
    assert all("Java" in row and "buffer_pool" in row for row in told["pools"])
    assert all("FAIL" in row for row in told["failed"])
    assert "netty-timer-driven-profile-kafka" in told["open"]


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


_ADDRESSES = """
from mkdocs.config import load_config
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

config = load_config("mkdocs.yml")
file = File("docs/tour.md", ".", config.site_dir, use_directory_urls=False)
page = Page(None, file, config)
config.plugins.on_page_markdown("# A tour", page=page, config=config, files=Files([file]))
print(config.repo_url or None, page.edit_url)
"""


@pytest.mark.parametrize("repository", ["https://forge.example/us/it", ""])
def test_the_address_of_the_repository_is_that_of_the_environment(repository: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ADDRESSES],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "REPOSITORY_URL": repository},
        capture_output=True,
        text=True,
        check=True,
    )
    edited = f"{repository}/edit/main/docs/tour.md" if repository else None
    assert done.stdout.split() == [repository or "None", str(edited)]
