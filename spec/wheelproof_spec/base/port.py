"""The interface through which every implementation is judged: the reference, Kafka's, others."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

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
    """The answers of an implementation are not enough to judge it; the message is one sentence."""


class BrokenDownError(Exception):
    """The implementation broke down in a call; no input may cause that."""

    def __init__(self, rule: str, observed: str) -> None:
        super().__init__(f"{rule}: {observed}")
        self.violation = Violation(
            rule=rule,
            expected="a call within the domain is carried out",
            observed=observed,
            reason=f"the implementation broke down in a call: {observed}",
        )


class Port(Protocol[Call_contra, Seen_co]):
    """A component under a virtual clock, driven from one thread."""

    def perform(self, call: Call_contra) -> Seen_co:
        """Make `call` and return its observation.

        Raises RefusedError or BrokenDownError.
        """
        ...


class SendingPort(Port[Call_contra, Seen_co], Protocol):
    """A port to which calls can be sent ahead, before earlier calls have been answered."""

    def perform_all(
        self, calls: Sequence[Call_contra]
    ) -> Iterator[Seen_co | RefusedError | BrokenDownError]:
        """Make all `calls` and yield the observation or the error of each.

        The iterator must be exhausted. More calls may be made before that; their outcomes are read
        after these.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Asked(Generic[Call]):
    """A call that was sent, and its caller: the calls of one caller are made one after the other.

    Without a caller (an empty name) it is made, and answered, when no other call can go on.
    """

    call: Call
    caller: str = ""


class BurstRules(Protocol[Call_contra, Seen_contra]):
    """What a component says of the answers to calls that overlap."""

    def may_wait(self, call: Call_contra) -> bool:
        """Tell whether `call` may have no answer when no call can go on."""
        ...

    def require(self, call: Call_contra, seen: Seen_contra) -> None:
        """Raise MalformedError for an answer that says too little, or more."""
        ...


class BurstPort(SendingPort[Call, Seen], Protocol):
    """A port that several callers can use at the same time."""

    def burst(
        self, asked: Sequence[Asked[Call]], rest: Asked[Call], rules: BurstRules[Call, Seen]
    ) -> list[tuple[Asked[Call], Seen | RefusedError]]:
        """Make the calls of `asked` at the same time, and then `rest`, which has no caller.

        Return the answers in the order in which they came, the one to `rest` last. A call that may
        wait can be answered by a later burst; a reset forgets those that wait.
        """
        ...


class Judge(Protocol[Call_contra, Seen_contra]):
    """Tells after each call of a case whether the contract allows the outcome."""

    def judge(self, call: Call_contra, seen: Seen_contra) -> Violation | None:
        """Return the clause that `seen`, the outcome of `call`, breaks, if any."""
        ...

    def judge_refusal(self, call: Call_contra, refusal: RefusedError) -> Violation | None:
        """Return the clause that refusing `call` breaks, if any."""
        ...


class CaseJudge(Judge[Call, Seen_contra], Protocol):
    """A judge for named cases, whose calls are fixed before any answer is known."""

    def as_possible(self, call: Call) -> Call | None:
        """Return `call` as it can be made now; None if it makes no sense any more.

        That happens if an earlier call was left out, or had another outcome that is allowed.
        """
        ...


def judge_call(judge: Judge[Call, Seen], port: Port[Call, Seen], call: Call) -> Violation | None:
    """Make `call` on `port` and return the clause that its outcome breaks, if any."""
    return judge_outcome(judge, call, outcome_of(port, call))


def first_violation(
    judge: CaseJudge[Call, Seen], port: Port[Call, Seen], calls: Iterable[Call]
) -> Violation | None:
    """Make the possible `calls` up to the first one that breaks a clause; return that violation."""
    possible = (judge.as_possible(call) for call in calls)
    violations = (judge_call(judge, port, call) for call in possible if call is not None)
    return next((violation for violation in violations if violation is not None), None)


def outcome_of(port: Port[Call, Seen], call: Call) -> Seen | RefusedError | BrokenDownError:
    """Make `call` on `port` and return its observation or its error."""
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
    """Return the violation for the refusal of a call within the domain (standard 1.17)."""
    return Violation(
        rule=rule,
        expected=f"{call.name_on_the_wire()}, within the domain, is carried out",
        observed=str(refusal),
        reason=f"{call.name_on_the_wire()} was refused, but is within the domain: {refusal}",
    )
