"""docs/purgatory-disciplines.md says what the manifest says."""

import re
import shutil
from pathlib import Path

import pytest

from wheelproof_lab.publish.disciplines import (
    DISCIPLINES,
    PAGE,
    PROMISES,
    UndecidedCellError,
    render,
)
from wheelproof_spec.base.resources import checkout_directory, tla_directory

_RELEASES = ("0.9", "1.0", "1.1", "2.6", "3.9", "4.0", "4.4")


def test_disciplines_page_is_up_to_date() -> None:
    checkout = checkout_directory()
    assert checkout is not None
    page = (checkout / PAGE).read_text(encoding="utf-8")
    remedy = "renew it: python -m wheelproof_lab pages disciplines"
    assert page == render(tla_directory() / "manifest.toml"), remedy


def test_disciplines_page_decides_every_cell() -> None:
    page = render(tla_directory() / "manifest.toml")
    decided = page.count("| held: `") + page.count("| **broken** in ")
    assert decided == len(DISCIPLINES) * len(PROMISES)


def test_disciplines_page_has_each_release_with_all_promises() -> None:
    page = render(tla_directory() / "manifest.toml")
    section = page.partition("## Kafka as it is, by release")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in section.splitlines() if re.match(r"\| \d", line)]
    assert [row[0] for row in rows] == [f"| {name}" for name in _RELEASES]
    for _, _, kept, passing, broken in rows:
        assert passing.count("`MC") >= 3
        assert int(kept) + broken.count("`MC") == len(PROMISES)


def test_disciplines_page_refuses_a_cell_without_a_model(tmp_path: Path) -> None:
    tla = tmp_path / "tla"
    shutil.copytree(tla_directory(), tla)
    part = tla / "bugs" / "purgatory" / "manifest.toml"
    blocks = part.read_text(encoding="utf-8").split("\n\n")
    kept = [block for block in blocks if "[known_bug.MCMaybeTryComplete_KAFKA_6653]" not in block]
    assert len(kept) == len(blocks) - 1
    part.write_text("\n\n".join(kept), encoding="utf-8")
    with pytest.raises(UndecidedCellError, match=r"no model: .* under try_lock_once"):
        render(tla / "manifest.toml")
