"""The translation of TLA+ to the terms of a proof: what each construct becomes, what is refused."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from wheelproof_lab.prove.system import Action
from wheelproof_lab.prove.terms import Change, Sort
from wheelproof_lab.prove.text.derive import Derived, Source
from wheelproof_lab.prove.text.sany import parse
from wheelproof_lab.prove.text.syntax import NotInTheFragmentError
from wheelproof_lab.prove.tla import text
from wheelproof_spec.base.errors import InputRejectedError

pytestmark = pytest.mark.slow

SHOP = r"""
------------------------------- MODULE Shop -------------------------------
EXTENDS Integers, FiniteSets, Sequences
CONSTANTS People, Shy, Loud, Most, Style, Prices, Best, None
ASSUME Shy \subseteq People /\ Loud \subseteq People
ASSUME Most \in Nat \ {0}
ASSUME Shy \cap Loud = {}
ASSUME Most % 2 = 0
ASSUME Style \in {"old", "new"}
ASSUME Prices \in [Shy -> Seq(1..Most) \ {<<>>}]
ASSUME Best \in [Loud -> Shy]
VARIABLES inside, last, mood, visits, shut, friends, queue
vars == <<inside, last, <<mood, visits>>, shut, friends, queue>>
TypeOK ==
    /\ inside \subseteq People
    /\ last \in People \cup {None}
    /\ mood \in [People -> {"calm", "cross"}]
    /\ visits \in [Shy -> Nat]
    /\ shut \in BOOLEAN
    /\ friends \in [People -> SUBSET People]
    /\ queue \in Seq(People)
Init ==
    /\ inside = {}
    /\ last = None
    /\ mood = [p \in People |-> IF p \in Shy THEN "calm" ELSE "cross"]
    /\ visits = [p \in Shy |-> 0]
    /\ shut = FALSE
    /\ friends = [p \in People |-> {p}]
    /\ queue = <<>>
Feel(p, how) == mood' = [mood EXCEPT ![p] = how]
Rest == UNCHANGED <<friends, shut, queue>>
Join(p) ==
    /\ Most \div 2 > Len(queue)
    /\ queue' = Append(queue, p)
    /\ UNCHANGED <<inside, last, mood, visits, shut, friends>>
Leave(p) ==
    /\ queue' = SelectSeq(queue, LAMBDA one : one # p)
    /\ last' \in IF shut THEN {} ELSE {p}
    /\ UNCHANGED <<inside, mood, visits, shut, friends>>
Enter(p) ==
    LET free == ~shut /\ p \notin inside IN
    /\ free
    /\ inside' = inside \cup {p}
    /\ visits' = [visits EXCEPT ![p] = @ + 1]
    /\ IF Style = "new" /\ p \in Loud THEN Feel(p, "calm") ELSE UNCHANGED mood
    /\ last' = IF inside' = {} THEN None ELSE p
    /\ Rest
Turn(p) ==
    /\ \/ /\ mood[p] = "calm"
          /\ Feel(p, "cross")
       \/ /\ mood[p] = "cross"
          /\ Feel(p, "calm")
    /\ UNCHANGED <<inside, last, visits, friends, shut, queue>>
Meet(p) ==
    /\ \E q \in inside \ {p} :
        /\ friends' = [friends EXCEPT ![p] = @ \cup {q}]
        /\ CASE last = q -> last' = None
             [] OTHER -> last' = last
    /\ UNCHANGED <<inside, mood, visits, shut, queue>>
Shut == ~shut /\ shut' = TRUE /\ UNCHANGED <<inside, last, mood, visits, friends, queue>>
Idle == UNCHANGED vars
Step(p) == Turn(p) \/ Meet(p)
Range(s) == {s[i] : i \in DOMAIN s}
RECURSIVE Sum(_, _)
Sum(f, some) ==
    IF some = {} THEN 0 ELSE LET p == CHOOSE q \in some : TRUE IN f[p] + Sum(f, some \ {p})
RECURSIVE Skip(_, _)
Skip(f, some) ==
    IF some = {} THEN 0 ELSE LET p == CHOOSE q \in some : TRUE IN 1 + Skip(f, some \ {p})
Next ==
    \/ \E p \in Shy : Enter(p) \/ Step(p)
    \/ \E q \in Loud : Step(q) \/ Enter(q)
    \/ \E p \in People : Join(p) \/ Leave(p)
    \/ Shut
    \/ Idle
Spec == Init /\ [][Next]_vars /\ WF_vars(Shut)
Twice(f, p) == f[p] + f[p]
\* What is said of a step.
NobodyLeaves == [][\A p \in inside : p \in inside' /\ Twice(visits, p)' >= 2]_vars
"""
END = "\n" + "=" * 76 + "\n"

TRANSLATED = {
    r"shut /\ TRUE": "shut",
    "shut => FALSE": "~shut",
    "shut <=> last = None": r"(shut = ~(\E x \in People : (last = x)))",
    r"\A p \in Shy : p # last": r"(\A x \in People : (~(x \in Shy) \/ ~(last = x)))",
    r"\E p, q \in inside : p \in friends[q]": (
        r"(\E x \in People : ((x \in inside) /\ (\E y \in People : ((y \in inside) /\ "
        r"(<<y, x>> \in friends)))))"
    ),
    r"last \in Shy": r"(\E x \in People : ((last = x) /\ (x \in Shy)))",
    r"last \in Shy \cup {None}": (
        r"((\E x \in People : ((last = x) /\ (x \in Shy))) \/ ~(\E x \in People : (last "
        "= x)))"
    ),
    r"inside \cap Shy = {}": r"(\A x \in People : ~((x \in inside) /\ (x \in Shy)))",
    r"inside \ {last} \subseteq Loud": (
        r"(\A x \in People : (~((x \in inside) /\ ~(last = x)) \/ (x \in Loud)))"
    ),
    r'{p \in inside : mood[p] = "cross"} = {}': (
        r'(\A x \in People : ~((x \in inside) /\ (mood[x] = "cross")))'
    ),
    r"\A p \in Shy : visits[p] + 1 <= Most /\ -visits[p] < 2 * Most": (
        r"(\A x \in People : (~(x \in Shy) \/ ((Most >= ((IF x \in Shy THEN visits[x] "
        r"ELSE 0) + 1)) /\ (((IF x \in Shy THEN visits[x] ELSE 0) * (-1)) < (2 * "
        "Most)))))"
    ),
    r'\A p \in People : mood[p] \in {"calm", "cross"}': (
        r'(\A x \in People : (mood[x] \in {"calm", "cross"}))'
    ),
    r'Style = "new"': "TRUE",
    "LET double(n) == n + n IN double(Most) > 1": "(1 < (Most + Most))",
    r'(IF shut THEN "calm" ELSE "cross") = "calm"': "shut",
    r"\A p \in Shy : [visits EXCEPT ![p] = @ + Most][p] \in 0 .. Most": (
        r"(\A x \in People : (~(x \in Shy) \/ (((IF (x \in Shy) THEN ((IF x \in Shy THEN "
        r"visits[x] ELSE 0) + Most) ELSE (IF x \in Shy THEN visits[x] ELSE 0)) >= 0) /\ "
        r"(Most >= (IF (x \in Shy) THEN ((IF x \in Shy THEN visits[x] ELSE 0) + Most) "
        r"ELSE (IF x \in Shy THEN visits[x] ELSE 0))))))"
    ),
    r"\A p \in People : (CASE p \in Shy -> 1 [] p \in Loud -> 2 [] OTHER -> 3) > 0": (
        r"(\A x \in People : (0 < (IF (x \in Shy) THEN 1 ELSE (IF (x \in Loud) THEN 2 "
        "ELSE 3))))"
    ),
    r'\A how \in {"calm", "cross"} : \E p \in People : mood[p] = how': (
        r'((\E x \in People : (mood[x] = "calm")) /\ (\E x \in People : (mood[x] = '
        r'"cross")))'
    ),
    r"Cardinality(inside \ Shy) = Most": (
        r"(SumOf(LAMBDA x : (IF ((x \in inside) /\ ~(x \in Shy)) THEN 1 ELSE 0), People) = Most)"
    ),
    r"Cardinality({p \in inside : \A q \in friends[p] : q \in Loud}) = 0": (
        r"(SumOf(LAMBDA x : (IF ((x \in inside) /\ (\A y \in People : (~(<<x, y>> \in "
        r"friends) \/ (y \in Loud)))) THEN 1 ELSE 0), People) = 0)"
    ),
    "queue = <<>>": "((Len(queue)) = 0)",
    "Len(Tail(queue)) = 1": (
        "((IF (0 < (Len(queue))) THEN ((Len(queue)) - 1) ELSE (Len(queue))) = 1)"
    ),
    r"\A p \in People : Head(queue) = p => last = p": (
        r"(\A x \in People : (~((Place(x, queue)) = 1) \/ (last = x)))"
    ),
    r"\A p \in Range(queue) : p \in Shy": (
        r"(\A x \in People : ((0 >= (Place(x, queue))) \/ (x \in Shy)))"
    ),
    r"\A p \in Shy : \E i \in DOMAIN queue : queue[i] = p /\ i > Most": (
        r"(\A x \in People : (~(x \in Shy) \/ ((0 < (Place(x, queue))) /\ "
        r"(Most < (Place(x, queue))))))"
    ),
    r"\A p \in Shy : Prices[p][visits[p]] <= Len(Prices[p])": (
        r"(\A x \in People : (~(x \in Shy) \/ ((IF x \in Shy THEN (Len(Prices[x])) ELSE 0) >= "
        r"(IF x \in Shy THEN (Prices[x][(IF x \in Shy THEN visits[x] ELSE 0)]) ELSE 0))))"
    ),
    r"\A p \in Loud : Best[p] \in inside": (
        r"(\A x \in People : (~(x \in Loud) \/ (\E y \in People : "
        r"((x \in Loud /\ (Best[x] = y)) /\ (y \in inside)))))"
    ),
    "Sum(visits, Shy) = Most": (
        r"(SumOf(LAMBDA x : (IF (x \in Shy) THEN (IF x \in Shy THEN visits[x] ELSE 0) ELSE 0), "
        "People) = Most)"
    ),
}
"""Expressions, and the terms that they become, printed as TLA+."""

REFUSED = {
    r'Cardinality({"calm"}) = 1': "Cardinality of words",
    "Cardinality({last}) = 1": "Cardinality of words, of numbers, or of a set with None",
    r"\A p \in People : Cardinality(friends[p]) > 0": (
        "Cardinality of a set that depends on a variable"
    ),
    r"\E n \in Nat : n > Most": "a quantifier over numbers",
    "<<1, 2>> = <<2, 1>>": "a tuple",
    "[a |-> 1].a = 1": "a field of a record",
    r"{visits[p] : p \in Shy} = {}": "a set {e : x",
    r"(CHOOSE p \in People : TRUE) \in Shy": "CHOOSE",
    r"Most \div 2 = 1": "a quotient in a clause",
    r"\A p \in People : queue[p] = p": "another kind of value where Int belongs",
    r"SelectSeq(queue, LAMBDA one : one \in Shy) = queue": (
        "SelectSeq that may leave out more than one element"
    ),
    "Skip(visits, Shy) = 0": "Skip, a recursion that is no sum,",
    r"\E i \in DOMAIN Prices : TRUE": "the indexes of anything but a sequence",
    "<<None>> = queue": "a tuple",
    r"\A p \in People : Head(Append(queue, p)) = p": "a sequence that is read where somebody",
    "Append(queue, None) = queue": "Append of anything but an element",
    r'mood[last] = "calm"': "last, which may be None, as the argument of a function",
    r'[mood EXCEPT ![last] = "calm"] = mood': "last, which may be None",
    "shut' = shut": "a prime in place of a state",
    "inside = last": "an equation between two kinds of value",
    r'last = "calm"': "an equation between two kinds of value",
    "DOMAIN visits = Shy": "`DOMAIN`",
    "last": "last in place of a truth value",
}
"""Expressions outside the fragment, and what the refusal says."""

BROKEN = {
    "a variable is not set": ("    /\\ Rest\n", "", "Enter, which does not set shut,"),
    "a variable is set twice": (
        "    /\\ Rest\n", "    /\\ Rest /\\ shut' = FALSE\n", "a second value of shut'"
    ),
    "a prime is read too early": (
        "    /\\ inside' = inside \\cup {p}",
        "    /\\ inside' = {p} /\\ last' # None",
        "last', which is read before it is set,",
    ),
    "a word that TypeOK does not know": ('Feel(p, "cross")', 'Feel(p, "sad")', "the value of mood"),
    "a variable without a type": ("    /\\ shut \\in BOOLEAN\n", "", "the variable shut"),
    "another next step": ("[][Next]_vars /\\ WF", "[][Shut]_vars /\\ WF", "Spec, which is not"),
    "parts of Next without a name": (
        "    \\/ Idle\n",
        "    \\/ shut /\\ Idle\n    \\/ ~shut /\\ Idle\n",
        "Next, to which Next comes in two ways,",
    ),
    "None is chosen": (
        "\\E q \\in inside \\ {p}",
        "\\E q \\in inside \\cup {None}",
        "a choice of words, or of None",
    ),
    "None in a set": ("@ \\cup {q}", "@ \\cup {None}", "a set with None"),
    "what is assumed does not hold": ('{"old", "new"}', '{"old"}', "which does not hold"),
    "a constant sequence": (
        "Best \\in [Loud -> Shy]",
        "Best \\in [Loud -> Seq(Shy)]",
        "a constant sequence of elements that may be the same",
    ),
    "a number stands in a sequence of people": (
        "    /\\ queue = <<>>\n",
        "    /\\ queue = SelectSeq(Append(<<>>, 1), LAMBDA one : one # 1)\n",
        "Append of anything but an element",
    ),
    "a choice that is not written out": (
        "last' \\in IF shut THEN {} ELSE {p}",
        "last' \\in friends[p]",
        "a choice from a set that is not written out",
    ),
    "an action in two forms": ("    \\/ Idle\n", "    \\/ Idle\n    \\/ Enter(None)\n", "Enter"),
}  # fmt: skip
"""Changes of the module after which it is refused, and what the refusal says."""


def shop(
    folder: Path, more: Mapping[str, str], changed: Mapping[str, str] | None = None
) -> Derived:
    """Return the system of the shop, with definitions added and text replaced."""
    written = SHOP.strip()
    for old, new in (changed or {}).items():
        assert written.count(old) == 1
        written = written.replace(old, new)
    written += "".join(f"\n{name} == {body}" for name, body in more.items()) + END
    (folder / "Shop.tla").write_text(written, encoding="utf-8")
    return Derived(
        Source(
            module=parse(folder / "Shop.tla", ()),
            sorts={"People": Sort(name="Person", tla="People")},
            given={"Style": "new"},
        )
    )


@pytest.fixture(scope="module")
def expressions(tmp_path_factory: pytest.TempPathFactory) -> Derived:
    """Return the shop with a definition for each expression, in their order."""
    every = [*TRANSLATED, *REFUSED]
    more = {f"Said{number}": one for number, one in enumerate(every)}
    return shop(tmp_path_factory.mktemp("shop"), more)


@pytest.mark.parametrize("number", range(len(TRANSLATED)), ids=[*TRANSLATED])
def test_an_expression_becomes_a_term(number: int, expressions: Derived) -> None:
    assert text(expressions.clause(f"Said{number}")) == [*TRANSLATED.values()][number]


@pytest.mark.parametrize("number", range(len(REFUSED)), ids=[*REFUSED])
def test_an_expression_is_refused_by_file_and_line(number: int, expressions: Derived) -> None:
    name = f"Said{len(TRANSLATED) + number}"
    with pytest.raises(NotInTheFragmentError) as refusal:
        expressions.clause(name)
    said = str(refusal.value)
    line = len(SHOP.strip().splitlines()) + len(TRANSLATED) + number + 1
    assert said.startswith(f"Shop.tla:{line}: {[*REFUSED.values()][number]}")
    assert said.endswith("cannot be translated to a proof")


def test_assumptions(expressions: Derived) -> None:
    assert [*expressions.system.assumed] == [
        r"Shy \subseteq People /\ Loud \subseteq People",
        r"Most \in Nat \ {0}",
        r"Shy \cap Loud = {}",
        r"Prices \in [Shy -> Seq(1..Most) \ {<<>>}]",
    ]
    assert expressions.left_out == ("Most % 2 = 0", r"Best \in [Loud -> Shy]")


def test_actions(expressions: Derived) -> None:
    actions = {one.name: one for one in expressions.system.actions}
    assert [*actions] == [
        "Enter",
        "Turn (calm)",
        "Turn (cross)",
        "Meet (1)",
        "Meet (2)",
        "Join",
        "Leave",
        "Shut",
    ]
    assert _said(actions["Enter"]) == {
        "inside": r"((x \in inside) \/ (x = p))",
        "last": r"(~(\A z \in People : ~((z \in inside) \/ (z = p))) /\ (x = p))",
        "mood": r'(IF (p \in Loud) THEN "calm" ELSE mood[p])',
        "visits": (
            r"(IF (p \in Shy) THEN ((IF p \in Shy THEN visits[p] ELSE 0) + 1)"
            r" ELSE (IF p \in Shy THEN visits[p] ELSE 0))"
        ),
    }
    assert [parameter.value for parameter in actions["Meet (1)"].parameters] == ["p", "q"]
    assert _said(actions["Meet (1)"]) == {
        "last": "FALSE",
        "friends": (
            r"(IF (x = p) THEN ((<<p, y>> \in friends) \/ (y = q)) ELSE (<<x, y>> \in friends))"
        ),
    }
    assert [*_said(actions["Meet (2)"])] == ["friends"]
    assert _said(actions["Shut"]) == {"shut": "TRUE"}


def test_a_sequence_is_a_place_of_each_element(expressions: Derived) -> None:
    actions = {one.name: one for one in expressions.system.actions}
    join, leave = actions["Join"], actions["Leave"]
    assert _said(join) == {
        "queue": "(IF (x = p) THEN ((Len(queue)) + 1) ELSE (Place(x, queue)))",
        "queue, its length": "((Len(queue)) + 1)",
    }
    assert text(join.fits, {"p": "p"}) == "(0 >= (Place(p, queue)))"
    # The quotient is a number that the step chooses, and of which it says what it is.
    (_, quotient) = join.parameters
    assert text(join.guard, {"p": "p", str(quotient.value): "q"}) == (
        "(((Len(queue)) < q) /\\ (Most >= (q * 2)) /\\ (Most < ((q * 2) + 2)))"
    )
    assert _said(leave)["queue, its length"] == (
        "(IF (0 < (Place(p, queue))) THEN ((Len(queue)) - 1) ELSE (Len(queue)))"
    )
    assert text(leave.guard, {"p": "p"}) == "~shut"
    assert [one for one in actions.values() if expressions.system.writes_orders(one)] == [
        join,
        leave,
    ]


def test_what_holds_of_each_step(expressions: Derived) -> None:
    visits = "(IF x \\in Shy THEN visits[x] ELSE 0)'"
    assert text(expressions.step("NobodyLeaves")) == (
        r"(\A x \in People : (~(x \in inside) \/ ((x \in inside)' /\ "
        f"(({visits} + {visits}) >= 2))))"
    )
    assert expressions.word("NobodyLeaves") == "What is said of a step"


@pytest.mark.parametrize(("old", "new", "said"), BROKEN.values(), ids=[*BROKEN])
def test_a_module_is_refused(old: str, new: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(NotInTheFragmentError, match=re.escape(said)):
        assert shop(tmp_path, {}, {old: new}).system is None


def test_what_sany_refuses_is_no_module(tmp_path: Path) -> None:
    with pytest.raises(InputRejectedError, match="SANY cannot parse it"):
        shop(tmp_path, {"Wrong": "nothing"})


def _said(action: Action) -> Mapping[str, str]:
    """Return what an action sets each field to, with x and y in place of what is anywhere."""
    return {
        change.field.name: text(change.value, _names(action, change)) for change in action.changes
    }


def _names(action: Action, change: Change) -> Mapping[str, str]:
    names = {str(one.value): str(one.value) for one in action.parameters}
    if change.everywhere:
        places = (str(one.value) for one in change.where)
        names |= dict(zip(places, "xy", strict=False))
    return names
