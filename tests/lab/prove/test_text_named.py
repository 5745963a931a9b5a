"""The elements that a step names: pairs, functions of what may be None, and sequences of each."""

from pathlib import Path

import pytest

from wheelproof_lab.prove.system import Action
from wheelproof_lab.prove.terms import Sort
from wheelproof_lab.prove.text.derive import Derived, Source
from wheelproof_lab.prove.text.sany import parse
from wheelproof_lab.prove.text.syntax import NotInTheFragmentError
from wheelproof_lab.prove.tla import text

pytestmark = pytest.mark.slow

LIBRARY = r"""
------------------------------- MODULE Library -------------------------------
EXTENDS Integers, FiniteSets, Sequences
CONSTANTS Readers, Rooms, Wants, None
ASSUME Wants \in [Readers -> Seq(Rooms)]
Distinct == \A op \in Readers : \A i, j \in DOMAIN Wants[op] : Wants[op][i] = Wants[op][j] => i = j
VARIABLES here, count, line
vars == <<here, count, line>>
Shelves == Rooms \X (1..Cardinality(Readers))
TypeOK ==
    /\ here \in [Readers -> Shelves \cup {None}]
    /\ count \in [Shelves -> Nat]
    /\ line \in [Rooms -> Seq(Readers)]
Init ==
    /\ here = [r \in Readers |-> None]
    /\ count = [s \in Shelves |-> 0]
    /\ line = [m \in Rooms |-> <<>>]
Take(r) ==
    /\ count' = [count EXCEPT ![here[r]] = @ - 1]
    /\ UNCHANGED <<here, line>>
Go(r) ==
    LET room == Wants[r][1] IN
    /\ here' = [here EXCEPT ![r] = <<room, 1>>]
    /\ line' = [line EXCEPT ![room] = Append(@, r)]
    /\ UNCHANGED count
Leave(r) ==
    /\ IF here[r] = None
       THEN line' = line
       ELSE line' = [line EXCEPT ![here[r][1]] = Tail(@)]
    /\ UNCHANGED <<here, count>>
Forget(m) ==
    /\ line' = [line EXCEPT ![m] = SelectSeq(@, LAMBDA r : r # Head(line[m]))]
    /\ UNCHANGED <<here, count>>
Next == (\E r \in Readers : Take(r) \/ Go(r) \/ Leave(r)) \/ \E m \in Rooms : Forget(m)
Spec == Init /\ [][Next]_vars
Stands(r, m) == r \in {line[m][i] : i \in DOMAIN line[m]}
InOrder == \A m \in Rooms, r \in Readers : Stands(r, m) => here[r][2] = 1
InLine == \A m \in Rooms, r \in Readers : Head(line[m]) = r => Stands(r, m)
==============================================================================
"""


def library(folder: Path, assuming: tuple[str, ...] = ("Distinct",)) -> Derived:
    """Return the system of the library."""
    path = folder / "Library.tla"
    path.write_text(LIBRARY.strip(), encoding="utf-8")
    sorts = {
        f"{name}s" if name != "Shelf" else "Shelves": Sort(name=name, tla=name)
        for name in ("Reader", "Room", "Shelf")
    }
    return Derived(Source(module=parse(path, ()), sorts=sorts, assuming=assuming))


@pytest.fixture(scope="module")
def derived(tmp_path_factory: pytest.TempPathFactory) -> Derived:
    """Return the library, of whose sequences of wishes each has a room once."""
    return library(tmp_path_factory.mktemp("library"))


def _guard(action: Action) -> str:
    return text(action.guard, {str(one.value): str(one.value) for one in action.parameters})


def test_a_place_that_may_be_none_is_an_element_that_the_step_names(derived: Derived) -> None:
    actions = {one.name: one for one in derived.system.actions}
    take, go = actions["Take"], actions["Go"]
    assert [str(one.value) for one in take.parameters] == ["r", "shelf 0"]
    assert _guard(take) == "(here[r] = shelf 0)"
    assert [str(one.value) for one in go.parameters] == ["r", "room 1"]
    assert _guard(go) == "((Place(room 1, Wants[r])) = 1)"


def test_it_is_there_only_where_the_text_comes_to_it(derived: Derived) -> None:
    (leave,) = [one for one in derived.system.actions if one.name == "Leave"]
    assert [str(one.value) for one in leave.parameters] == ["r", "shelf 0", "room 2"]
    nowhere = "~(\\E u \\in Shelf : (here[r] = u))"
    assert _guard(leave) == (
        f"(({nowhere} \\/ (here[r] = shelf 0)) /\\ ({nowhere} \\/ (Shelves[1][shelf 0] = room 2)))"
    )


def test_what_is_left_out_may_be_nobody(derived: Derived) -> None:
    (forget,) = [one for one in derived.system.actions if one.name == "Forget"]
    assert [str(one.value) for one in forget.parameters] == ["m", "reader 3"]
    assert "\\/" in _guard(forget)


def test_two_pairs_of_the_same_parts_are_one(derived: Derived) -> None:
    said = derived.system.assumed["Shelves == Rooms \\X (1..Cardinality(Readers))"]
    assert text(said).endswith("\\/ (x = y)))))")


def test_a_clause_names_nothing(derived: Derived) -> None:
    with pytest.raises(NotInTheFragmentError, match="a part of a pair that may be None"):
        derived.clause("InOrder")
    assert "Place" in text(derived.clause("InLine"))


def test_a_sequence_in_which_an_element_may_stand_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotInTheFragmentError, match="elements that may be the same"):
        library(tmp_path, ())
