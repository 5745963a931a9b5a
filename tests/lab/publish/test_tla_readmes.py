"""The READMEs of the TLA+ folders: tables that follow from modules, manifest and docstrings."""

from dataclasses import replace
from pathlib import Path

import pytest

from wheelproof_lab.publish.tlc_readmes.citations import citations
from wheelproof_lab.publish.tlc_readmes.module import read_module
from wheelproof_lab.publish.tlc_readmes.tables import Suite, load_suite, without_lines
from wheelproof_spec.base.resources import checkout_directory, tla_directory

MODULE = r"""---- MODULE Door ----
EXTENDS Integers

VARIABLES
    open,   \* whether it is open
    pc      \* thread -> its next step

\* Not an action: it says what a step is like.
Go(t, step) == pc' = [pc EXCEPT ![t] = step]

Open(t) ==
    /\ ~open /\ open' = TRUE
    /\ Go(t, "Close")

(* Close == open' = FALSE *)
Shut == FALSE

Close(t) == open' = Shut /\ Go(t, "Open")

Knock(t) == Go(t, "Open")

Step(t) == Open(t) \/ Close(t)

Next == (\E t \in {1} : Step(t)) \/ \E t \in {2} : Knock(t)
====
"""
REFERENCE = '''
class Door:
    """A door. TLA+: variable `open` of Door; House for the rest."""

    def open(self) -> None:
        """Open it.

        TLA+: Open and operator `Go` of
        Door, Enter of House and of Garden, and what `Door.shut` names. Not: Close of Door.
        """

        def inner() -> None:
            """TLA+: the steps Kn* of Door."""
'''


COMPONENTS = sorted(path.parent.name for path in tla_directory().glob("*/README.md"))


@pytest.fixture(scope="module")
def suite() -> Suite:
    checkout = checkout_directory()
    assert checkout is not None
    return load_suite(checkout)


@pytest.mark.parametrize("name", COMPONENTS)
def test_tla_readme_is_up_to_date(suite: Suite, name: str) -> None:
    readme = suite.root / "tla" / name / "README.md"
    remedy = "renew it: python -m wheelproof_lab pages tla-readmes"
    text = readme.read_text(encoding="utf-8")
    assert without_lines(text) == without_lines(suite.renewed(readme)), remedy


def test_tla_readme_of_each_component(suite: Suite) -> None:
    named = {module.name for path in suite.readmes() for module in suite.modules(path.parent)}
    assert named == {model.specifies for model in suite.models}
    for readme in suite.readmes():
        text = suite.renewed(readme)
        assert text.count("<!-- end -->") == text.count(": made by python -m ") == 2
        assert all(f"### {module.name}\n" in text for module in suite.modules(readme.parent))


def test_tla_docstrings_name_what_modules_have(suite: Suite) -> None:
    assert suite.unknown() == []


def test_tla_actions_of_a_module(tmp_path: Path) -> None:
    (tmp_path / "Door.tla").write_text(MODULE, encoding="utf-8")
    module = read_module(tmp_path / "Door.tla")
    assert module.actions() == ["Open", "Close", "Knock"]
    assert list(module.operators) == ["Go", "Open", "Shut", "Close", "Knock", "Step", "Next"]
    assert module.variables == {"open", "pc"}
    assert module.steps() == {"Go", "Open", "Close", "Knock", "Step", "Next"}
    assert module.needed_by(("Close", "no operator")) == {"Close", "Shut", "Go"}


def test_tla_citations_of_docstrings(tmp_path: Path) -> None:
    (tmp_path / "door.py").write_text(REFERENCE, encoding="utf-8")
    found = list(citations(tmp_path))
    assert [
        (citation.module, citation.action, citation.part, citation.definition, citation.line)
        for citation in found
    ] == [
        ("Door", None, "open", "Door", 2),
        ("Door", "Open", None, "Door.open", 5),
        ("Door", None, "Go", "Door.open", 5),
        ("House", "Enter", None, "Door.open", 5),
        ("Garden", "Enter", None, "Door.open", 5),
        ("Door", "Kn*", None, "Door.open.inner", 12),
    ]


def test_tla_citations_that_nothing_fits_are_reported(suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "door.py").write_text(REFERENCE, encoding="utf-8")
    odd = [citation for citation in citations(tmp_path) if citation.action == "Enter"]
    assert replace(suite, cited=odd).unknown()[0].partition("door.py")[2] == (
        ":5: Door.open names Enter of House, which has no such thing"
    )


def test_tla_actions_need_a_docstring_or_a_reason(suite: Suite) -> None:
    """What is no action is cited as an operator; every action is cited, or has its reason."""
    insert = next(one for one in suite.cited if (one.module, one.part) == ("TimingWheel", "Insert"))
    tick = replace(insert, action="Tick", part=None)
    wrong = replace(suite, cited=[replace(insert, action="Insert", part=None), tick]).unknown()
    assert "names Insert of TimingWheel, which has no such thing" in wrong[0]
    assert "uncited.toml: a reason for Tick of TimingWheel" in wrong
    assert "uncited.toml: no docstring names Poll of SystemTimer" in wrong
