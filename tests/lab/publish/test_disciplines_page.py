"""docs/purgatory-disciplines.md says what the manifest says."""

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
