"""A driver's component as a `SendingPort`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from wheelproof_spec.base.component import Request
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.base.strict_json import JsonObject
from wheelproof_spec.drive.driver.session import DriverSession

CallT = TypeVar("CallT", bound=Request)
SeenT = TypeVar("SeenT")


class DriverPort(Generic[CallT, SeenT]):
    """A component of another program; a call may also raise DriverFailedError."""

    def __init__(
        self, session: DriverSession, parse_answer: Callable[[JsonObject, CallT], SeenT]
    ) -> None:
        """Drive through `session`; `parse_answer` raises MalformedError for a wrong answer."""
        self._session = session
        self._parse_answer = parse_answer

    def perform(self, call: CallT) -> SeenT:
        """Make `call`; see `Port.perform`."""
        return self._session.ask(call, lambda fields: self._parse_answer(fields, call))

    def perform_all(self, calls: Sequence[CallT]) -> Iterator[SeenT | RefusedError]:
        """Make all `calls`, sent ahead; see `SendingPort.perform_all`."""
        return self._session.ask_all(calls, self._parse_answer)
