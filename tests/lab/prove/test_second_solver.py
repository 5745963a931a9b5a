"""The second solver: what it says of terms, and what becomes of a proof that it does not share."""

import pytest

from wheelproof_lab.prove import obligations
from wheelproof_lab.prove.obligations import BY_BOTH, BY_ONE, carry_out
from wheelproof_lab.prove.solvers.first import Question
from wheelproof_lab.prove.solvers.second import Opinion, opinion
from wheelproof_lab.prove.system import Instance, Proof, System, action
from wheelproof_lab.prove.terms import (
    FALSE,
    INT,
    TRUE,
    Field,
    Sort,
    Term,
    all_of,
    any_of,
    for_all,
    for_all_pairs,
    if_,
    there_is,
    total,
)
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict

pytestmark = pytest.mark.slow

THREAD = Sort(name="Thread", tla="Threads")
STEP = Sort(name="Step", words=("Begin", "End"))
OTHER_STEP = Sort(name="Step", words=("Begin", "Middle", "End"))
inside = Field(name="inside", sorts=(THREAD,))
pc = Field(name="pc", sorts=(THREAD,), result=STEP)
other_pc = Field(name="other pc", sorts=(THREAD,), result=OTHER_STEP)
coins = Field(name="coins", sorts=(THREAD,), result=INT)
price = Field(name="price", result=INT)
ALL_COINS = total(THREAD, coins)
t, u = THREAD.variable("t"), THREAD.variable("u")

IMPOSSIBLE = {
    "a thread is inside and is not": (inside(t), ~inside(t)),
    "nobody is, and somebody": (for_all(THREAD, lambda x: ~inside(x)), there_is(THREAD, inside)),
    "a parameter is no bound variable": (for_all(THREAD, lambda x: inside(x)), ~inside(t)),
    "a step has two words": (~pc(t).is_("Begin"), ~pc(t).is_("End")),
    "less than nothing": (coins(t) < 0, coins(t) >= 0),
    "a negative number": (coins(t) + -3 > 0, coins(t).is_(2)),
    "a product": (price() > 0, coins(t) > 0, price() * coins(t) <= 0),
    "a choice": (if_(inside(t), coins(t), coins(t) * -1) < 0, inside(t), coins(t) > 0),
    "one sum is itself": (ALL_COINS > 3, ALL_COINS < 3),
    "no disjunct": (any_of(),),
    "false": (FALSE,),
}
POSSIBLE = {
    "two threads are two": (inside(t), ~inside(u)),
    "a step of three has a third word": (~other_pc(t).is_("Begin"), ~other_pc(t).is_("End")),
    "two sorts of one name": (pc(t).is_("Begin"), other_pc(t).is_("Begin")),
    "no conjunct": (all_of(),),
    "true": (TRUE,),
}


@pytest.mark.parametrize("terms", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_cannot_hold(terms: tuple[Term, ...]) -> None:
    assert opinion(terms, 2) is Opinion.IMPOSSIBLE


@pytest.mark.parametrize("terms", POSSIBLE.values(), ids=POSSIBLE)
def test_what_can_hold(terms: tuple[Term, ...]) -> None:
    assert opinion(terms, 2) is Opinion.POSSIBLE


def test_a_limit_ends_a_question() -> None:
    """Of numbers without an end, nobody comes to an end with a state."""
    grows = for_all(THREAD, lambda x: there_is(THREAD, lambda y: coins(y) > coins(x)))
    assert opinion((grows, coins(t) > 0), 0.01) is Opinion.UNKNOWN


def test_a_sum_for_each_of_some_elements_is_refused() -> None:
    """The solvers take a sum for one number, which would be the same for all of them."""
    owed = Field(name="owed", sorts=(THREAD, THREAD), result=INT)
    each = for_all(THREAD, lambda x: total(THREAD, lambda y: owed(x, y)) >= 0)
    with pytest.raises(ValueError, match="depends on a bound variable"):
        opinion((each,), 1)


ENTER = action("Enter", (t,), for_all(THREAD, lambda x: ~inside(x)), inside.to(t, True))
CROWD = action("Enter", (t,), ~inside(t), inside.to(t, True))
ONE = {"One": for_all_pairs(THREAD, THREAD, lambda x, y: ~inside(x) | ~inside(y) | x.is_(y))}


def _entering(*, crowd: bool = False) -> CheckResult:
    system = System(initial=(inside.all_to(False),), actions=(CROWD if crowd else ENTER,))
    instance = Instance(elements={THREAD: ("a", "b")}, rigid={})
    proof = Proof(name="door", summary="", system=system, clauses=ONE, instance=instance)
    return {one.name: one for one in carry_out(proof)}["Enter: One"]


def test_both_have_proved_it() -> None:
    found = _entering()
    assert found.verdict is Verdict.PASS
    assert found.summary.startswith(BY_BOTH)


def test_a_mistake_of_the_first_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever z3 takes for impossible is asked of cvc5, which finds the second thread inside."""

    def wrong(_: Question) -> bool:
        return True

    monkeypatch.setattr(Question, "is_soon_impossible", wrong)
    found = _entering(crowd=True)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.summary == "z3 has proved it, and cvc5 has found a state"


def test_where_the_second_gives_up_the_first_is_said_to_stand_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def silent(terms: object, seconds: float) -> Opinion:
        del terms, seconds
        return Opinion.UNKNOWN

    monkeypatch.setattr(obligations, "opinion", silent)
    found = _entering()
    assert found.verdict is Verdict.PASS
    assert found.summary.startswith(BY_ONE)
