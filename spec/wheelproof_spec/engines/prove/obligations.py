"""What has to be shown for a proof, and how it ended: one obligation after another.

PASS means that z3 found no state against it, for any number of elements; for an action that must be
possible, that it found one. FAIL comes with such a state, and with the state after the action. A
variant of the system is refuted if z3 finds such a state and a run of the small instance reaches
one as well. A solver that gives up makes the obligation INCONCLUSIVE, never a pass.
"""

import time
from collections.abc import Callable, Iterator, Sequence

from wheelproof_spec.base.results.verdicts import CheckResult, Verdict
from wheelproof_spec.engines.prove.finite import Run, Step, TooManyStatesError
from wheelproof_spec.engines.prove.following import following, resolved, with_values
from wheelproof_spec.engines.prove.report import shown, way
from wheelproof_spec.engines.prove.solver import Language, Question
from wheelproof_spec.engines.prove.system import Action, Instance, Proof, System, Variant
from wheelproof_spec.engines.prove.terms import (
    Change,
    Kind,
    Term,
    all_of,
    fields_in,
    for_all,
    parts_of,
    sums_in,
)

SECONDS = 20.0
"""The limit for one question to the solver, in seconds."""

OnResult = Callable[[CheckResult], None]
Found = tuple[Verdict, str, str]
"""How an obligation ended: the verdict, a line, and states."""

_HELD = "every clause holds before, and this does not after"


def carry_out(
    proof: Proof, *, seconds: float = SECONDS, on_result: OnResult | None = None
) -> list[CheckResult]:
    """Return how each obligation of a proof ended; `on_result` is told as soon as it has."""
    results: list[CheckResult] = []
    since = time.perf_counter()
    for name, (verdict, summary, details) in _found(proof, seconds):
        now = time.perf_counter()
        result = CheckResult(
            name=name,
            group=proof.name,
            verdict=verdict,
            seconds=now - since,
            summary=summary,
            details=details,
        )
        since = now
        results.append(result)
        if on_result is not None:
            on_result(result)
    return results


def _found(proof: Proof, seconds: float) -> Iterator[tuple[str, Found]]:
    asking = _Asking(proof, proof.system, seconds)
    first = asking.question(initial=True)
    for name, clause in proof.clauses.items():
        yield f"first state: {name}", _refuted(first, ~clause)
    for action in proof.system.actions:
        question = asking.question(action)
        yield f"{action.name} can happen", _possible(question)
        for name, clause in proof.clauses.items():
            yield f"{action.name}: {name}", _kept(question, clause, action)
        for name, step in proof.steps.items():
            yield f"{action.name}: {name}", _refuted(question, ~_then(step, action), action)
    question = asking.question()
    for name, promise in proof.promises.items():
        yield f"all clauses together: {name}", _refuted(question, ~promise)
    for variant in proof.variants:
        name = f"{variant.name}: {variant.action} breaks {variant.clause}"
        yield name, _broken(proof, variant, seconds)


class _Asking:
    """Questions about a system under the clauses of a proof."""

    def __init__(
        self, proof: Proof, system: System, seconds: float, more: Sequence[Term] = ()
    ) -> None:
        wanted = (*proof.clauses.values(), *proof.promises.values(), *proof.steps.values(), *more)
        read = (field for term in wanted for field in fields_in(term))
        self._language = Language(tuple(dict.fromkeys((*system.fields, *read))))
        self._system = system
        self._seconds = seconds
        self._clauses = tuple(proof.clauses.values())
        self._facts = [
            _fact_of(one) for one in dict.fromkeys(one for term in wanted for one in sums_in(term))
        ]

    def question(self, action: Action | None = None, *, initial: bool = False) -> Question:
        """Return what is known of a first state, or before an action, or of any state."""
        parameters = () if action is None else action.parameters
        question = Question(self._language, parameters, self._seconds)
        question.assume(*self._system.assumed.values(), *self._facts)
        if initial:
            question.assume(*map(_first_value, self._system.initial))
        else:
            question.assume(*self._clauses)
        if action is not None:
            question.add(action.guard)
        return question


def _then(term: Term, action: Action) -> Term:
    """Return a clause after the action, or a statement of a step, over the state before it."""
    if any(part.kind is Kind.NEXT for part in parts_of(term)):
        return resolved(term, action.changes)
    return following(term, action.changes)


def _kept(question: Question, clause: Term, action: Action) -> Found:
    then = _then(clause, action)
    if then is clause:
        return Verdict.PASS, "nothing that it reads is changed", ""
    return _refuted(question, ~then, action)


def _refuted(question: Question, wrong: Term, action: Action | None = None) -> Found:
    """Return PASS if `wrong` can never be."""
    question.push()
    question.add(wrong)
    answer = question.ask()
    question.pop()
    if answer.impossible:
        return Verdict.PASS, "proved", ""
    if answer.sample is None:
        return Verdict.INCONCLUSIVE, answer.unknown, ""
    sample = answer.sample
    return Verdict.FAIL, _HELD, shown(sample.world, sample.state, action, sample.given)


def _possible(question: Question) -> Found:
    answer = question.ask(small=False)
    if answer.impossible:
        return Verdict.FAIL, "it can never happen while all clauses hold", ""
    if answer.sample is None:
        return Verdict.INCONCLUSIVE, answer.unknown, ""
    return Verdict.PASS, "found", ""


def _broken(proof: Proof, variant: Variant, seconds: float) -> Found:
    known = {**proof.clauses, **proof.promises, **proof.steps, **variant.more}
    clause = known[variant.clause]
    action = next(one for one in variant.system.actions if one.name == variant.action)
    question = _Asking(proof, variant.system, seconds, (clause,)).question(action)
    verdict, summary, details = _refuted(question, ~_then(clause, action), action)
    if verdict is Verdict.INCONCLUSIVE:
        return verdict, summary, details
    if verdict is Verdict.PASS:
        return Verdict.FAIL, "the action keeps it", ""
    reached = known[variant.reached or variant.clause]
    try:
        steps = _breach(variant, reached, variant.instance or proof.instance)
    except TooManyStatesError as error:
        return Verdict.INCONCLUSIVE, str(error), details
    if steps is None:
        return Verdict.FAIL, "no run of the small instance breaks it", details
    run = f"  a run of {len(steps)} steps that ends so:\n{way(steps)}"
    return Verdict.PASS, f"refuted, and a run of {len(steps)} steps breaks it", f"{details}\n{run}"


def _breach(variant: Variant, clause: Term, instance: Instance) -> Sequence[Step] | None:
    """Return a shortest run of the variant whose last step breaks a clause, None without one."""
    run = Run(variant.system, instance, fields_in(clause))
    then = {one.name: _then(clause, one) for one in variant.system.actions}
    for state, steps in run.states():
        for step in steps:
            if not run.world.value(then[step.action.name], state, step.given):
                return [*run.way_to(state), step]
    return None


def _first_value(change: Change) -> Term:
    """Say that a field has its first value everywhere."""
    value = change.field(*change.where).is_(change.value)
    for variable in change.where:
        value = _for_all_values(variable, value)
    return value


def _for_all_values(variable: Term, said: Term) -> Term:
    return for_all(variable.sort, lambda x: with_values(said, {str(variable.value): x}))


def _fact_of(one: Term) -> Term:
    """Say what is known of a sum: without negative parts it is none of its parts exceeds it."""
    variable = one.variable
    assert variable is not None

    def part(x: Term) -> Term:
        return with_values(one.parts[0], {str(variable.value): x})

    parts_count = for_all(variable.sort, lambda x: part(x) >= 0).implies(
        all_of(one >= 0, for_all(variable.sort, lambda x: part(x) <= one))
    )
    nothing = for_all(variable.sort, lambda x: part(x).is_(0)).implies(one.is_(0))
    return parts_count & nothing
