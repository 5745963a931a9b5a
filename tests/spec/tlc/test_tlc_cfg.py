"""Cfg files: sections, comments, variations, and keywords of newer versions of TLC."""

from pathlib import Path

import pytest

from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.tlc.manifest.cfg import Variation, load_cfg, parse_cfg

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


def test_a_variation_keeps_what_it_does_not_name(tmp_path: Path) -> None:
    cfg = load_cfg(_write(tmp_path, TEXT))
    assert cfg.constants == {"Threads": "{t1, t2}", "Name": '"INVARIANT"'}
    assert cfg.replaced == {"Delays": "Delays_smoke"}
    variation = Variation(
        constants={"Threads": "{t1}"},
        replaced={"Step": "WrongStep"},
        specification=None,
        checked=(("PROPERTY", "Live"),),
    )
    varied = cfg.varied("V.cfg", "V: M, but for its threads", variation)
    assert varied.text.splitlines() == [
        r"\* V: M, but for its threads",
        "SPECIFICATION Spec",
        "SYMMETRY Symmetry",
        "CONSTANTS",
        "    Threads = {t1}",
        "    Delays <- Delays_smoke",
        '    Name = "INVARIANT"',
        "    Step <- WrongStep",
        "PROPERTY Live",
    ]


def test_a_variation_replaces_the_formula_and_how_a_constant_is_set() -> None:
    cfg = parse_cfg("M.cfg", 'INIT Init\nNEXT Next\nCONSTANT Name = "a = b" Delays <- Few\n')
    variation = Variation(
        constants={"Delays": "{1}"}, replaced={}, specification="Other", checked=()
    )
    varied = cfg.varied("V.cfg", "V", variation)
    assert (varied.invariants, varied.properties) == ((), ())
    assert varied.constants == {"Name": '"a = b"', "Delays": "{1}"}
    assert [section.keyword for section in varied.sections] == ["SPECIFICATION", "CONSTANTS"]


NEWER = "SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\nALIAS Told\nINVARIANT TypeOK\n"


def test_keywords_of_a_newer_tlc(tmp_path: Path) -> None:
    cfg = load_cfg(_write(tmp_path, NEWER))
    assert not cfg.check_deadlock
    assert cfg.text_for({"ALIAS", "CHECK_DEADLOCK"}) == NEWER
    cfg.require({"ALIAS"}, "new.jar")
    # An option of the command says that deadlocks are allowed, to any TLC.
    assert cfg.text_for({"ALIAS"}) == "SPECIFICATION Spec\nALIAS Told\nINVARIANT TypeOK\n"
    with pytest.raises(InputRejectedError, match=r"M\.cfg:3: ALIAS is not known .* in old\.jar; "):
        cfg.require({"POSTCONDITION", "CHECK_DEADLOCK"}, "old.jar")


@pytest.mark.parametrize("text", ["", "CHECK_DEADLOCK TRUE\n"])
def test_a_deadlock_is_an_error_unless_the_cfg_says_otherwise(text: str) -> None:
    assert parse_cfg("M.cfg", f"SPECIFICATION Spec\n{text}").check_deadlock


def test_a_variation_drops_the_postcondition() -> None:
    cfg = parse_cfg("M.cfg", "SPECIFICATION Spec\nPOSTCONDITION Told\nVIEW Seen\n")
    variation = Variation(constants={}, replaced={}, specification=None, checked=())
    varied = cfg.varied("V.cfg", "V", variation)
    assert [section.keyword for section in varied.sections] == [
        "SPECIFICATION",
        "VIEW",
        "CONSTANTS",
    ]


def test_a_cfg_begins_with_a_keyword(tmp_path: Path) -> None:
    with pytest.raises(InputRejectedError, match=r"M\.cfg:2: a keyword expected, not Spec"):
        load_cfg(_write(tmp_path, "\nSpec\n"))


def test_no_text(tmp_path: Path) -> None:
    (tmp_path / "M.cfg").write_bytes(b"\xff\xfe")
    with pytest.raises(InputRejectedError, match="unreadable"):
        load_cfg(tmp_path / "M.cfg")
