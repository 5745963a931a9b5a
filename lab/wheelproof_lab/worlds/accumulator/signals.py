"""The accumulator, of which a signal ends a call anywhere (standard 6.8).

A call that a signal has ended may have happened or not. Every other record still has its outcome,
once, and all memory comes back. A callback that a signal ends counts as called.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wheelproof.producer import ProducerAbortedError, ProducerBatch, RecordAccumulator
from wheelproof.producer.accumulator.appends_in_progress import AppendsInProgress
from wheelproof.producer.byte_buffer import ByteBuffer
from wheelproof_explore.program import Program, Scenario
from wheelproof_lab.worlds.accumulator.bench import AccumulatorBench
from wheelproof_lab.worlds.tables import SignalRow, act, signalled_scenario_of, signals_of

_APPENDS = "_appends_in_progress"
_FLUSH = "RecordAccumulator.await_flush_completion"
_CALLBACK = "_fire"


class SignalledBench(AccumulatorBench):
    """An accumulator, and what a signal may have done to it."""

    def __init__(self, accumulator_class: type[RecordAccumulator], batches: int) -> None:
        super().__init__(accumulator_class, batches)
        self._ended: set[str] = set()
        self._flying: list[ProducerBatch] = []
        self._closes = False

    def append(self, name: str, number: int = 0) -> None:
        """Append a record; if a signal ends that, the record may be in or not."""
        self._ended.add(name)
        super().append(name, number)
        self._ended.remove(name)

    def end_append(self) -> None:
        """End an append, and once more if a signal came before it was counted."""
        ended: list[bool] = []
        try:
            self.appends.end(ended)
        except BaseException:
            if not ended:
                self.appends.end(ended)
            raise

    def close_when_asked(self) -> None:
        """Close the accumulator as soon as an append asks for memory."""
        self._closes = True

    def take(self) -> None:
        """Drain, and keep the batches in flight."""
        self._flying = self.drain()

    def drain_only(self) -> None:
        """Drain, and complete nothing."""
        self.drain()

    def complete(self) -> None:
        """Complete the batch in flight."""
        self.accumulator.complete_batch(self._flying[0], 0)

    def fail_it(self) -> None:
        """Fail the batch in flight."""
        self.accumulator.fail_batch(self._flying[0], ProducerAbortedError("not stored"))

    def try_again(self) -> None:
        """Put the batch in flight back into its queue."""
        self.accumulator.reenqueue(self._flying[0], self.clock.hi_res_clock_ms())

    def settle(self) -> None:
        """Store what is in flight and what is queued."""
        for batch in self.accumulator.in_flight():
            self.store(batch)
        self.send()

    def await_flush(self) -> None:
        """Wait for the end of the flush."""
        self.accumulator.await_flush_completion()

    def await_flush_again(self) -> None:
        """Wait for the end of the flush, if a signal came before the first wait had begun."""
        if self.place().startswith("call") and self.place().endswith(_FLUSH):
            self.accumulator.await_flush_completion()

    def start_flush(self) -> None:
        """Begin a flush that a thread waits for."""
        self.accumulator.begin_flush()

    def check(self) -> None:
        """Settle what a signal has left; raise unless everything has ended."""
        for batch in self.accumulator.in_flight():
            self.store(batch)
        super().check()

    def check_ended(self) -> None:
        """Raise unless each accepted record has one outcome, and no append is under way."""
        super().check_ended()
        appends: AppendsInProgress = getattr(self.accumulator, _APPENDS)
        _require_none_under_way(appends)

    def _allocate(self, size: int) -> ByteBuffer:
        if self._closes:
            self.accumulator.close()
        return super()._allocate(size)

    def _require_outcomes(self, outcomes: Sequence[str]) -> None:
        assert len(outcomes) == len(set(outcomes)), f"two outcomes: {outcomes}"
        strangers = set(outcomes) - set(self.accepted) - self._ended
        assert not strangers, f"refused, and told the outcome of {strangers}"
        missing = set(self.accepted) - set(outcomes)
        unheard = 1 if _CALLBACK in self.place() else 0
        assert len(missing) <= unheard, f"accepted, and not told the outcome of {missing}"


def _require_none_under_way(appends: AppendsInProgress) -> None:
    """Raise unless no append is under way, by the answers alone."""
    # It does not wait: never have so few ended.
    assert not appends.await_another(-1), "an append that is over counts"
    appends.begin()
    assert appends.await_another(-1), "an append has ended twice"
    appends.end()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row(SignalRow[SignalledBench]):
    """Threads that use one accumulator, whose pool has memory for some `batches`."""

    batches: int


_ROWS: Mapping[str, _Row] = {
    "accumulator-append": _Row(
        summary="A signal ends an append to a batch that the sender is taking.",
        batches=1,
        before=(act(SignalledBench.append, "a"),),
        places=170,
        signalled=(act(SignalledBench.append, "b"),),
        threads={"sender": act(SignalledBench.send)},
    ),
    "accumulator-append-new": _Row(
        summary="A signal ends an append that makes a batch, as another append does.",
        batches=2,
        places=200,
        signalled=(act(SignalledBench.append, "a"),),
        threads={"append": act(SignalledBench.append, "b")},
    ),
    "accumulator-append-waits": _Row(
        summary="A signal ends an append that waits for the memory of a batch that is sent.",
        batches=1,
        before=(act(SignalledBench.append, "a"), act(SignalledBench.append, "b")),
        places=210,
        signalled=(act(SignalledBench.append, "c"),),
        threads={"sender": act(SignalledBench.send)},
    ),
    "accumulator-append-closed": _Row(
        summary="A signal ends an append that is refused after it has got its memory.",
        batches=2,
        places=150,
        before=(act(SignalledBench.close_when_asked),),
        signalled=(act(SignalledBench.append, "a"),),
        threads={"sender": act(SignalledBench.send)},
    ),
    "accumulator-append-abort": _Row(
        summary="A signal ends an append during a forced close, which waits for it no longer.",
        batches=1,
        places=180,
        signalled=(act(SignalledBench.append, "a"),),
        threads={"abort": act(SignalledBench.abort)},
        check=SignalledBench.check_ended,
    ),
    "accumulator-append-ends": _Row(
        summary="A signal ends the end of an append that two aborts wait for; the other goes on.",
        batches=1,
        before=(act(SignalledBench.begin_append), act(SignalledBench.begin_append)),
        places=30,
        signalled=(act(SignalledBench.end_append),),
        threads={
            "abort": act(SignalledBench.await_an_append, 2, 0),
            "another": act(SignalledBench.await_an_append, 2, 0),
        },
    ),
    "accumulator-append-flush": _Row(
        summary="A signal ends an append whose batch a flush has seen.",
        batches=1,
        places=180,
        signalled=(act(SignalledBench.append, "a"), act(SignalledBench.settle)),
        threads={"flush": act(SignalledBench.flush)},
    ),
    "accumulator-drain": _Row(
        summary="A signal ends a drain, and the sender does not get what it has taken.",
        batches=3,
        before=(act(SignalledBench.append, "a"), act(SignalledBench.append, "b", 1)),
        places=90,
        signalled=(act(SignalledBench.drain_only),),
        threads={"append": act(SignalledBench.append, "c")},
    ),
    "accumulator-complete": _Row(
        summary="A signal ends the completion of a batch whose memory an append waits for.",
        batches=1,
        before=(act(SignalledBench.append, "a"), act(SignalledBench.take)),
        places=60,
        signalled=(act(SignalledBench.complete), act(SignalledBench.settle)),
        threads={"append": act(SignalledBench.append, "b")},
    ),
    "accumulator-fail": _Row(
        summary="A signal ends the failure of a batch whose memory an append waits for.",
        batches=1,
        before=(act(SignalledBench.append, "a"), act(SignalledBench.take)),
        places=50,
        signalled=(act(SignalledBench.fail_it), act(SignalledBench.settle)),
        threads={"append": act(SignalledBench.append, "b")},
    ),
    "accumulator-reenqueue": _Row(
        summary="A signal ends a call that puts a batch back, while a record is appended.",
        batches=2,
        before=(act(SignalledBench.append, "a"), act(SignalledBench.take)),
        places=30,
        signalled=(act(SignalledBench.try_again),),
        threads={"append": act(SignalledBench.append, "b")},
    ),
    "accumulator-flush": _Row(
        summary="A signal ends a flush that waits for a batch, which the sender sends.",
        batches=1,
        before=(
            act(SignalledBench.append, "a"),
            act(SignalledBench.take),
            act(SignalledBench.start_flush),
        ),
        places=30,
        signalled=(act(SignalledBench.await_flush), act(SignalledBench.await_flush_again)),
        threads={"sender": act(SignalledBench.settle)},
    ),
    "accumulator-begin-flush": _Row(
        summary="A signal ends the beginning of a flush.",
        batches=1,
        before=(act(SignalledBench.append, "a"),),
        places=10,
        signalled=(act(SignalledBench.begin_flush),),
        threads={"look": act(SignalledBench.look, "a")},
    ),
    "accumulator-close": _Row(
        summary="A signal ends a close, which is made again: an append that waits is refused.",
        batches=1,
        before=(act(SignalledBench.append, "a"), act(SignalledBench.append, "b")),
        places=20,
        signalled=(act(SignalledBench.close), act(SignalledBench.close)),
        threads={"append": act(SignalledBench.append, "c")},
    ),
    "accumulator-abort": _Row(
        summary="A signal ends a forced close, which is made again, during an append.",
        batches=1,
        before=(
            act(SignalledBench.append, "a"),
            act(SignalledBench.append, "b"),
            act(SignalledBench.close),
        ),
        places=80,
        signalled=(
            act(SignalledBench.abort_without_close),
            act(SignalledBench.abort_without_close),
        ),
        threads={"append": act(SignalledBench.append, "c")},
        check=SignalledBench.check_ended,
    ),
    "accumulator-look": _Row(
        summary="A signal ends a question, while a record is appended.",
        batches=1,
        before=(act(SignalledBench.append, "a"),),
        places=80,
        signalled=(act(SignalledBench.look, "a"),),
        threads={"append": act(SignalledBench.append, "b")},
    ),
}


def _build(row: _Row, accumulator_class: type[RecordAccumulator]) -> Scenario:
    return signalled_scenario_of(row, SignalledBench(accumulator_class, row.batches))


def signals_with(accumulator_class: type[RecordAccumulator]) -> tuple[Program, ...]:
    """Return the programs in which a signal ends a call."""
    return signals_of(_ROWS, _build, accumulator_class)
