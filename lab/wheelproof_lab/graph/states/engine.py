"""Exploration of every reachable state of a program.

A state has the values of all locks, cells and guarded fields, and a number for the local state of
each thread. The first step out of a new state continues the run that found it; for each other
step the program is run again along a path to the state. A run that comes to a known state ends
there. A step is not made if it commutes with the step before and the other order is known.
"""

import random
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from wheelproof_explore.failures.failure import Failure, FailureKind
from wheelproof_explore.failures.problems import (
    ProgramRejectedError,
    SilentActionError,
    rejected,
)
from wheelproof_explore.program import Program, Scenario, raises_if_wrong
from wheelproof_explore.runs.execution import World
from wheelproof_explore.runs.guard import forbidden_calls, watchdog
from wheelproof_explore.runs.sharing import Sharing
from wheelproof_explore.runs.waits import failure_of_stuck_threads
from wheelproof_explore.runtime.accesses import Accesses, dependent
from wheelproof_explore.runtime.numbers import THREAD_MASK, TIME, Actor, thread_of
from wheelproof_explore.strategies.strategy import nondeterminism
from wheelproof_explore.substrates.substrate import (
    Substrate,
    SubstrateKind,
    open_substrate,
)
from wheelproof_lab.graph.states.fields import FieldAccesses, watched_fields
from wheelproof_lab.graph.states.observed_run import Key, ObservedRun, ReplayNotes
from wheelproof_lab.graph.states.observed_runtime import Numbers
from wheelproof_lab.graph.states.state_graph import Arc, Observation, ProgramGraph, observe
from wheelproof_lab.graph.states.views import GraphProgram, Surroundings, ViewedRun

MAX_STATES = 1_000_000
_WALKS = 32
_LONGEST_WALK = 200
_SEED = 3


def explore_graph(
    program: GraphProgram,
    *,
    substrate: SubstrateKind = SubstrateKind.GREENLET,
    max_states: int | None = None,
    commuting: bool = True,
    progress: Callable[[int], None] | None = None,
) -> ProgramGraph:
    """Return the graph of `program`; `progress` is called with the number of states at intervals.

    After `max_states` (None: MAX_STATES) the search ends, and the graph is incomplete. Without
    `commuting` every step is made, which is slow and only for tests.
    Raises ProgramRejectedError for what cannot be explored, ModuleNotFoundError without greenlet.
    """
    with ExitStack() as stack:
        fibers = open_substrate(substrate)
        stack.callback(fibers.close)
        stack.enter_context(forbidden_calls(program.name))
        fields = stack.enter_context(watched_fields(program.watched, program.watched_fields))
        bound = max_states or MAX_STATES
        search = _GraphSearch(program, fibers, fields, bound, commuting, progress)
        if substrate is SubstrateKind.GREENLET:
            stack.enter_context(watchdog(program.name, search.world.progress))
        return search.run()


def _hidden_state(program: str) -> ProgramRejectedError:
    return ProgramRejectedError(
        program,
        "different things follow from what looks like one state, so its threads share what is "
        "neither a cell nor a lock",
        "declare it in `shares`, or make nothing depend on time, randomness or addresses",
    )


@dataclass(frozen=True, slots=True)
class _Made:
    """A step that has been made, and all its accesses."""

    arc: Arc
    accesses: Accesses


@dataclass(slots=True, kw_only=True)
class _FoundState:
    """A found state: its parent, the steps left to make, and the known steps out of it and in."""

    key: Key
    parent: tuple[int, Actor] | None
    left: list[Actor]
    memory: ReplayNotes
    steps: dict[Actor, _Made] = field(default_factory=dict[Actor, _Made])
    came: list[tuple[int, Actor]] = field(default_factory=list[tuple[int, Actor]])


class _GraphSearch:
    def __init__(
        self,
        program: GraphProgram,
        substrate: Substrate,
        fields: FieldAccesses,
        max_states: int,
        commuting: bool,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._program = program
        self._max_states = max_states
        self._commuting = commuting
        self._fields = fields
        self._progress = progress
        self.world = World(
            Program(name=program.name, summary="", build=self._build, settings=program.settings),
            substrate,
        )
        self._numbers = Numbers()
        self._viewed: ViewedRun | None = None
        self._known: dict[Key, int] = {}
        self._states: list[_FoundState] = []
        self._finished = 0
        self._observations: dict[Observation, Observation] = {}
        self.graph = ProgramGraph()
        self._sharing = Sharing()

    def run(self) -> ProgramGraph:
        """Explore the program, and return its graph."""
        run = self._new_run()
        try:
            here = self._visit(run, run.key(), None)
            self.graph.unseen = set(self._here().sometimes)
            self.graph.first_wait = len(self._here().facts)
            self._look(run, here)
            while True:
                if not self._has_more(here):
                    unfinished = self._first_unfinished()
                    if unfinished is None:
                        self._walk_again()
                        self.graph.gap = self._sharing.gap(of_one_thread=True)
                        return self.graph
                    run.close()
                    here = unfinished
                    run = self._new_run()
                    self._replay(run, here)
                here = self._advance(run, here)
                if len(self._states) >= self._max_states:
                    self.graph.complete = False
                    return self.graph
        except KeyboardInterrupt:
            self.graph.complete, self.graph.interrupted = False, True
            return self.graph
        finally:
            run.close()

    def _first_unfinished(self) -> int | None:
        """Return the first state with a step left to make: its replay is short."""
        while self._finished < len(self._states):
            if self._has_more(self._finished):
                return self._finished
            self._finished += 1
        return None

    def _walk_again(self) -> None:
        """Walk at random, and check that the code does what the graph says.

        If it does not, states that differ in undeclared shared state were taken for one state.
        """
        draw = random.Random(_SEED)
        for _ in range(_WALKS):
            run = self._new_run()
            try:
                self._walk(run, draw)
            finally:
                run.close()

    def _walk(self, run: ObservedRun, draw: random.Random) -> None:
        here = 0
        for _ in range(_LONGEST_WALK):
            arcs = self.graph.arcs[here]
            if {arc.actor for arc in arcs} != set(self._options_of(run, run.surroundings())):
                raise _hidden_state(self._program.name)
            if not arcs:
                return
            arc = draw.choice(arcs)
            run.make(arc.actor)
            if self._known.get(run.key()) != arc.target:
                raise _hidden_state(self._program.name)
            here = arc.target

    def _build(self) -> Scenario:
        self._viewed = self._program.build()
        return self._viewed.scenario

    def _here(self) -> ViewedRun:
        assert self._viewed is not None
        return self._viewed

    def _new_run(self) -> ObservedRun:
        return ObservedRun(self.world, self._numbers, self._fields)

    def _has_more(self, here: int) -> bool:
        """Tell whether a step out of the state has to be made; first add those that need not."""
        state = self._states[here]
        if self._commuting and state.left:
            state.left = [actor for actor in state.left if not self._commutes(here, actor)]
        return bool(state.left)

    def _commutes(self, here: int, actor: Actor) -> bool:
        """Add the step if the other order of it and a step before is known; tell whether it is."""
        for before, other in self._states[here].came:
            steps = self._states[before].steps
            known = steps.get(actor)
            if known is None or (actor ^ other) & THREAD_MASK == 0 or TIME in (actor, other):
                continue
            last = self._states[known.arc.target].steps.get(other)
            if last is not None and not dependent(known.accesses, steps[other].accesses):
                self._add(here, replace(known.arc, target=last.arc.target), known.accesses)
                return True
        return False

    def _advance(self, run: ObservedRun, here: int) -> int:
        """Make one step that has not been made yet, and return the state that it leads to."""
        actor = self._states[here].left.pop()
        step = run.next_step(actor)
        label = self._here().view.label(step)
        operation = run.threads[thread_of(actor)].pending
        accesses = run.make(actor)
        assert accesses is not None
        assert operation is not None
        self._sharing.step(run, actor, operation, accesses)
        key = run.key()
        there = self._known.get(key)
        if there is None:
            there = self._visit(run, key, (here, actor))
            self._look(run, there)
        elif run.words() != self._states[there].memory.words:
            raise _hidden_state(self._program.name)
        text = self._numbers.same(f"{step.thread}: {step.text}")
        self._add(here, Arc(actor, there, text, label), accesses)
        return there

    def _add(self, here: int, arc: Arc, accesses: Accesses) -> None:
        self.graph.arcs[here].append(arc)
        self._states[here].steps[arc.actor] = _Made(arc, accesses)
        self._states[arc.target].came.append((here, arc.actor))

    def _replay(self, run: ObservedRun, node: int) -> None:
        path: list[Actor] = []
        here = self._states[node]
        while here.parent is not None:
            before, actor = here.parent
            path.append(actor)
            here = self._states[before]
        state = self._states[node]
        if not run.replay(path[::-1], state.memory, state.key):
            raise nondeterminism(run)

    def _visit(self, run: ObservedRun, key: Key, parent: tuple[int, Actor] | None) -> int:
        node = self._known[key] = len(self._states)
        surroundings = run.surroundings()
        self._states.append(
            _FoundState(
                key=key,
                parent=parent,
                left=self._options_of(run, surroundings),
                memory=run.remember(),
            )
        )
        self._take_down(run, node)
        observation = observe(self._here().view.state(surroundings))
        self.graph.observations.append(self._observations.setdefault(observation, observation))
        self.graph.arcs.append([])
        if self._progress is not None and not len(self._states) % 1_000:
            self._progress(len(self._states))
        return node

    def _take_down(self, run: ObservedRun, node: int) -> None:
        """Record for the judgement which threads can go on, which have ended, which facts hold."""
        graph, viewed = self.graph, self._here()
        ended = 0
        for thread in run.threads.values():
            bit = graph.add_thread(thread.number, thread.name)
            if thread.ended:
                ended |= bit
        owed = 0
        for actor in self._states[node].left:
            if run.is_owed(actor):
                owed |= graph.bit_of(actor)
        facts = 0
        for place, holds in enumerate(viewed.facts):
            facts |= holds() << place
        for wakes in viewed.wakes:
            if wakes.when():
                for thread in run.waiting_on(wakes.condition):
                    waits = thread.name, getattr(wakes.condition, "name", "")
                    place = graph.waits.setdefault(waits, len(graph.waits))
                    facts |= 1 << len(viewed.facts) + place
        graph.owed.append(owed)
        graph.ended.append(ended)
        graph.facts.append(facts)

    def _options_of(self, run: ObservedRun, surroundings: Surroundings) -> list[Actor]:
        permits = self._here().view.permits
        return [
            actor
            for actor in reversed(run.options())
            if permits(run.next_step(actor), surroundings)
        ]

    def _look(self, run: ObservedRun, node: int) -> None:
        viewed = self._here()
        failures = self.graph.failures
        for thread in run.threads.values():
            if isinstance(thread.error, SilentActionError):
                raise rejected(self._program.name, thread.error)
            if thread.error is not None:
                error = thread.error
                failures[node] = f"{thread.name} raised {type(error).__name__}: {error}"
        for name, holds in viewed.invariants.items():
            if not holds():
                failures[node] = f"the invariant {name} is broken"
        for name in [name for name in self.graph.unseen if viewed.sometimes[name]()]:
            self.graph.unseen.discard(name)
        if not self._states[node].left and node not in failures:
            may_wait = self._program.settings.may_wait
            stuck = [thread for thread in run.unfinished() if thread.name not in may_wait]
            if stuck:
                failures[node] = failure_of_stuck_threads(stuck, run.threads).sentence()
            else:
                self._check(node)

    def _check(self, node: int) -> None:
        check = self._here().scenario.check
        if check is None:
            return
        try:
            raises_if_wrong(check)
        except SilentActionError as error:
            raise rejected(self._program.name, error) from error
        except (Exception, SystemExit, GeneratorExit) as error:
            failure = Failure.of_exception(FailureKind.CHECK, None, error)
            self.graph.failures[node] = failure.sentence()
