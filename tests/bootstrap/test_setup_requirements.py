"""The lock: hashes everywhere, no address, and nothing that the project declares is missing."""

import re
import tomllib

import pytest

from support.checkout import ROOT
from tools.errors import SetupError
from tools.requirements import pinned_requirements

_DIGEST = "0" * 64
_GOOD = f"""\
# a comment
one==1.0 \\
    --hash=sha256:{_DIGEST} \\
    --hash=sha256:{_DIGEST}
two-parts==2.0.post1 ; sys_platform == 'win32' \\
    --hash=sha256:{_DIGEST}
"""


def test_pins_are_read_with_their_markers() -> None:
    assert pinned_requirements(_GOOD) == {"one": "1.0", "two-parts": "2.0.post1"}


@pytest.mark.parametrize(
    "line",
    [
        "three==3.0",
        f"three>=3.0 --hash=sha256:{_DIGEST}",
        "three==3.0 --hash=md5:0123",
        f"three==3.0 --hash=sha256:{_DIGEST} --hash=sha256:short",
        "--pre",
        "-e .",
        "three @ file:three.whl",
    ],
)
def test_a_line_that_pins_nothing_by_hash_is_refused(line: str) -> None:
    with pytest.raises(SetupError, match="pins nothing by hash"):
        pinned_requirements(_GOOD + line + "\n")


@pytest.mark.parametrize(
    "line", ["--index-url https://registry.example/simple", "# via -r /home/someone/list.txt"]
)
def test_an_address_or_a_path_is_refused(line: str) -> None:
    with pytest.raises(SetupError, match="an address or a path"):
        pinned_requirements(line + "\n" + _GOOD)


def test_the_lock_pins_all_that_the_project_declares() -> None:
    pins = pinned_requirements((ROOT / "requirements.lock").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    groups = project["dependency-groups"]
    needed = (*groups["dev"], *groups["docs"], *(name for extra in extras for name in extra))
    declared = [name for name in needed if name != {"include-group": "docs"}]
    names = {re.split(r"[\[=<>~! ;]", requirement)[0].lower() for requirement in declared}
    assert len(names) >= 10
    assert names <= set(pins)
