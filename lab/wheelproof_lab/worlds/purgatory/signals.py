"""The purgatory, of which a signal ends a call anywhere (standard 6.8).

An operation whose watch a signal has ended may be in or not. Every other one ends once, and nothing
is left of any.
"""

from collections.abc import Mapping

from wheelproof.purgatory import DelayedOperation
from wheelproof.timer import TimerTask, TimerTaskEntry
from wheelproof_explore.program import Program, Scenario
from wheelproof_lab.worlds.purgatory.purgatory import AnyPurgatory, PurgatoryWorld, TimerOfOneList
from wheelproof_lab.worlds.tables import SignalRow, act, signalled_scenario_of, signals_of


class KeepingTimer(TimerOfOneList):
    """A timer that runs at the next advance what a signal has kept it from."""

    def __init__(self) -> None:
        super().__init__()
        self._due: list[TimerTask] = []

    def advance_clock(self, timeout_ms: int) -> bool:
        """Run all tasks, and those of an advance that a signal has ended."""
        del timeout_ms
        self.bucket.flush(self._submit)
        ran = False
        while self._due:
            self.run(self._due[0])
            del self._due[0]
            ran = True
        return ran

    def _submit(self, entry: TimerTaskEntry) -> None:
        if entry.timer_task.claim(entry):
            self._due.append(entry.timer_task)


class SignalledPurgatory(PurgatoryWorld):
    """A purgatory, and what a signal may have left of a call."""

    def __init__(self, purgatory_class: type[AnyPurgatory]) -> None:
        super().__init__(purgatory_class, timer=KeepingTimer())
        self._perhaps: list[DelayedOperation] = []

    def watch(self, operation: DelayedOperation, *keys: str) -> None:
        """Hand an operation in; if a signal ends that, it may be in or not."""
        try:
            super().watch(operation, *keys)
        except KeyboardInterrupt:
            self._perhaps.append(operation)
            raise

    def cancel_key(self, key: str) -> None:
        """Cancel a key; the operations themselves say who is cancelled."""
        self.purgatory.cancel_for_key(key)

    def close(self) -> None:
        """Shut the purgatory down."""
        self._shut = True
        self.purgatory.close()

    def check(self) -> None:
        """Raise unless each operation that is in has ended by its time-out, and nothing is left."""
        self.advance()
        for operation in self.operations:
            done, cancelled = operation.is_done(), operation.is_cancelled()
            assert operation.completions == (done and not cancelled), (
                f"completed {operation.completions} times, done {done}, cancelled {cancelled}"
            )
            sure = operation in self.handed_in and operation not in self._perhaps
            assert done or not sure, "it was accepted, and has not ended"
        self.check_nothing_is_left()

    def check_found(self) -> None:
        """Raise unless a trigger of the key finds each operation that still waits there."""
        self.trigger("key")
        assert all(one.is_done() for one in self.operations), "it waits, and no trigger finds it"
        self.check()

    def check_shut(self) -> None:
        """Raise if an operation has ended twice."""
        for operation in self.operations:
            assert operation.completions <= 1, f"completed {operation.completions} times"


_WAITING = (
    act(SignalledPurgatory.watched, "key", "other"),
    act(SignalledPurgatory.watched, "key"),
    act(SignalledPurgatory.operation),
)
_ROWS: Mapping[str, SignalRow[SignalledPurgatory]] = {
    "purgatory-watch": SignalRow(
        summary="A signal ends a watch under two keys, one of which is triggered.",
        before=_WAITING[:1] + _WAITING[2:],
        places=100,
        signalled=(act(SignalledPurgatory.hand_in, 1, "key", "other"),),
        threads={"trigger": act(SignalledPurgatory.trigger, "key")},
    ),
    "purgatory-watch-expiry": SignalRow(
        summary="A signal ends a watch, while the time is over.",
        before=_WAITING[2:],
        places=110,
        signalled=(act(SignalledPurgatory.hand_in, 0, "key", "other"),),
        threads={"advance": act(SignalledPurgatory.advance)},
    ),
    "purgatory-trigger": SignalRow(
        summary="A signal ends a trigger, while another key is triggered.",
        before=_WAITING,
        places=160,
        signalled=(act(SignalledPurgatory.trigger, "key"),),
        threads={"trigger": act(SignalledPurgatory.check_key, "other")},
    ),
    "purgatory-advance": SignalRow(
        summary="A signal ends an advance, while a key is triggered.",
        before=_WAITING[:2],
        places=200,
        signalled=(act(SignalledPurgatory.advance),),
        threads={"trigger": act(SignalledPurgatory.trigger, "other")},
    ),
    "purgatory-force": SignalRow(
        summary="A signal ends a completion by force, while a key is triggered.",
        before=_WAITING[:1],
        places=50,
        signalled=(act(SignalledPurgatory.force, 0),),
        threads={"trigger": act(SignalledPurgatory.trigger, "key")},
    ),
    "purgatory-cancel": SignalRow(
        summary="A signal ends the cancelling of a key, which is triggered.",
        before=_WAITING[:2],
        places=90,
        signalled=(act(SignalledPurgatory.cancel_key, "key"),),
        threads={"trigger": act(SignalledPurgatory.trigger, "other")},
        check=SignalledPurgatory.check_found,
    ),
    "purgatory-purge": SignalRow(
        summary="A signal ends a purge, while an operation is handed in.",
        before=(*_WAITING, act(SignalledPurgatory.force, 0)),
        places=110,
        signalled=(act(SignalledPurgatory.purge),),
        threads={"watch": act(SignalledPurgatory.hand_in, 2, "key")},
    ),
    "purgatory-look": SignalRow(
        summary="A signal ends a question, while a key is triggered.",
        before=_WAITING[:1],
        places=50,
        signalled=(act(SignalledPurgatory.look),),
        threads={"trigger": act(SignalledPurgatory.trigger, "key")},
    ),
    "purgatory-close": SignalRow(
        summary="A signal ends a shutdown, which is made again, while an operation is handed in.",
        before=_WAITING,
        places=10,
        signalled=(act(SignalledPurgatory.close), act(SignalledPurgatory.close)),
        threads={"watch": act(SignalledPurgatory.hand_in_or_be_refused, 2, "key")},
        check=SignalledPurgatory.check_shut,
    ),
}


def _build(row: SignalRow[SignalledPurgatory], purgatory_class: type[AnyPurgatory]) -> Scenario:
    return signalled_scenario_of(row, SignalledPurgatory(purgatory_class))


def signals_with(purgatory_class: type[AnyPurgatory]) -> tuple[Program, ...]:
    """Return the programs in which a signal ends a call."""
    return signals_of(_ROWS, _build, purgatory_class)
