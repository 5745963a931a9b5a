"""Processes that explore one program in parallel, and the parent that keeps what they share."""

import multiprocessing
import signal
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from multiprocessing.sharedctypes import RawArray, RawValue
from typing import cast

from wheelproof_explore.failures.problems import (
    EngineDefectError,
    ExploreError,
    OptionRejectedError,
)
from wheelproof_explore.runs.execution import Execution
from wheelproof_explore.runs.races import Analysis
from wheelproof_explore.runtime.accesses import Event
from wheelproof_explore.runtime.numbers import FIRST, Actor
from wheelproof_explore.strategies.optimal import OptimalStrategy, Rest
from wheelproof_explore.tally import Tally
from wheelproof_explore.verdicts import ExitCode

Numbers = dict[tuple[Actor, int], Actor]
GIVE_EVERY = 16
LOOK_EVERY_S = 1.0
_ALL = "all of it"
_OVER = "nothing more"


class ProcessFailedError(ExploreError):
    """The error that one of the processes failed, with its message and its exit code."""

    def __init__(self, sentence: str, code: ExitCode) -> None:
        super().__init__(sentence)
        self.exit_code = code


class Explorer:
    """An exploring process: its strategy, and its connection to the parent.

    It gives away a part of its work if a process is idle, at most once in `GIVE_EVERY` runs.
    """

    complete = True

    def __init__(self, pipe: Connection, place: int, signals: "_Signals") -> None:
        self._pipe, self._place, self._signals = pipe, place, signals
        self._own = OptimalStrategy()
        self._since = 0
        self.numbers: Numbers = _SharedNumbers(pipe)

    @property
    def blocked_runs(self) -> int:
        """The number of runs that ended because every enabled step was explored already."""
        return self._own.blocked_runs

    def prefix(self) -> Sequence[Event]:
        """Return the steps with which the next run begins."""
        return self._own.prefix()

    def choose(self, execution: Execution) -> Event | None:
        """Return the next step, None if the run is over."""
        return self._own.choose(execution)

    def learn(self, analysis: Analysis) -> bool:
        """Record a finished run, and tell whether there is another one."""
        self._own.learn(analysis)
        self._since += 1
        if self._signals.wanted.value and self._since >= GIVE_EVERY:
            rest = self._own.give()
            if rest is not None:
                self._signals.wanted.value = self._since = 0
                self._pipe.send(rest)
        return self._own.has_more and not self.ends()

    def ends(self) -> bool:
        """Tell whether all processes have to stop."""
        return bool(self._signals.end.value)

    def end(self) -> None:
        """Make all processes stop."""
        self._signals.end.value = 1

    def count(self, runs: int) -> int:
        """Record how many runs this process has made, and return how many all have made."""
        self._signals.runs[self._place] = runs
        return sum(self._signals.runs)

    def next(self, wait: Callable[[], None]) -> bool:
        """Wait for work, and call `wait` meanwhile; return False if no work is left."""
        while not self._pipe.poll(LOOK_EVERY_S):
            wait()
        found: Rest | str = self._pipe.recv()
        if not isinstance(found, str):
            self._own.begin(found)
        return found != _OVER

    def has_explored(self) -> None:
        """Tell the parent that the work is done."""
        self._pipe.send(None)


class _Signals:
    def __init__(self, jobs: int) -> None:
        self.wanted = RawValue("i", 0)
        self.end = RawValue("i", 0)
        self.runs = RawArray("Q", jobs)


class _SharedNumbers(Numbers):
    """The numbers of threads; the parent gives a new thread one number for all processes."""

    def __init__(self, pipe: Connection) -> None:
        super().__init__()
        self._pipe = pipe

    def setdefault(self, key: tuple[Actor, int], default: Actor = FIRST) -> Actor:
        """Return the number of a thread; `default` is ignored, as another process may use it."""
        del default
        known = self.get(key)
        if known is None:
            self._pipe.send(key)
            known = self[key] = Actor(self._pipe.recv())
        return known


def explore_side_by_side(
    jobs: int,
    work: Callable[[Explorer], Tally],
    numbers: Numbers,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[Tally, bool]:
    """Run `work` in `jobs` processes; return their summed tally, and whether Ctrl-C ended it.

    `numbers` are the numbers of the threads; new ones are added. `progress` gets the number of
    runs. Raises ProcessFailedError if a process fails.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        raise OptionRejectedError(
            "--jobs needs a system that can fork, such as Linux: explore without it"
        )
    context = multiprocessing.get_context("fork")
    signals = _Signals(jobs)
    pipes: list[Connection] = []
    processes: list[ForkProcess] = []
    for place in range(jobs):
        mine, theirs = context.Pipe()
        process = context.Process(target=_explore, args=(theirs, place, signals, work), daemon=True)
        process.start()
        theirs.close()
        pipes.append(mine)
        processes.append(process)
    try:
        return _keep(pipes, signals, numbers, progress)
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _keep(
    pipes: list[Connection], signals: _Signals, numbers: Numbers, progress: Callable[[int], None]
) -> tuple[Tally, bool]:
    idle, all_seen, interrupted = list(pipes), Tally(), False
    left: list[Rest | str] = [_ALL]
    while True:
        try:
            while idle and left and not signals.end.value:
                idle.pop().send(left.pop(0))
            if len(idle) == len(pipes):
                break
            if idle:
                signals.wanted.value = 1
            for pipe in wait([pipe for pipe in pipes if pipe not in idle], LOOK_EVERY_S):
                assert isinstance(pipe, Connection)
                match _received(pipe):
                    case None:
                        idle.append(pipe)
                    case (int(parent), int(child)):
                        key = Actor(parent), child
                        pipe.send(numbers.setdefault(key, Actor(len(numbers))))
                    case given:
                        left.append(cast("Rest", given))
            progress(sum(signals.runs))
        except KeyboardInterrupt:
            interrupted = True
            signals.end.value = 1
    for pipe in pipes:
        pipe.send(_OVER)
        seen = _received(pipe)
        assert isinstance(seen, Tally)
        all_seen.add(seen)
    return all_seen, interrupted


def _received(pipe: Connection) -> object:
    try:
        received: object = pipe.recv()
    except EOFError:
        raise EngineDefectError("one of the processes has died") from None
    if isinstance(received, str):
        code, _, sentence = received.partition(" ")
        raise ProcessFailedError(sentence, ExitCode(int(code)))
    return received


def _explore(
    pipe: Connection, place: int, signals: _Signals, work: Callable[[Explorer], Tally]
) -> None:
    # The parent alone handles Ctrl-C, and ends the other processes in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        pipe.send(work(Explorer(pipe, place, signals)))
    except ExploreError as error:
        pipe.send(f"{int(error.exit_code)} {error}")
    except Exception:
        pipe.send(f"{int(ExitCode.INTERNAL_ERROR)} {traceback.format_exc()}")
