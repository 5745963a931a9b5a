"""A conversation with a driver: numbered requests, checked answers, one sentence if it fails."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Self, TypeVar

from wheelproof_spec.base.component import Request
from wheelproof_spec.base.errors import UsageError, printable
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.base.strict_json import JsonObject, MalformedError, integer, parse_object
from wheelproof_spec.drive.driver.messages import (
    Bye,
    Hello,
    Introduction,
    Refusal,
    format_request,
    parse_answer,
    parse_done,
    parse_introduction,
)
from wheelproof_spec.drive.driver.process import (
    USUAL_LIMITS,
    DriverFailedError,
    DriverLimits,
    DriverProcess,
)

Answer = TypeVar("Answer")
RequestT = TypeVar("RequestT", bound=Request)


class DriverSession:
    """A started driver, used in a `with` block; the end of the block ends all its processes.

    Once the driver has failed, every further request raises the same error at once, until
    `begin_again`. So code that repeats a case, for example to shrink it, ends soon.
    """

    def __init__(self, command: str, limits: DriverLimits = USUAL_LIMITS) -> None:
        """Start the driver; raises UsageError if that cannot be done."""
        self._command = command
        self._limits = limits
        self._process = DriverProcess(command, limits)
        self._number = self._sent = 0
        self._failure: DriverFailedError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def end(self) -> None:
        """End the driver and all its descendants; a second call has no effect."""
        self._process.end()

    @property
    def failure(self) -> DriverFailedError | None:
        """The failure of the driver, if it has failed."""
        return self._failure

    def last_lines(self) -> tuple[str, ...]:
        """Return the last lines of the driver's standard error so far."""
        return self._process.last_lines()

    def begin_again(self) -> Introduction:
        """End the driver, start a new one and let it introduce itself; raises DriverFailedError."""
        self._process.end()
        try:
            self._process = DriverProcess(self._command, self._limits)
        except UsageError as error:
            raise DriverFailedError(f"{error}; it was there before", ()) from error
        self._number = self._sent = 0
        self._failure = None
        return self.introduce()

    def introduce(self) -> Introduction:
        """Ask the driver to introduce itself; raises DriverFailedError, also if it refuses."""
        try:
            return self.ask(Hello(), parse_introduction)
        except RefusedError as refusal:
            raise self._fail(f"refused to introduce itself: {refusal}", Hello()) from refusal

    def ask(self, request: Request, parse: Callable[[JsonObject], Answer]) -> Answer:
        """Send `request` and return its answer, parsed by `parse`.

        Raises RefusedError if the implementation refuses, DriverFailedError if the driver fails.
        """
        self._send([request])
        outcome = self._receive(request, lambda fields, _: parse(fields))
        if isinstance(outcome, RefusedError):
            raise outcome
        return outcome

    def ask_all(
        self,
        requests: Sequence[RequestT],
        parse: Callable[[JsonObject, RequestT], Answer],
    ) -> Iterator[Answer | RefusedError]:
        """Send all `requests` now and return an iterator of their answers; exhaust it.

        More requests may be sent before that; answers come in the order of the requests. Raises
        DriverFailedError, also from the iterator: at the first request without a valid answer.
        """
        self._send(requests)
        return (self._receive(request, parse) for request in requests)

    def send_together(self, requests: Sequence[Request]) -> range:
        """Send requests whose answers may come in any order; return their numbers.

        Raises DriverFailedError if the driver has failed.
        """
        first = self._sent + 1
        self._send(requests)
        return range(first, self._sent + 1)

    def receive_any(
        self,
        waiting: Mapping[int, RequestT],
        parse: Callable[[JsonObject, RequestT], Answer],
    ) -> tuple[int, Answer | RefusedError]:
        """Return the next answer to one of the requests `waiting`, with its number.

        Raises DriverFailedError if the driver fails; then the last of them is named.
        """
        self._number, request = max(waiting), waiting[max(waiting)]
        try:
            line = self._process.receive(self._timeout_s(request))
        except DriverFailedError as error:
            problem = f"{error.problem}, and {len(waiting)} requests of a burst have no answer"
            raise self._fail(problem, request, type(error)) from error
        try:
            number = integer(parse_object(line), "id")
            if number not in waiting:
                raise MalformedError(f"carries the id {number}, which no open request has")
        except MalformedError as error:
            raise self._misprinted(line, error, request) from error
        last, self._number = self._number, number - 1
        outcome = self._understand(line, waiting[number], parse)
        self._number = last
        return number, outcome

    def misses(self, number: int, request: Request) -> DriverFailedError:
        """Return the error that a request of a burst has no answer."""
        self._number = number
        return self._fail("has answered a later request, and not this one", request)

    def collect(
        self,
        lines: bytes,
        request: Request,
        take: Callable[[JsonObject], None],
        parse: Callable[[JsonObject], Answer],
    ) -> Answer:
        """Send lines that nobody answers, then `request`; return the answer to that.

        Each line that the driver prints in front of its answer goes to `take`, which raises
        MalformedError for a wrong one. Raises DriverFailedError, also if the driver refuses.
        """
        self._send([request], lines)
        line = b""
        try:
            while True:
                line = self._process.receive(self._timeout_s(request))
                printed = parse_object(line)
                if "id" in printed:
                    break
                take(printed)
        except DriverFailedError as error:
            raise self._fail(error.problem, request, type(error)) from error
        except MalformedError as error:
            raise self._misprinted(line, error, request) from error
        outcome = self._understand(line, request, lambda fields, _: parse(fields))
        if isinstance(outcome, RefusedError):
            raise self._fail(f"refused: {outcome}", request)
        return outcome

    def _send(self, requests: Sequence[Request], before: bytes = b"") -> None:
        if self._failure is not None:
            raise type(self._failure)(self._failure.problem, self._failure.last_lines)
        numbered = enumerate(requests, start=self._sent + 1)
        self._sent += len(requests)
        asked = (format_request(number, one) for number, one in numbered)
        self._process.send(b"".join((before, *asked)))

    def _receive(
        self, request: RequestT, parse: Callable[[JsonObject, RequestT], Answer]
    ) -> Answer | RefusedError:
        """Return the answer to the oldest unanswered request."""
        try:
            line = self._process.receive(self._timeout_s(request))
        except DriverFailedError as error:
            self._number += 1
            raise self._fail(error.problem, request, type(error)) from error
        return self._understand(line, request, parse)

    def _understand(
        self, line: bytes, request: RequestT, parse: Callable[[JsonObject, RequestT], Answer]
    ) -> Answer | RefusedError:
        """Return what a line answers to the oldest unanswered request."""
        self._number += 1
        try:
            answer = parse_answer(line, self._number)
            if not isinstance(answer, Refusal):
                return parse(answer, request)
        except MalformedError as error:
            raise self._misprinted(line, error, request) from error
        return RefusedError(printable(answer.kind), printable(answer.message))

    def _misprinted(
        self, line: bytes, error: MalformedError, request: Request
    ) -> DriverFailedError:
        said = printable(line.decode("utf-8", "backslashreplace"))
        return self._fail(f"printed a line that is no answer, for it {error}: {said}", request)

    def say_goodbye(self) -> None:
        """Let the driver end by itself; raises DriverFailedError if it does not end cleanly."""
        try:
            self.ask(Bye(), parse_done)
            self._process.expect_end()
        except RefusedError as refusal:
            raise self._fail(f"refused to end: {refusal}", Bye()) from refusal
        except DriverFailedError as error:
            if self._failure is None:
                raise self._fail(error.problem, Bye()) from error
            raise

    def _timeout_s(self, request: Request) -> float:
        starting = isinstance(request, Hello)
        return max(self._limits.timeout_s, self._limits.start_s if starting else 0)

    def _fail(
        self,
        problem: str,
        request: Request,
        kind: type[DriverFailedError] = DriverFailedError,
    ) -> DriverFailedError:
        sentence = f"the driver {problem} (request {self._number}, {request.name_on_the_wire()})"
        self._failure = kind(sentence, self.last_lines())
        return self._failure
