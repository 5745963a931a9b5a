"""The engine of the proofs on a door that lets one in: what it proves, refutes, and cannot tell."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import pytest

from wheelproof_lab.prove.finite import Run, State, Step
from wheelproof_lab.prove.following import following
from wheelproof_lab.prove.obligations import carry_out
from wheelproof_lab.prove.system import (
    Action,
    Instance,
    Proof,
    System,
    Variant,
    action,
)
from wheelproof_lab.prove.terms import (
    INT,
    Field,
    Sort,
    Term,
    after,
    all_of,
    any_of,
    as_term,
    for_all,
    for_all_pairs,
    if_,
    there_is,
    total,
)
from wheelproof_lab.prove.tla import text
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict

pytestmark = pytest.mark.slow

THREAD = Sort(name="Thread", tla="Threads")
inside = Field(name="inside", sorts=(THREAD,))
closed = Field(name="closed")
visits = Field(name="visits", result=INT)
coins = Field(name="coins", sorts=(THREAD,), result=INT)
till = Field(name="till", result=INT)
t = THREAD.variable("t")
n = INT.variable("n")

ALL_COINS = total(THREAD, coins)
ENTER = action("Enter", (t,), ~closed(), closed.to(True), inside.to(t, True))
LEAVE = action(
    "Leave", (t,), inside(t), closed.to(False), inside.to(t, False), visits.to(visits() + 1)
)
PAY = action(
    "Pay", (t, n), inside(t) & (n > 0) & (coins(t) >= n), coins.to(t, coins(t) - n),
    till.to(till() + n),
)  # fmt: skip
FIND = action("Find", (t,), inside(t), coins.to(t, coins(t) + 1), till.to(till() - 1))
SYSTEM = System(
    initial=(
        inside.all_to(False), closed.to(False), visits.to(0), coins.all_to(0), till.to(0),
    ),
    actions=(ENTER, LEAVE, PAY, FIND),
)  # fmt: skip
ONE_INSIDE = for_all_pairs(THREAD, THREAD, lambda x, y: (inside(x) & inside(y)).implies(x.is_(y)))
CLAUSES = {
    "ClosedWhileInside": closed().is_(there_is(THREAD, inside)),
    "OneInside": ONE_INSIDE,
    "NoDebts": for_all(THREAD, lambda x: coins(x) >= 0),
    "NoCoinIsLost": (till() + ALL_COINS).is_(0),
}
PROOF = Proof(
    name="door",
    summary="",
    system=SYSTEM,
    clauses=CLAUSES,
    promises={"NobodyHasMoreThanAll": for_all(THREAD, lambda x: coins(x) <= ALL_COINS)},
    steps={"VisitsGrow": after(visits()) >= visits()},
    instance=Instance(elements={THREAD: ("a", "b")}, rigid={}, numbers=(1, 2)),
)


def _failing(proof: Proof) -> dict[str, CheckResult]:
    return {one.name: one for one in carry_out(proof) if one.verdict is not Verdict.PASS}


def test_a_proof() -> None:
    results = carry_out(PROOF)
    assert {result.verdict for result in results} == {Verdict.PASS}
    assert len(results) == PROOF.size() == 4 + 4 * 6 + 1


@pytest.mark.parametrize(
    ("changed", "broken"),
    [
        (replace(ENTER, guard=~inside(t)), "Enter: OneInside"),
        (replace(LEAVE, changes=LEAVE.changes[:1]), "Leave: ClosedWhileInside"),
        (replace(LEAVE, changes=(*LEAVE.changes[:2], visits.to(0))), "Leave: VisitsGrow"),
        (replace(PAY, changes=PAY.changes[:1]), "Pay: NoCoinIsLost"),
        (replace(PAY, guard=inside(t)), "Pay: NoDebts"),
    ],
)
def test_an_action_that_breaks_a_clause_is_shown_with_two_states(
    changed: Action, broken: str
) -> None:
    system = SYSTEM.replaced(changed)
    result = _failing(replace(PROOF, system=system))[broken]
    assert result.verdict is Verdict.FAIL
    assert "->" in result.details


def test_a_first_state_that_has_not_the_clause() -> None:
    clauses = {**CLAUSES, "SomebodyCame": visits() > 0}
    failing = _failing(replace(PROOF, clauses=clauses))
    assert failing["first state: SomebodyCame"].verdict is Verdict.FAIL


def _no_more_than(most: int, *found: Term) -> Term:
    """Say that no more than `most` threads are inside."""
    if len(found) <= most:
        return for_all(THREAD, lambda x: _no_more_than(most, *found, x))
    pairs = [one.is_(two) for one, two in combinations(found, 2)]
    return all_of(*map(inside, found)).implies(any_of(*pairs))


@pytest.mark.parametrize("most", [1, 5])
def test_what_holds_of_a_few_is_not_proved_of_any_number(most: int) -> None:
    """A state with few threads is looked for and shown; the next question knows nothing of it."""
    come = action("Come", (t,), ~inside(t), inside.to(t, True))
    look = action("Look", (t,), inside(t), visits.to(visits() + 1))
    system = System(initial=(inside.all_to(False), visits.to(0)), actions=(look, come))
    clauses = {"SomeVisits": visits() < 1, "Few": _no_more_than(most)}
    proof = replace(PROOF, system=system, clauses=clauses, promises={}, steps={})
    results = {one.name: one for one in carry_out(proof)}
    assert results["Look: SomeVisits"].verdict is Verdict.FAIL
    failed = results["Come: Few"]
    assert failed.verdict is Verdict.FAIL
    assert f"thread{most + 1}" in failed.details


BOUNDED = SYSTEM.replaced(replace(LEAVE, changes=LEAVE.changes[:2]), without=("Find", "Pay"))
"""The door without numbers that grow: it has an end."""


def test_clauses_that_name_each_other_do_not_prove_each_other() -> None:
    few = visits() <= 2
    proof = replace(
        PROOF, clauses={"Few": few, "Fewer": few & (visits() <= 3)},
        by={"Few": ("Fewer",), "Fewer": ("Few",)}, promises={},
    )  # fmt: skip
    assert _failing(proof)["Leave: Few"].verdict is Verdict.FAIL


def test_an_action_that_can_never_happen() -> None:
    never = replace(ENTER, name="Never", guard=inside(t) & ~closed())
    found = _failing(replace(PROOF, system=BOUNDED.replaced(never)))
    assert {name: one.summary for name, one in found.items()} == {
        "Never can happen": "it never happens in the small instances"
    }


def test_what_the_solver_cannot_tell_is_inconclusive() -> None:
    """Whether 114 is the sum of three cubes is not known."""
    x, y, z = (Field(name=name, result=INT) for name in "xyz")
    cubes = [each() * each() * each() for each in (x, y, z)]
    change = action("Change", (n,), n > 0, *(each.to(n * n) for each in (x, y, z)))
    clauses = {"No114": ~(cubes[0] + cubes[1] + cubes[2]).is_(114)}
    system = System(initial=tuple(each.to(0) for each in (x, y, z)), actions=(change,))
    proof = replace(PROOF, system=system, clauses={}, promises=clauses, steps={})
    found = {one.name: one for one in carry_out(proof, seconds=0.2)}["all clauses together: No114"]
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "0.2 s" in found.summary


def _variant(name: str, action_name: str, clause: str, system: System) -> CheckResult:
    variant = Variant(name=name, summary="", system=system, action=action_name, clause=clause)
    return carry_out(replace(PROOF, variants=(variant,)))[-1]


def test_a_variant_is_refuted_by_a_run() -> None:
    open_door = replace(ENTER, guard=~inside(t))
    result = _variant("open", "Enter", "OneInside", SYSTEM.replaced(open_door))
    assert result.verdict is Verdict.PASS
    assert "OneInside is broken:\n  Enter(b)\n" in result.details
    assert "    1  Enter(a)\n    2  Enter(b)" in result.details


@pytest.mark.parametrize(
    "odd",
    [
        ENTER,
        # No run comes to where the clause breaks.
        action("Enter", (t, n), closed() & (n > 100), inside.to(t, True)),
        # It breaks where another clause is broken already.
        replace(ENTER, guard=~inside(t), changes=ENTER.changes[1:]),
    ],
)
def test_a_variant_whose_action_breaks_nothing_fails(odd: Action) -> None:
    result = _variant("odd", "Enter", "OneInside", BOUNDED.replaced(odd))
    assert result.verdict is Verdict.FAIL
    assert result.summary == "no run of the small instance breaks OneInside so"


def test_a_run_without_an_end_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    states = Run.states

    def few(run: Run) -> Iterator[tuple[State, Sequence[Step]]]:
        return states(run, most=50)

    monkeypatch.setattr(Run, "states", few)
    odd = action("Odd", (t, n), closed() & (n > 100), inside.to(t, True))
    result = _variant("odd", "Odd", "OneInside", SYSTEM.replaced(odd))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.summary == "the small instance has more than 50 states"


def test_two_changes_of_one_place_count_once_in_a_sum() -> None:
    """The solver's sum follows the evaluator's, wherever the two parameters point."""
    u = THREAD.variable("u")
    give = action("Give", (t, u, n), n > 0, coins.to(t, coins(t) - n), coins.to(u, coins(t) + n))
    instance = Instance(elements={THREAD: ("a", "b", "c")}, rigid={}, numbers=(1, 2))
    system = System(initial=PROOF.system.initial, actions=(give,))
    run = Run(system, instance)
    then = following(ALL_COINS, give.changes)
    for number, (state, steps) in enumerate(run.states(most=10_000)):
        for step in steps:
            assert run.world.value(then, state, step.given) == run.world.value(
                ALL_COINS, step.target
            )
        if number == 100:
            break


def test_terms_of_the_wrong_sort_are_refused() -> None:
    with pytest.raises(ValueError, match="'lost' is no value of Int"):
        visits().is_("lost")
    with pytest.raises(ValueError, match="a term of Int stands where Bool belongs"):
        closed.to(visits())
    with pytest.raises(ValueError, match="inside is asked of the wrong elements"):
        inside(visits())
    with pytest.raises(ValueError, match="no sum can follow"):
        following(ALL_COINS, [coins.all_to(0)])


def test_tla() -> None:
    assert text(CLAUSES["NoCoinIsLost"]) == "((till + SumOf(LAMBDA x : coins[x], Threads)) = 0)"
    assert text(CLAUSES["ClosedWhileInside"]) == ("(closed = (\\E x \\in Threads : inside[x]))")
    assert text(PROOF.steps["VisitsGrow"]) == "(visits' >= visits)"
    assert text(if_(closed(), as_term(1, INT), -1)) == "(IF closed THEN 1 ELSE (-1))"
