"""The obligations of a proof, and how each of them ended.

PASS means that z3 showed that no state breaks it, for any number of elements, and that cvc5 showed
the same of the same terms; if cvc5 gives up, the obligation says that z3 stands alone. FAIL comes
with such a state, and with the state after the action. If z3 gives up, or cvc5 contradicts it, the
obligation is INCONCLUSIVE, never a pass. A run with a few elements, without a solver, shows that an
action can happen, and that a variant with a defect breaks a clause.
"""

import time
from collections.abc import Iterator, Sequence
from itertools import product, zip_longest

from wheelproof_lab.prove.finite import Run, State, Step, TooManyStatesError
from wheelproof_lab.prove.following import following, resolved, with_values
from wheelproof_lab.prove.report import shown, way
from wheelproof_lab.prove.solvers.first import Language, Question
from wheelproof_lab.prove.solvers.second import Opinion, opinion
from wheelproof_lab.prove.system import Action, Proof, System, Variant
from wheelproof_lab.prove.terms import (
    TRUE,
    Change,
    Kind,
    Term,
    all_of,
    fields_in,
    for_all,
    parts_of,
    sums_in,
)
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict

SECONDS = 60.0
"""The limit for one question to the solver, in seconds."""

_SOON = 2.0
_LATER = 15.0
"""The limits for a try with the clause alone, and with the clauses that it names, in seconds."""

Found = tuple[Verdict, str, str]
"""How an obligation ended: the verdict, a summary line, and states as text."""

_HELD = "every clause holds before, and this does not after"

FITS = "what it writes fits"
"""The obligation of an action that writes a sequence, or a word of another set."""

BY_BOTH = "proved by z3 and cvc5"
BY_ONE = "proved by z3 alone, cvc5 gave up"
"""How the summary of what is proved begins."""


def carry_out(proof: Proof, *, seconds: float = SECONDS) -> list[CheckResult]:
    """Return how each obligation of a proof ended."""
    results: list[CheckResult] = []
    since = time.perf_counter()
    for name, (verdict, summary, details) in _found(proof, seconds):
        now = time.perf_counter()
        results.append(
            CheckResult(
                name=name,
                group=proof.name,
                verdict=verdict,
                seconds=now - since,
                summary=summary,
                details=details,
            )
        )
        since = now
    return results


def _found(proof: Proof, seconds: float) -> Iterator[tuple[str, Found]]:
    asking = _Asking(proof, proof.system, seconds)
    first = asking.question(initial=True)
    for name, clause in proof.clauses.items():
        yield f"first state: {name}", _refuted(first, ~clause)
    happening = _Happening(proof)
    for name in proof.never:
        yield f"{name} never happens", _never(proof, asking, name)
    for action in proof.taken:
        yield f"{action.name} can happen", happening.to(action)
        if proof.system.writes_orders(action):
            orders = proof.system.orders
            kept_orders = all_of(action.fits, following(orders, action.changes))
            soon = asking.keeps_soon(orders, kept_orders, [], action)
            yield (
                f"{action.name}: {FITS}",
                soon or _refuted(asking.question(action), ~kept_orders, action),
            )
        for name, clause in (*proof.clauses.items(), *proof.steps.items()):
            then = _then(clause, action)
            if then is clause:
                found: Found = Verdict.PASS, "nothing that it reads is changed", ""
            else:
                by, kept = _by(proof, name), _kept(proof, name, action)
                soon = asking.keeps_soon(clause, then, by, action, kept)
                found = soon or _refuted(asking.question(action), ~then, action)
            yield f"{action.name}: {name}", found
    question = asking.question()
    for name, promise in proof.promises.items():
        by = _by(proof, name)
        soon = asking.keeps_soon(promise, promise, by) if by else None
        yield f"all clauses together: {name}", soon or _refuted(question, ~promise)
    for variant in proof.variants:
        name = f"{variant.name}: {variant.action} breaks {variant.clause}"
        yield name, refute(proof, variant)


def _never(proof: Proof, asking: "_Asking", name: str) -> Found:
    """Return PASS if the clauses exclude an action of the module, or the guard itself does."""
    found = [one for one in proof.system.actions if one.name == name]
    if not found:
        return Verdict.FAIL, "the module has no such action", ""
    return _refuted(asking.question(found[0]), TRUE, found[0])


def _by(proof: Proof, name: str) -> list[Term]:
    return [proof.clauses[one] for one in proof.by.get(name, ())]


def _kept(proof: Proof, name: str, action: Action) -> list[Term]:
    """Return, as they are after the action, the clauses named for a claim and proved before it."""
    known = [*proof.clauses]
    before = known[: known.index(name)] if name in proof.clauses else known
    return [_then(proof.clauses[one], action) for one in proof.by.get(name, ()) if one in before]


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
        sums = dict.fromkeys(one for term in wanted for one in sums_in(term))
        self._facts = [*map(_fact_of, sums), *(() if system.orders == TRUE else (system.orders,))]

    def keeps_soon(
        self,
        clause: Term,
        then: Term,
        by: Sequence[Term],
        action: Action | None = None,
        kept: Sequence[Term] = (),
    ) -> Found | None:
        """Return PASS if a few clauses prove `then` after an action, or in any state.

        The clause is tried with those that the proof names for it, then those of them that the
        action is known to have `kept`: with all clauses the solver may not find the proof.
        """
        alone = [one for one in self._clauses if one is clause and one not in by]
        seconds, word = (_LATER, "those it names") if by else (_SOON, "the clause alone")
        tries = [([*alone, *by], seconds, word)]
        if kept:
            tries.append(([*kept], _SOON, "those it names, after the action"))
        for some, seconds, word in tries:
            parameters = () if action is None else action.parameters
            question = Question(self._language, parameters, min(self._seconds, seconds))
            question.assume(*self._system.assumed.values(), *self._facts)
            question.add(*some, ~then, *(() if action is None else (action.guard,)))
            if question.is_soon_impossible():
                return _proved(question, f", by {word}")
        return None

    def question(self, action: Action | None = None, *, initial: bool = False) -> Question:
        """Return a question about a first state, a state before an action, or any state."""
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
    """Return a clause after the action, or a claim on a step, as a term over the state before."""
    if any(part.kind is Kind.NEXT for part in parts_of(term)):
        return resolved(term, action.changes)
    return following(term, action.changes)


def _refuted(question: Question, wrong: Term, action: Action | None = None) -> Found:
    """Return PASS if `wrong` can never hold."""
    question.push()
    question.add(wrong)
    answer = question.ask()
    found = _proved(question) if answer.impossible else None
    question.pop()
    if found is not None:
        return found
    if answer.sample is None:
        return Verdict.INCONCLUSIVE, answer.unknown, ""
    sample = answer.sample
    return Verdict.FAIL, _HELD, shown(sample.world, sample.state, action, sample.given)


def _proved(question: Question, how: str = "") -> Found:
    """Return how an obligation ended that z3 has proved: cvc5 is asked the same question."""
    match opinion(question.terms, _LATER):
        case Opinion.IMPOSSIBLE:
            return Verdict.PASS, f"{BY_BOTH}{how}", ""
        case Opinion.POSSIBLE:
            return Verdict.INCONCLUSIVE, "z3 has proved it, and cvc5 has found a state", ""
        case Opinion.UNKNOWN:
            return Verdict.PASS, f"{BY_ONE}{how}", ""


class _Happening:
    """The runs of the small instances, continued only until the asked action has happened."""

    def __init__(self, proof: Proof) -> None:
        self._proof = proof
        self._seen: dict[str, tuple[Run, State]] = {}
        self._steps = self._all_steps()

    def _all_steps(self) -> Iterator[tuple[Run, State, Step]]:
        more = [field for clause in self._proof.clauses.values() for field in fields_in(clause)]
        instances = (self._proof.instance, *self._proof.more_instances)
        runs = [Run(self._proof.system, instance, more) for instance in instances]
        # One state of each in turn: an action that one instance never shows, another may show soon.
        for found in zip_longest(*(run.states() for run in runs)):
            for run, one in zip(runs, found, strict=True):
                if one is not None:
                    yield from ((run, one[0], step) for step in one[1])

    def to(self, action: Action) -> Found:
        """Return PASS if an action happens in a state in which all clauses hold."""
        try:
            while action.name not in self._seen:
                run, state, step = next(self._steps)
                self._seen.setdefault(step.action.name, (run, state))
        except StopIteration:
            return Verdict.FAIL, "it never happens in the small instances", ""
        except TooManyStatesError as error:
            return Verdict.INCONCLUSIVE, str(error), ""
        run, state = self._seen[action.name]
        for name, clause in self._proof.clauses.items():
            if not run.world.holds(clause, state):
                there = shown(run.world, state, None, {})
                return Verdict.FAIL, f"it happens where {name} does not hold", there
        return Verdict.PASS, f"it does after {len(run.way_to(state))} steps of a run", ""


def refute(proof: Proof, variant: Variant) -> Found:
    """Return PASS if the action breaks the clause in a run, and a run breaks `variant.reached`."""
    known = {**proof.clauses, **proof.promises, **proof.steps, **variant.more}
    wanted = {variant.clause: variant.action, variant.reached: ""}
    wanted.pop("", None)
    more = [field for term in known.values() for field in fields_in(term)]
    run = Run(variant.system, variant.instance or proof.instance, more)
    then = {
        (name, one.name): _then(known[name], one)
        for name in wanted
        for one in variant.system.actions
    }
    details: list[str] = []
    try:
        for state, steps in run.states():
            for step, name in product(steps, tuple(wanted)):
                if name not in wanted or wanted[name] not in ("", step.action.name):
                    continue
                if run.world.value(then[name, step.action.name], state, step.given):
                    continue
                if wanted[name] and not _all_hold(proof, run, state):
                    continue
                del wanted[name]
                details.append(f"  {name} is broken:")
                details.append(shown(run.world, state, step.action, step.given))
                details.append(f"  after a run:\n{way([*run.way_to(state), step])}")
            if not wanted:
                break
    except TooManyStatesError as error:
        return Verdict.INCONCLUSIVE, str(error), ""
    text = "\n".join(details)
    if wanted:
        return Verdict.FAIL, f"no run of the small instance breaks {' or '.join(wanted)} so", text
    return Verdict.PASS, "refuted by a run, from a state in which all clauses hold", text


def _all_hold(proof: Proof, run: Run, state: State) -> bool:
    return all(run.world.holds(clause, state) for clause in proof.clauses.values())


def _first_value(change: Change) -> Term:
    """Say that a field has its first value everywhere."""
    value = change.field(*change.where).is_(change.value)
    for variable in change.where:
        value = _for_all_values(variable, value)
    return value


def _for_all_values(variable: Term, said: Term) -> Term:
    return for_all(variable.sort, lambda x: with_values(said, {str(variable.value): x}))


def _fact_of(one: Term) -> Term:
    """Say: a sum without negative parts is at least 0 and each part; a sum of zeros is 0."""
    variable = one.variable
    assert variable is not None

    def part(x: Term) -> Term:
        return with_values(one.parts[0], {str(variable.value): x})

    parts_count = for_all(variable.sort, lambda x: part(x) >= 0).implies(
        all_of(one >= 0, for_all(variable.sort, lambda x: part(x) <= one))
    )
    nothing = for_all(variable.sort, lambda x: part(x).is_(0)).implies(one.is_(0))
    return parts_count & nothing
