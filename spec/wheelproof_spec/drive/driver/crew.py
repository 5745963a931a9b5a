"""Several processes of one driver, each of which drives whole cases.

The cases go round, and what they answer is read in the order in which they were sent. So the judge
sees what it sees of one process, and its verdict is the same; only the drivers work at once.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import cycle
from typing import Generic, Self

from wheelproof_spec.base.component import CallT, SeenT
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.port import Asked, BurstRules, RefusedError
from wheelproof_spec.base.strict_json import JsonObject
from wheelproof_spec.drive.driver.counting import starts_a_case
from wheelproof_spec.drive.driver.messages import Introduction
from wheelproof_spec.drive.driver.port import DriverPort
from wheelproof_spec.drive.driver.process import DriverFailedError, DriverLimits
from wheelproof_spec.drive.driver.session import DriverSession

SEVERAL_PROCESSES = "several_processes"
"""The capability of a driver of which several processes may run at once."""


class DriverCrew:
    """The processes of one driver, used in a `with` block; the first one leads.

    Only the leader is asked for what is no case. One that is alone may begin again after a failure.
    """

    def __init__(self, command: str, limits: DriverLimits, jobs: int) -> None:
        """Start `jobs` processes; raises UsageError if that cannot be done."""
        self._stack = ExitStack()
        self.sessions: list[DriverSession] = []
        with self._stack:
            for _ in range(jobs):
                self.sessions.append(self._stack.enter_context(DriverSession(command, limits)))
            self._stack = self._stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @property
    def leader(self) -> DriverSession:
        """The process that is asked for what is no case."""
        return self.sessions[0]

    @property
    def is_alone(self) -> bool:
        """Whether there is one process."""
        return len(self.sessions) == 1

    @property
    def failure(self) -> DriverFailedError | None:
        """The failure of a process, if one has failed."""
        return next((one.failure for one in self.sessions if one.failure is not None), None)

    def introduce(self) -> Introduction:
        """Let all introduce themselves; see `DriverSession.introduce`.

        Raises UsageError if there are several, and the driver does not allow it.
        """
        introduction = self.leader.introduce()
        if not self.is_alone and SEVERAL_PROCESSES not in introduction.capabilities:
            raise UsageError(
                f"--jobs {len(self.sessions)}: the driver does not declare the capability "
                f"{SEVERAL_PROCESSES!r}, so only one of its processes may run; leave out --jobs"
            )
        for session in self.sessions[1:]:
            session.introduce()
        return introduction

    def say_goodbye(self) -> None:
        """Let all end by themselves; see `DriverSession.say_goodbye`."""
        for session in self.sessions:
            session.say_goodbye()


class CrewPort(Generic[CallT, SeenT]):
    """A crew as one port: each case goes to the next process."""

    def __init__(
        self, crew: DriverCrew, parse_answer: Callable[[JsonObject, CallT], SeenT]
    ) -> None:
        """Drive through the processes of `crew`; see `DriverPort`."""
        self._ports = cycle([DriverPort(session, parse_answer) for session in crew.sessions])
        self._port = next(self._ports)

    def perform(self, call: CallT) -> SeenT:
        """Make `call`; see `Port.perform`."""
        self._turn(call)
        return self._port.perform(call)

    def perform_all(self, calls: Sequence[CallT]) -> Iterator[SeenT | RefusedError]:
        """Make all `calls` of one case, or of a part of it; see `SendingPort.perform_all`."""
        for call in calls[:1]:
            self._turn(call)
        return self._port.perform_all(calls)

    def burst(
        self, asked: Sequence[Asked[CallT]], rest: Asked[CallT], rules: BurstRules[CallT, SeenT]
    ) -> list[tuple[Asked[CallT], SeenT | RefusedError]]:
        """Make calls of one case at the same time; see `BurstPort.burst`."""
        return self._port.burst(asked, rest, rules)

    def _turn(self, call: CallT) -> None:
        if starts_a_case(call):
            self._port = next(self._ports)
