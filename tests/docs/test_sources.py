"""docs/sources is what the marks in the tests make it, and no name in it leads nowhere."""

from dataclasses import replace

import pytest

from support.checkout import ROOT
from wheelproof_lab.publish import sources
from wheelproof_lab.publish.sources import Statement

_SOURCES, _STATEMENTS = sources.read_sources(ROOT)
_MARKS = sources.read_marks(ROOT)
_FEWEST = 200
_TESTED = next(statement for statement in _STATEMENTS if statement.id == "x-237")


def _problems(*statements: Statement, marks: sources.Marks = _MARKS) -> list[str]:
    return list(sources.problems(ROOT, _SOURCES, statements, marks))


def test_the_page_is_what_the_generator_makes() -> None:
    page = (ROOT / sources.PAGE).read_text(encoding="utf-8")
    assert page == sources.render(_SOURCES, _STATEMENTS, _MARKS)


def test_every_statement_has_a_test_or_a_reason_and_every_name_is_there() -> None:
    assert _problems(*_STATEMENTS) == []
    assert len(_STATEMENTS) >= _FEWEST


def test_every_source_says_something() -> None:
    assert {source.id for source in _SOURCES} == {statement.source for statement in _STATEMENTS}


def test_a_mark_that_disappears_is_missed() -> None:
    tests = _MARKS[_TESTED.id]
    assert [place.rpartition("::")[2] for place in tests] == [
        "test_a_delay_lies_on_its_level_and_in_its_bucket"
    ]
    without = {name: places for name, places in _MARKS.items() if name != _TESTED.id}
    (problem,) = _problems(*_STATEMENTS, marks=without)
    assert problem.startswith("docs/sources: x-237 has no test")
    page = sources.render(_SOURCES, _STATEMENTS, without)
    assert page != sources.render(_SOURCES, _STATEMENTS, _MARKS)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"rule": "1.99"}, "names rule 1.99"),
        ({"code": "timer.timing_wheel.TimingWheel.no_such"}, "which wheelproof does not have"),
        ({"code": "timer.no_such"}, "which wheelproof does not have"),
        ({"code": "no_such"}, "which wheelproof does not have"),
        ({"tla": "TimingWheel.NoSuch"}, "which no module in tla has"),
        ({"source": "no such"}, "which sources.toml does not have"),
        ({"reason": "none"}, "has a test"),
        ({"id": "no such"}, "has no test"),
    ],
)
def test_a_name_that_leads_nowhere_is_found(wrong: dict[str, str], problem: str) -> None:
    others = [statement for statement in _STATEMENTS if statement is not _TESTED]
    changed = replace(_TESTED, **wrong)
    found = _problems(*others, changed)
    assert any(changed.id in sentence and problem in sentence for sentence in found)


def test_a_statement_that_stands_there_twice_is_found() -> None:
    assert _problems(*_STATEMENTS, _TESTED) == [
        "docs/sources: x-237 stands there twice; leave one out"
    ]


def test_a_mark_of_no_statement_is_found() -> None:
    (problem,) = _problems(*_STATEMENTS, marks={**_MARKS, "gone": ["tests/a.py::test_b"]})
    assert problem.startswith("tests/a.py::test_b repeats 'gone'")


def test_what_the_literature_has_wrong_says_what_is_so_instead() -> None:
    wrong = {each.id: each.instead for each in _STATEMENTS if each.instead}
    for slip in ("x-insert-o-m", "x-counter-of-level", "z-upgraded", "x-123-6th"):
        assert wrong[slip]
