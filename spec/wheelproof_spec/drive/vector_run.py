"""Runs published vectors on a driver: sends each step as a request, and compares the answer.

This works for any component: a step is the request, and its `expect` is what the answer must show.
The tasks that ran (`fired`) are collected until a step's `expect` lists them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.codec.bounds import outside
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.codec.writer import plain
from wheelproof_spec.base.component import AnyDefinition, Request
from wheelproof_spec.base.history.lines import Vector
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.base.results.known_limits import KnownLimit, skips
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.strict_json import JsonObject, as_object, text
from wheelproof_spec.drive.driver.messages import Introduction, request_line


class Session(Protocol):
    """A conversation with an implementation: a `DriverSession`, or an object in this process."""

    def ask(self, request: Request, parse: Callable[[JsonObject], JsonObject]) -> JsonObject:
        """Return the answer; raises RefusedError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRequest:
    """A request, given by its name and its fields."""

    name: str
    content: Mapping[str, object]

    def name_on_the_wire(self) -> str:
        """Return the name on the wire."""
        return self.name

    def fields(self) -> Mapping[str, object]:
        """Return the fields of the message other than its id and its operation."""
        return self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorFailure:
    """A vector with a wrong answer; the last of `lines` is the request that got it."""

    vector: str
    violation: Violation
    lines: tuple[str, ...]


@dataclass(slots=True)
class VectorTally:
    """The results of the vectors so far; `skipped` counts the vectors not run, by reason."""

    passed: int = 0
    steps: int = 0
    failures: list[VectorFailure] = field(default_factory=list[VectorFailure])
    skipped: Counter[str] = field(default_factory=Counter[str])

    @property
    def summary(self) -> str:
        """The counts in a few words."""
        ran = self.passed + len(self.failures)
        words = f"{ran:,} vectors, {self.steps:,} steps, {len(self.failures):,} failed"
        return ", ".join([words, *(f"{n:,} {why}" for why, n in sorted(self.skipped.items()))])

    @property
    def verdict(self) -> Verdict:
        """The verdict: pass if a vector was run and all were answered as published."""
        if self.failures:
            return Verdict.FAIL
        return Verdict.PASS if self.passed else Verdict.INCONCLUSIVE


def run_vectors(
    runner: "VectorRunner",
    vectors: Iterable[Vector[object, object]],
    profile: str,
    introduction: Introduction,
    tally: VectorTally,
) -> None:
    """Run the vectors that apply to this implementation, and count them in `tally`.

    May raise DriverFailedError; `tally` then counts the vectors before the failure.
    """
    for vector in vectors:
        reason = runner.why_not(vector, profile, introduction)
        if reason is not None:
            tally.skipped[reason] += 1
            continue
        violation = runner.run(vector)
        tally.steps = runner.steps
        if violation is None:
            tally.passed += 1
        else:
            lines = lines_of(runner.asked)
            failure = VectorFailure(vector=vector.id, violation=violation, lines=lines)
            tally.failures.append(failure)


class VectorRunner:
    """Runs vectors, one after the other, through one conversation with a driver."""

    def __init__(
        self,
        session: Session,
        definition: AnyDefinition,
        known_limits: Sequence[KnownLimit] = (),
    ) -> None:
        """Prepare to run vectors of the component `definition`; known limits are not compared."""
        self._session = session
        self._component = definition.name
        self._clauses: Mapping[str, Clause] = (
            {} if definition.vectors is None else definition.vectors.clauses
        )
        self._limits = known_limits
        self._fired: list[object] = []
        self.steps = 0
        """The number of requests made."""
        self.asked: list[StepRequest] = []
        """The requests of the current vector so far."""

    def why_not(
        self, vector: Vector[object, object], profile: str, introduction: Introduction
    ) -> str | None:
        """Return why a vector is not run with this implementation; None if it is run."""
        if vector.component != self._component:
            return f"of the component {vector.component}"
        if vector.component not in introduction.components:
            return f"of the component {vector.component}, which the driver has not"
        if profile not in vector.profiles:
            return "of other profiles"
        for need in vector.needs:
            if need not in introduction.capabilities:
                return f"in need of the capability {need}"
        if outside(introduction.bounds.get(self._component, {}), _requests(vector)):
            return "outside the bounds that are declared"
        limits = [flag for flag in vector.flags if skips(self._limits, f"Domain.{flag}")]
        return f"about {limits[0]}, a known limit" if limits else None

    def run(self, vector: Vector[object, object]) -> Violation | None:
        """Run one vector; return its first wrong answer, if any. May raise DriverFailedError."""
        self.asked, self._fired = [], []
        reset, *requests = _requests(vector)
        try:
            self._ask(reset)
            for request, step in zip(requests, vector.steps, strict=True):
                content = as_object(plain(step, Wire.DRIVEN), "is a step that is")
                violation = self._step(request, content)
                if violation is not None:
                    return violation
        except RefusedError as refusal:
            refused_at_end = len(self.asked) == len(vector.steps) + 1
            if vector.result == "invalid" and refused_at_end:
                return None
            return _violation(self.asked[-1], "it is carried out", f"refused: {refusal}")
        if vector.result == "invalid":
            return _violation(self.asked[-1], "it is refused", "it is carried out")
        return None

    def _step(self, request: StepRequest, step: JsonObject) -> Violation | None:
        answer = self._ask(request)
        fired = answer.get("fired", [])
        self._fired += fired if isinstance(fired, list) else [fired]
        if "expect" not in step:
            return None
        return self._compare(request, as_object(step["expect"], "has 'expect' that is"), answer)

    def _ask(self, request: StepRequest) -> JsonObject:
        self.asked.append(request)
        self.steps += 1
        return self._session.ask(request, lambda fields: fields)

    def _compare(
        self, request: StepRequest, expected: JsonObject, answer: JsonObject
    ) -> Violation | None:
        for name, value in expected.items():
            if name == "fired":
                ran, self._fired = self._fired, []
                is_open = self._order_is_open(expected)
                seen: object = sorted(ran, key=str) if is_open else ran
                value = _sorted(value) if is_open else value
            elif name not in answer:
                # No field of an answer (`any_order`), or not observed by the driver.
                continue
            else:
                seen = answer[name]
            if seen != value and not self._skips(name):
                return _violation(request, f"{name} = {value}", f"{name} = {seen}")
        return None

    def _order_is_open(self, expected: JsonObject) -> bool:
        return expected.get("any_order") is True or self._skips("any_order")

    def _skips(self, name: str) -> bool:
        return name in self._clauses and skips(self._limits, self._clauses[name])


def _requests(vector: Vector[object, object]) -> Iterator[StepRequest]:
    config = plain(vector.config, Wire.DRIVEN)
    yield StepRequest(name="reset", content={"component": vector.component, "config": config})
    for part in vector.steps:
        step = as_object(plain(part, Wire.DRIVEN), "is a step that is")
        content = {"args": step["args"]} if "args" in step else {}
        yield StepRequest(name=text(step, "op"), content=content)


def lines_of(requests: Sequence[Request]) -> tuple[str, ...]:
    """Return the requests as lines for a report."""
    return tuple(request_line(number, request) for number, request in enumerate(requests, 1))


def _sorted(value: object) -> object:
    if not isinstance(value, list):
        return value
    names: list[object] = [*value]
    return sorted(names, key=str)


def _violation(request: StepRequest, expected: str, observed: str) -> Violation:
    return Violation(
        rule="Vector.AnswersAsPublished",
        expected=expected,
        observed=observed,
        reason=f"{request.name} was answered with {observed}, but {expected} was published",
    )
