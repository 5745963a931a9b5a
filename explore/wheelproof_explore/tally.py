"""The counts of a program's runs in one process; the tallies of several processes can be added."""

from dataclasses import dataclass, field

from wheelproof_explore.failures.failure import Failure, FailureKind
from wheelproof_explore.runs.canonical import ClassNames, SetDigest
from wheelproof_explore.runs.execution import Execution
from wheelproof_explore.runs.sharing import Sharing
from wheelproof_explore.runtime.numbers import Actor


@dataclass(slots=True)
class Tally:
    """Counts of runs, the names of their classes, and the first failing run with its steps.

    `blocked` counts runs in other processes that ended in steps which were explored already.
    `cut` counts runs that ended at an assumption that did not hold.
    `given_up` counts runs that did not come to their end; `why` is the reason of the first one.
    `too_long` is whether a run was given up only for its length: other runs may be as long.
    `called` are the calls that might have failed in some run.
    `looks_at_clock` is whether code of the program has read one of Python's clocks.
    `needs_roster` is whether a run asked for a list of threads that was not kept.
    """

    runs: int = 0
    blocked: int = 0
    failing: int = 0
    deadlocks: int = 0
    depth: int = 0
    cut: int = 0
    given_up: int = 0
    why: str = ""
    too_long: bool = False
    looks_at_clock: bool = False
    needs_roster: bool = False
    for_graph_mode: bool = False
    called: set[str] = field(default_factory=set[str])
    first: tuple[Failure, tuple[Actor, ...]] | None = None
    classes: set[bytes] = field(default_factory=set[bytes])
    digest: SetDigest = field(default_factory=SetDigest)
    sharing: Sharing = field(default_factory=Sharing)

    def note(self, execution: Execution, names: ClassNames, *, complete: bool) -> None:
        """Record a finished run; `complete` is whether every class will be run."""
        self.runs += 1
        self.called |= execution.runtime.called
        self.looks_at_clock |= execution.runtime.looks_at_clock
        if execution.runtime.cut:
            self.cut += 1
            return
        self.depth = max(self.depth, len(execution.actors))
        failure = execution.judge()
        self.sharing.note(execution)
        scenario = execution.scenario
        self.for_graph_mode = bool(scenario.sometimes or scenario.leads_to or scenario.wakes)
        unended = "" if failure is not None else execution.unended()
        if unended:
            self.given_up += 1
            self.why = self.why or unended
            self.too_long = execution.cycle() is None and complete
            return
        self._add(names.name(execution))
        if failure is not None:
            self.failing += 1
            self.deadlocks += failure.kind is FailureKind.DEADLOCK
            if self.first is None:
                self.first = failure, tuple(execution.actors)

    def add(self, other: "Tally") -> None:
        """Add the tally of another process."""
        self.runs += other.runs
        self.blocked += other.blocked
        self.failing += other.failing
        self.deadlocks += other.deadlocks
        self.depth = max(self.depth, other.depth)
        self.cut += other.cut
        self.given_up += other.given_up
        self.why = self.why or other.why
        self.too_long |= other.too_long
        self.looks_at_clock |= other.looks_at_clock
        self.needs_roster |= other.needs_roster
        self.for_graph_mode |= other.for_graph_mode
        self.first = self.first or other.first
        self.called |= other.called
        self.sharing.add(other.sharing)
        for name in other.classes:
            self._add(name)

    def gap(self) -> str:
        """Return in a sentence why the runs show nothing; empty if they show something."""
        if self.for_graph_mode and not self.given_up:
            return "its sometimes, leads_to and wakes are judged by --engine graph alone"
        if self.runs and self.cut == self.runs:
            return "an assumption cuts off every run"
        if not self.given_up:
            return self.sharing.gap()
        return f"{self.given_up:,} of {self.runs:,} runs were given up: {self.why}"

    def _add(self, name: bytes) -> None:
        if name not in self.classes:
            self.classes.add(name)
            self.digest.add(name)
