"""The reference's purgatory as a program for graph mode: the threads and their calls.

What is compared with Purgatory.tla is in `purgatory_view`.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import partial

from wheelproof import sync
from wheelproof.purgatory import (
    BlockingDiscipline,
    CompletionDiscipline,
    DelayedOperation,
    DelayedOperationPurgatory,
    ExclusiveDiscipline,
    Watchers,
    WatcherShard,
)
from wheelproof.units import Millis
from wheelproof_explore.program import Action, Scenario, Settings, forget
from wheelproof_lab.graph.purgatory.purgatory_timer import OneStepTimer, TimedOperation
from wheelproof_lab.graph.purgatory.purgatory_view import (
    ANSWERS,
    EXPIRATIONS,
    HOLDS,
    LOCK,
    PurgatoryStateView,
    Removals,
)
from wheelproof_lab.graph.states.views import GraphProgram, ViewedRun
from wheelproof_lab.worlds.making import discarding
from wheelproof_spec.tlc.states.values import ModelValue, Value, make_function

NONE = ModelValue(name="None")
_NOW = Millis(0)
_DISCIPLINES: Mapping[str, Callable[[sync.Monitor], CompletionDiscipline]] = {
    "blocking": BlockingDiscipline,
    "exclusive": ExclusiveDiscipline,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitors:
    """The threads, and what each does.

    `watchers` has for each thread the operation that it hands in, `keys_of` for each operation its
    keys. `triggers` has for each thread the operation whose predicate it makes true (None: no
    operation's) and the key that it checks, `cancellers` the key that it cancels. The `timers`
    expire operations, and the `purgers` purge again and again.
    """

    discipline: str
    watchers: Mapping[str, str]
    keys_of: Mapping[str, tuple[str, ...]]
    triggers: Mapping[str, tuple[str | None, str]] = field(
        default_factory=dict[str, tuple[str | None, str]]
    )
    cancellers: Mapping[str, str] = field(default_factory=dict[str, str])
    timers: tuple[str, ...] = ()
    purgers: tuple[str, ...] = ()
    purge_interval: int = 0

    def keys(self) -> frozenset[str]:
        """Return all keys."""
        return frozenset(key for keys in self.keys_of.values() for key in keys)

    def constants(self) -> dict[str, Value]:
        """Return the constants of Purgatory."""
        key_of = {name: key for name, (_, key) in self.triggers.items()} | dict(self.cancellers)
        makes = {name: NONE if made is None else made for name, (made, _) in self.triggers.items()}
        return {
            "Discipline": self.discipline,
            "Operations": frozenset(self.keys_of),
            "Keys": self.keys(),
            "KeysOf": make_function(self.keys_of.items()),
            "Watchers": frozenset(self.watchers),
            "OperationOf": make_function(self.watchers.items()),
            "Triggers": frozenset(self.triggers),
            "Makes": make_function(makes.items()),
            "Cancellers": frozenset(self.cancellers),
            "KeyOf": make_function(key_of.items()),
            "Timers": frozenset(self.timers),
            "Purgers": frozenset(self.purgers),
            "PurgeInterval": self.purge_interval,
            "Raising": frozenset(),
            "Closers": frozenset(),
            "None": NONE,
        }


class _Operation(TimedOperation):
    """An operation that can complete once its flag is set; each callback is one step."""

    __slots__ = ("_answers", "_expirations", "_holds", "lock")

    def __init__(self, discipline: Callable[[sync.Monitor], CompletionDiscipline]) -> None:
        self.lock = sync.monitor(LOCK)
        super().__init__(discipline(self.lock))
        self._holds = sync.volatile(False, HOLDS)
        self._answers = sync.atomic_integer(0, ANSWERS)
        self._expirations = sync.atomic_integer(0, EXPIRATIONS)

    def make_true(self) -> None:
        """Set the flag."""
        self._holds.set(True)

    def try_complete(self) -> bool:
        """Test the flag."""
        return self._holds.get() and self.force_complete()

    def on_complete(self) -> None:
        """Count the completion."""
        self._answers.add_and_get(1)

    def on_expiration(self) -> None:
        """Count the expiry."""
        self._expirations.add_and_get(1)


class NotingShard(WatcherShard[DelayedOperation]):
    """A shard that records which thread removes which key; the rest is the reference's code."""

    __slots__ = ("removals",)

    def __init__(self) -> None:
        super().__init__()
        self.removals = Removals()

    def remove_key_if_empty(self, key: Hashable, watchers: Watchers[DelayedOperation]) -> None:
        """Remove the key if it still maps to these watchers and they are empty."""
        with self.removals.under_way(key, watchers):
            super().remove_key_if_empty(key, watchers)


class ComparedPurgatory(DelayedOperationPurgatory[DelayedOperation]):
    """A purgatory of one shard, which records the removals under way."""

    def shard(self) -> NotingShard:
        """Return the shard, which is made if it is not there."""
        made = self._shard(0)
        assert isinstance(made, NotingShard)
        return made

    def _new_shard(self) -> WatcherShard[DelayedOperation]:
        return NotingShard()


class _Bench:
    """The objects of one run, and the actions of the threads."""

    def __init__(self, visitors: Visitors, purgatory_class: type[ComparedPurgatory]) -> None:
        self._visitors = visitors
        discipline = _DISCIPLINES[visitors.discipline]
        self.operations = {name: _Operation(discipline) for name in visitors.keys_of}
        self._nobody = sync.volatile(False, HOLDS)
        self.timer = OneStepTimer(tuple(self.operations.values()))
        self.purgatory = purgatory_class(
            "compared",
            self.timer,
            purge_interval=visitors.purge_interval,
            shards=1,
            reaper_enabled=False,
        )

    def threads(self) -> dict[str, Action]:
        """Return the action of each thread."""
        visitors = self._visitors
        threads: dict[str, Action] = {
            name: partial(self._watch, operation) for name, operation in visitors.watchers.items()
        }
        for name, (made, key) in visitors.triggers.items():
            threads[name] = partial(self._trigger, made, key)
        for name, key in visitors.cancellers.items():
            threads[name] = discarding(partial(self.purgatory.cancel_for_key, key))
        threads |= dict.fromkeys(visitors.timers, self._expire)
        threads |= dict.fromkeys(visitors.purgers, self._purge)
        return threads

    def _watch(self, name: str) -> None:
        keys = self._visitors.keys_of[name]
        self.purgatory.try_complete_else_watch(self.operations[name], keys)

    def _trigger(self, made: str | None, key: str) -> None:
        if made is None:
            self._nobody.set(True)
        else:
            self.operations[made].make_true()
        self.purgatory.check_and_complete(key)

    def _expire(self) -> None:
        while True:
            forget()
            self.timer.run_one()

    def _purge(self) -> None:
        while True:
            forget()
            self.purgatory.advance_clock(_NOW)


def purgatory(
    visitors: Visitors, purgatory_class: type[ComparedPurgatory] = ComparedPurgatory
) -> GraphProgram:
    """Return the program of a configuration, with a purgatory of `purgatory_class`."""

    def build() -> ViewedRun:
        bench = _Bench(visitors, purgatory_class)
        shard = bench.purgatory.shard()
        view = PurgatoryStateView(
            purgatory=bench.purgatory,
            shard=shard,
            removals=shard.removals,
            operations=bench.operations,
            keys=tuple(sorted(visitors.keys())),
        )
        return ViewedRun(scenario=Scenario(threads=bench.threads()), view=view)

    return GraphProgram(
        name="Purgatory",
        build=build,
        watched=(Watchers, WatcherShard),
        settings=Settings(may_wait=frozenset((*visitors.timers, *visitors.purgers))),
    )
