"""One run of a program, step by step."""

import gc
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from wheelproof.sync import use_runtime
from wheelproof_explore.failures.failure import Failure, FailureKind
from wheelproof_explore.failures.problems import (
    ProgramRejectedError,
    SilentActionError,
    rejected,
)
from wheelproof_explore.fields.data_races import find_data_race
from wheelproof_explore.program import Faults, Program, Scenario, observer, raises_if_wrong
from wheelproof_explore.program.faults import INTERRUPT
from wheelproof_explore.program.public_operations import NotLinearizableError
from wheelproof_explore.runs.cycles import Cycle, CycleWatch
from wheelproof_explore.runs.waits import failure_of_stuck_threads
from wheelproof_explore.runtime.accesses import INVOKE, RETURN, Accesses, joined
from wheelproof_explore.runtime.model import AtomicOperation, ModelThread
from wheelproof_explore.runtime.numbers import (
    THREAD_BITS,
    THREAD_MASK,
    TIME,
    Actor,
    choosing,
)
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.runtime.settings import TimeMode
from wheelproof_explore.substrates.substrate import Substrate

_RUNS_TO_COLLECT = 500
_MAIN = "main"
"""The thread that Ctrl-C reaches."""


def _keep() -> None:
    """Bring nothing back."""


class World:
    """The state that the runs of one exploration share: fibers, and the numbers of threads.

    The world of a part of a program reports its runs to the world of the `whole` program.
    """

    def __init__(
        self, program: Program, substrate: Substrate, whole: "World | None" = None
    ) -> None:
        self.program = program
        self.substrate = substrate
        self._whole = whole
        self.numbers: dict[tuple[Actor, int], Actor] = {}
        self.restore: Callable[[], None] = _keep
        """Brings back, before each run, what earlier ones have changed outside of themselves."""
        self._runs = 0
        self._latest: Sequence[Actor] = ()

    def begin_run(self, actors: Sequence[Actor]) -> None:
        """Record that a run begins; its steps will be added to `actors`."""
        self._runs += 1
        self._latest = actors
        if self.program.patch_threading and self._runs % _RUNS_TO_COLLECT == 0:
            # Garbage is collected only here, so that finalisers make no steps at random.
            gc.collect()
        self.restore()
        if self._whole is not None:
            self._whole.begin_run(actors)

    def part(self, without: frozenset[int]) -> "World":
        """Return the world of the program without the operations of these numbers."""
        return World(replace(self.program, without=without), self.substrate, self)

    def progress(self) -> tuple[int, int]:
        """Return numbers that change with every step."""
        return self._runs, len(self._latest)


def _all_of(thread: ModelThread, accesses: Accesses) -> Accesses:
    """Return the accesses of a step, and those of the code behind it that nobody sees.

    `list.sort` has emptied its list while it calls its key function, and fills it again after the
    last step that is made in there.
    """
    is_alone = accesses in (INVOKE, RETURN)
    return accesses if is_alone else joined(accesses, thread.within)


class Execution:
    """A run in progress: `actors`, `accesses` and `operations` list its events so far.

    `scenario` is the scenario that the program has set up.
    """

    watches_cycles: ClassVar[bool] = True

    def __init__(self, world: World, *, logging: bool = False) -> None:
        """Set up a run and bring every thread to its first operation; see ControlledRuntime.

        Raises ProgramRejectedError if the set-up raises.
        """
        self.program = world.program
        settings = world.program.settings
        self.runtime = self.new_runtime(world, logging=logging)
        self.actors: list[Actor] = []
        world.begin_run(self.actors)
        self.accesses: list[Accesses] = []
        self.operations: list[AtomicOperation[object] | None] = []
        self._watch = CycleWatch(self.runtime, self.actors, self.accesses, self.operations)
        self._lazy = settings.time is TimeMode.LAZY
        self.threads = self.runtime.threads
        self._ambient = use_runtime(self.runtime)
        self._ambient.__enter__()
        try:
            self.scenario = self._set_up()
            self._bring_up()
            self.runtime.add_time()
        except BaseException:
            self.close()
            raise

    def new_runtime(self, world: World, *, logging: bool) -> ControlledRuntime:
        """Return the runtime of the run."""
        program = world.program
        return ControlledRuntime(
            program.name, program.settings, world.substrate, world.numbers, logging=logging
        )

    def step(self, actor: Actor, accesses: Accesses) -> None:
        """Let `actor` perform its pending operation, which has these accesses."""
        runtime = self.runtime
        thread = self.threads[actor & THREAD_MASK]
        runtime.event = len(self.actors)
        self.actors.append(actor)
        self.accesses.append(accesses)
        self.operations.append(thread.pending)
        if actor > THREAD_MASK:
            thread.choice = actor >> THREAD_BITS
        runtime.current = thread
        thread.resume()
        runtime.current = None
        if runtime.newborn:
            self._bring_up()
        if runtime.stop is not None:
            raise runtime.stop
        if self.watches_cycles:
            self._watch.step(thread.number)

    def peek(self, actor: Actor) -> Accesses | None:
        """Return the accesses of the actor's next operation; None if it is blocked or has ended."""
        thread = self.threads.get(actor & THREAD_MASK)
        if thread is None or thread.pending is None:
            return None
        accesses = thread.pending.peek(thread)
        return _all_of(thread, accesses) if thread.within and accesses is not None else accesses

    def enabled(self) -> list[tuple[ModelThread, Accesses]]:
        """Return the threads that can make a step now, in the order of their numbers."""
        found: list[tuple[ModelThread, Accesses]] = []
        lazy_time: tuple[ModelThread, Accesses] | None = None
        for thread in self.threads.values():
            if thread.pending is not None:
                accesses = thread.pending.peek(thread)
                if accesses is None:
                    continue
                if thread.within:
                    accesses = _all_of(thread, accesses)
                if self._lazy and thread.number == TIME:
                    lazy_time = thread, accesses
                else:
                    found.append((thread, accesses))
        if lazy_time is not None and not found:
            return [lazy_time]
        return found

    def options(self) -> list[Actor]:
        """Return every step that can be made now; each value of a free choice is a step."""
        return [
            choosing(thread.number, value)
            for thread, _ in self.enabled()
            for value in range(1 if thread.pending is None else thread.pending.alternatives)
        ]

    def is_too_long(self) -> bool:
        """Tell whether to give up the run, because it is long or in a cycle."""
        made, cycle = len(self.actors), self._watch.cycle
        if cycle is not None and (cycle.endless or made >= cycle.tried):
            return True
        return made >= self.program.settings.max_steps

    def cycle(self) -> Cycle | None:
        """Return the cycle that the run is in, if any."""
        return self._watch.cycle

    def idle_rounds(self) -> list[tuple[int, int]]:
        """Return the idle rounds of cycles: the first step, and the step after the last."""
        return self._watch.rounds

    def in_order(self) -> list[tuple[ModelThread, Accesses]]:
        """Return the threads that can make a step now; a thread in a cycle comes last."""
        cycle = self._watch.cycle
        if cycle is None:
            return self.enabled()
        return sorted(self.enabled(), key=lambda step: step[0].number in cycle.actors)

    def unended(self) -> str:
        """Return why the run was given up, in words; empty if it came to an end."""
        if not self.is_too_long():
            return ""
        cycle = self._watch.cycle
        if cycle is None:
            return f"a run has not ended after {len(self.actors)} steps (max_steps)"
        return f"{cycle.thread} {cycle}; only another thread or the clock can end that"

    def unfinished(self) -> list[ModelThread]:
        """Return the threads that have not ended, time not among them."""
        return [
            thread for thread in self.threads.values() if not thread.ended and thread.number != TIME
        ]

    def require_use(self) -> None:
        """Raise the reason why the run counts for nothing, if there is one."""
        if self.runtime.anew is not None:
            raise self.runtime.anew

    def judge(self) -> Failure | None:
        """Return the failure of a run that makes no further step; None if it passes."""
        if self.runtime.cut:
            return None
        if self.runtime.breach is not None:
            return self.runtime.breach()
        race = find_data_race(self.runtime, self.actors, self.accesses, self.operations)
        if race is not None:
            return race
        for thread in self.threads.values():
            if isinstance(thread.error, SilentActionError):
                raise rejected(self.program.name, thread.error)
            if thread.error is not None:
                return Failure.of_exception(FailureKind.EXCEPTION, thread.name, thread.error)
        if self.is_too_long():
            return self._endless()
        stuck = self.unfinished()
        may_wait = self.program.settings.may_wait
        if any(not thread.daemon and thread.name not in may_wait for thread in stuck):
            return failure_of_stuck_threads(stuck, self.threads)
        return self._check()

    def seal(self) -> None:
        """Reject any further use of the run's objects; its threads are still to be unwound."""
        self.runtime.closed = True

    def close(self) -> None:
        """Unwind the threads that have not ended, and make the runtime unusable."""
        self.unwind()
        self.seal()
        self.leave()

    def unwind(self) -> None:
        """End the threads that have not ended."""
        runtime = self.runtime
        for thread in list(self.threads.values()):
            if not thread.ended and thread.number != TIME:
                thread.aborted = True
                runtime.current = thread
                thread.resume()
                runtime.current = None

    def leave(self) -> None:
        """Restore the runtime that was current before the run."""
        self._ambient.__exit__(None, None, None)

    def _set_up(self) -> Scenario:
        runtime = self.runtime
        try:
            if self.program.faults:
                runtime.environment = Faults()
            scenario = self.program.build()
            bodies = scenario.bodies(self.program.without)
            if not bodies:
                raise ValueError("a program needs at least one thread")
            for name, body in bodies.items():
                thread = runtime.add_root(body, name)
                if name == _MAIN and INTERRUPT in self.program.faults:
                    runtime.interruptible = thread
            for invariant in scenario.invariants:
                runtime.add_root(observer(invariant), f"invariant {invariant.name}")
        except ProgramRejectedError:
            raise
        except (Exception, SystemExit, GeneratorExit) as error:
            raise ProgramRejectedError(
                self.program.name,
                f"its set-up raised {type(error).__name__}: {error}",
                "mend the function that builds it",
            ) from error
        return scenario

    def _bring_up(self) -> None:
        runtime = self.runtime
        for thread in runtime.newborn:
            runtime.current = thread
            thread.resume()
            runtime.current = None
            if runtime.stop is not None:
                raise runtime.stop
        runtime.newborn.clear()

    def _endless(self) -> Failure | None:
        """Return the failure of an endless cycle; None for a run that is only long."""
        cycle = self._watch.cycle
        if cycle is None or not cycle.endless:
            return None
        return Failure(
            kind=FailureKind.NEVER_ENDS,
            thread=cycle.thread,
            message=f"from step {cycle.begin + 1} on it {cycle}, and nothing else can go on",
            cause=" ".join(sorted(set(cycle.steps))),
        )

    def _check(self) -> Failure | None:
        scenario = self.scenario
        try:
            if scenario.history is not None:
                scenario.history.check()
            if scenario.check is not None:
                raises_if_wrong(scenario.check)
        except ProgramRejectedError:
            raise
        except SilentActionError as error:
            raise rejected(self.program.name, error) from error
        except NotLinearizableError as error:
            return Failure(kind=FailureKind.NOT_LINEARIZABLE, thread=None, message=str(error))
        except (Exception, SystemExit, GeneratorExit) as error:
            return Failure.of_exception(FailureKind.CHECK, None, error)
        return None
