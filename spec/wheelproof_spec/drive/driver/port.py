"""A driver's component as a `SendingPort`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.component import Request
from wheelproof_spec.base.port import Asked, BurstRules, RefusedError
from wheelproof_spec.base.strict_json import JsonObject
from wheelproof_spec.drive.driver.session import DriverSession

CallT = TypeVar("CallT", bound=Request)
SeenT = TypeVar("SeenT")


@dataclass(frozen=True, slots=True)
class CalledRequest:
    """The request of a caller."""

    request: Request
    caller: str

    def name_on_the_wire(self) -> str:
        """Return the name on the wire."""
        return self.request.name_on_the_wire()

    def fields(self) -> Mapping[str, object]:
        """Return the fields of the request, and the caller if it has one."""
        caller = {"caller": self.caller} if self.caller else {}
        return {**caller, **self.request.fields()}


class DriverPort(Generic[CallT, SeenT]):
    """A component of another program; a call may also raise DriverFailedError."""

    def __init__(
        self, session: DriverSession, parse_answer: Callable[[JsonObject, CallT], SeenT]
    ) -> None:
        """Drive through `session`; `parse_answer` raises MalformedError for a wrong answer."""
        self._session = session
        self._parse_answer = parse_answer
        self._waiting: dict[int, Asked[CallT]] = {}

    def perform(self, call: CallT) -> SeenT:
        """Make `call`; see `Port.perform`."""
        return self._session.ask(call, lambda fields: self._parse_answer(fields, call))

    def perform_all(self, calls: Sequence[CallT]) -> Iterator[SeenT | RefusedError]:
        """Make all `calls`, sent ahead; see `SendingPort.perform_all`."""
        return self._session.ask_all(calls, self._parse_answer)

    def burst(
        self, asked: Sequence[Asked[CallT]], rest: Asked[CallT], rules: BurstRules[CallT, SeenT]
    ) -> list[tuple[Asked[CallT], SeenT | RefusedError]]:
        """Send the calls of `asked`, then `rest`; see `BurstPort.burst`."""
        sent = (*asked, rest)
        requests = [CalledRequest(one.call, one.caller) for one in sent]
        self._waiting.update(zip(self._session.send_together(requests), sent, strict=True))
        callers = {number: one.caller for number, one in self._waiting.items()}

        def parse(fields: JsonObject, call: CallT) -> SeenT:
            seen = self._parse_answer(fields, call)
            rules.require(call, seen)
            return seen

        found: list[tuple[Asked[CallT], SeenT | RefusedError]] = []
        while not found or found[-1][0] is not rest:
            calls = {number: one.call for number, one in self._waiting.items()}
            number, outcome = self._session.receive_any(calls, parse)
            before = [one for one in calls if one < number and callers[one] == callers[number]]
            if before:
                raise self._session.misses(before[0], calls[before[0]])
            found.append((self._waiting.pop(number), outcome))
        if isinstance(rest.call, Reset):
            self._waiting.clear()
        first = {callers[number]: number for number in sorted(self._waiting, reverse=True)}
        for number in first.values():
            call = self._waiting[number].call
            if not rules.may_wait(call):
                raise self._session.misses(number, call)
        return found
