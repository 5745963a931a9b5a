"""The door through which every implementation is judged: the reference, Kafka's, anybody's."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from wheelproof_spec.base.component import Request
from wheelproof_spec.base.results.violation import Violation

Call_contra = TypeVar("Call_contra", contravariant=True)
Seen = TypeVar("Seen")
Seen_co = TypeVar("Seen_co", covariant=True)
Seen_contra = TypeVar("Seen_contra", contravariant=True)
Call = TypeVar("Call")


class RefusedError(Exception):
    """The implementation refused a call, as it must for input outside its domain.

    `kind` is the error's name in the implementation, such as IllegalArgument.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class UnjudgeableError(Exception):
    """What an implementation tells is not enough to judge it; the message is one sentence."""


class BrokenDownError(Exception):
    """The implementation broke down in a call, as no input may make it."""

    def __init__(self, rule: str, observed: str) -> None:
        super().__init__(f"{rule}: {observed}")
        self.violation = Violation(
            rule=rule,
            expected="a call within the domain is carried out",
            observed=observed,
            reason="the implementation broke down in a call",
        )


class Port(Protocol[Call_contra, Seen_co]):
    """A component under a virtual clock, driven from one thread."""

    def perform(self, call: Call_contra) -> Seen_co:
        """Make `call` and return what it showed.

        Raises RefusedError or BrokenDownError.
        """
        ...


class SendingPort(Port[Call_contra, Seen_co], Protocol):
    """A port that can be asked ahead: what it is asked next does not depend on its answers."""

    def perform_all(
        self, calls: Sequence[Call_contra]
    ) -> Iterator[Seen_co | RefusedError | BrokenDownError]:
        """Make all `calls` and yield what each of them showed, or how it went wrong.

        Has to be gone through to its end. More calls may be made before that; what they show is
        taken after it.
        """
        ...


class Judge(Protocol[Call_contra, Seen_contra]):
    """Tells after each call of a case whether the contract allows what was seen."""

    def judge(self, call: Call_contra, seen: Seen_contra) -> Violation | None:
        """Return the clause that `seen`, the outcome of `call`, breaks, if any."""
        ...

    def judge_refusal(self, call: Call_contra, refusal: RefusedError) -> Violation | None:
        """Return the clause that refusing `call` breaks, if any."""
        ...


class CaseJudge(Judge[Call, Seen_contra], Protocol):
    """A judge that follows named cases, whose calls are fixed before anything has answered."""

    def as_possible(self, call: Call) -> Call | None:
        """Return `call` as it can be made now; None if it makes no sense any more.

        So it is where an earlier call was left out, or went another way that is allowed.
        """
        ...


def judge_call(judge: Judge[Call, Seen], port: Port[Call, Seen], call: Call) -> Violation | None:
    """Make `call` on `port` and return the clause that its outcome breaks, if any."""
    return judge_outcome(judge, call, outcome_of(port, call))


def first_violation(
    judge: CaseJudge[Call, Seen], port: Port[Call, Seen], calls: Iterable[Call]
) -> Violation | None:
    """Make those `calls` that are possible, up to the first that breaks a clause, and return it."""
    possible = (judge.as_possible(call) for call in calls)
    violations = (judge_call(judge, port, call) for call in possible if call is not None)
    return next((violation for violation in violations if violation is not None), None)


def outcome_of(port: Port[Call, Seen], call: Call) -> Seen | RefusedError | BrokenDownError:
    """Make `call` on `port` and return what it showed, or how it went wrong."""
    try:
        return port.perform(call)
    except (RefusedError, BrokenDownError) as error:
        return error


def judge_outcome(
    judge: Judge[Call, Seen], call: Call, outcome: Seen | RefusedError | BrokenDownError
) -> Violation | None:
    """Return the clause that the outcome of `call` breaks, if any."""
    if isinstance(outcome, RefusedError):
        return judge.judge_refusal(call, outcome)
    if isinstance(outcome, BrokenDownError):
        return outcome.violation
    return judge.judge(call, outcome)


def unexpected_refusal(rule: str, call: Request, refusal: RefusedError) -> Violation:
    """Return what is wrong with refusing a call of the domain (semantics.md 1.17)."""
    return Violation(
        rule=rule,
        expected=f"{call.name_on_the_wire()}, within the domain, is carried out",
        observed=str(refusal),
        reason="the implementation refused a call that the specification allows",
    )
