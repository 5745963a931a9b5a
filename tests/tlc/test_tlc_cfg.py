"""Cfg files: sections, comments, and the cfg of a witness."""

from pathlib import Path

import pytest

from wheelproof_spec.errors import InputRejectedError
from wheelproof_spec.tlc.manifest.cfg import load_cfg

TEXT = r"""\* INVARIANT NotThis
SPECIFICATION Spec
CONSTANTS
    Threads = {t1, t2}   \* two of them
    Delays <- Delays_smoke
    Name = "INVARIANT"
(* PROPERTY Neither *)
INVARIANTS TypeOK
    Safe
INVARIANT Another
PROPERTY Live
SYMMETRY Symmetry
"""


def _write(folder: Path, text: str) -> Path:
    path = folder / "M.cfg"
    path.write_text(text, encoding="utf-8")
    return path


def test_sections(tmp_path: Path) -> None:
    cfg = load_cfg(_write(tmp_path, TEXT))
    assert cfg.invariants == ("TypeOK", "Safe", "Another")
    assert cfg.properties == ("Live",)
    assert [section.line for section in cfg.sections][:2] == [2, 3]


def test_the_cfg_of_a_witness_checks_the_witness_alone(tmp_path: Path) -> None:
    cfg = load_cfg(_write(tmp_path, TEXT))
    (tmp_path / "W.cfg").write_text(cfg.witness_text("Reached"), encoding="utf-8")
    witness = load_cfg(tmp_path / "W.cfg")
    assert witness.invariants == ("Reached",)
    assert witness.properties == ()
    assert [section.keyword for section in witness.sections] == [
        "SPECIFICATION",
        "CONSTANTS",
        "SYMMETRY",
        "INVARIANT",
    ]
    assert 'Name = "INVARIANT"' in witness.sections[1].text


@pytest.mark.parametrize("keyword", ["ALIAS", "POSTCONDITION", "CHECK_DEADLOCK"])
def test_what_tlc_2_15_does_not_know_is_refused(tmp_path: Path, keyword: str) -> None:
    path = _write(tmp_path, f"SPECIFICATION Spec\n{keyword} X\n")
    with pytest.raises(InputRejectedError, match=rf"M\.cfg:2: .*{keyword}"):
        load_cfg(path)


def test_a_cfg_begins_with_a_keyword(tmp_path: Path) -> None:
    with pytest.raises(InputRejectedError, match=r"M\.cfg:2: a keyword expected, not Spec"):
        load_cfg(_write(tmp_path, "\nSpec\n"))


def test_no_text(tmp_path: Path) -> None:
    (tmp_path / "M.cfg").write_bytes(b"\xff\xfe")
    with pytest.raises(InputRejectedError, match="unreadable"):
        load_cfg(tmp_path / "M.cfg")
