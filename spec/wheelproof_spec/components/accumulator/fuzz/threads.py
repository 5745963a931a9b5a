"""The threaded machine of the record accumulator: appenders, flushes, and a sender.

After each burst every record that was accepted has had one outcome, in the order in which its
thread appended, every flush has waited for what was accepted before it, and all memory is back.
Threads interrupt each other and close the accumulator, by force or not: the next burst has a new
one.
"""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from hypothesis import strategies as st

from wheelproof.errors import ThreadInterruptedError
from wheelproof.producer import (
    AccumulatorConfig,
    BufferPool,
    Cluster,
    NodeId,
    ProducerClosedError,
    Record,
    RecordAccumulator,
    RecordMetadata,
    TopicPartition,
)
from wheelproof.sync import use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.units import Millis
from wheelproof_spec.base.fuzz_report import FuzzReport
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.accumulator.oracle import AccumulatorClause
from wheelproof_spec.engines.fuzz.burst import BurstError, run_burst
from wheelproof_spec.engines.fuzz.bursts import run_burst_fuzz
from wheelproof_spec.engines.fuzz.interruptions import Interruptions
from wheelproof_spec.engines.fuzz.threaded_case import Burst, Setup, ThreadedCase
from wheelproof_spec.engines.runtimes.hooks import InstrumentedRuntime

_NODE = NodeId(0)
_PARTITIONS = tuple(TopicPartition("topic", number) for number in range(2))
_CLUSTER = Cluster(leaders=dict.fromkeys(_PARTITIONS, _NODE))
_REQUEST = 2**20
_BREATH_S = 1e-5


def run_threaded_accumulator_fuzz(
    accumulator_class: type[RecordAccumulator],
    *,
    cases: int,
    seed: int,
    seconds: float | None = None,
    repeat: str = "wheelproof fuzz accumulator --threads real --seed {seed}",
    progress: Callable[[FuzzReport], None] | None = None,
) -> FuzzReport:
    """Run bursts of threads on `accumulator_class`; see `run_burst_fuzz`."""
    return run_burst_fuzz(
        "accumulator, real threads",
        partial(AccumulatorUnderTest, accumulator_class),
        _setups(),
        _calls(),
        cases=cases,
        seed=seed,
        seconds=seconds,
        repeat=repeat,
        progress=progress,
    )


class AccumulatorUnderTest:
    """An accumulator, and what its callbacks were told."""

    def __init__(self, accumulator_class: type[RecordAccumulator], case: ThreadedCase) -> None:
        setup = dict(case.setup)
        self._split_one_in = setup["split_one_in"]
        self._total, self._batch_size = setup["total_memory"], setup["batch_size"]
        self._accumulator_class = accumulator_class
        self._runtime = InstrumentedRuntime(ThreadsRuntime(), case.preemption())
        self._interruptions = Interruptions()
        self._open()
        self._lock = threading.Lock()
        self._names = itertools.count()
        self._accepted: dict[str, list[int]] = {}
        self._told: dict[str, list[int]] = {}
        self._at_work = 0
        self._offset = 0
        self._responses = 0
        self._violation: Violation | None = None

    def run(self, burst: Burst) -> Violation | None:
        """Run one burst, with a sender beside it, and judge what was seen."""
        self._at_work = len(burst)
        self._interruptions = Interruptions()
        if self._closing:
            self._open()
        programs: list[list[Callable[[], None]]] = [
            [*(partial(self._call, words, f"{number}") for words in program), self._leave]
            for number, program in enumerate(burst)
        ]
        try:
            run_burst([*programs, [self._serve]])
        except BurstError as error:
            return replace(error.violation, rule=AccumulatorClause.NO_APPEND_WAITS_IN_VAIN)
        return self._violation or self._judge()

    def _open(self) -> None:
        self._closing = self._closed = self._aborting = False
        with use_runtime(self._runtime):
            self._pool = BufferPool(self._total, self._batch_size)
            config = AccumulatorConfig(batch_size=self._batch_size)
            self._accumulator = self._accumulator_class(self._pool, config)

    def _call(self, words: str, thread: str) -> None:
        self._interruptions.join_in()
        try:
            match words.split(" "):
                case ["append", partition, size]:
                    self._append(int(partition), int(size), f"thread {thread} to {partition}")
                case ["interrupt", number]:
                    self._interruptions.interrupt(int(number))
                case ["flush"]:
                    self._flush()
                case ["close"]:
                    self._close()
                case ["abort"]:
                    # The sender's to do.
                    self._aborting = True
                case _:
                    raise AssertionError(words)
        except ProducerClosedError:
            if not self._closing:
                self._note(AccumulatorClause.APPEND_ENDS_FOR_A_REASON, f"{words}: nobody closes")
        except ThreadInterruptedError:
            if not self._interruptions.allow():
                observed = f"{words}: nobody interrupted it"
                self._note(AccumulatorClause.APPEND_ENDS_FOR_A_REASON, observed)

    def _append(self, partition: int, size: int, source: str) -> None:
        number = next(self._names)
        closed_before = self._closed
        self._accumulator.append(
            _PARTITIONS[partition],
            Record(timestamp_ms=0, value=bytes(size)),
            partial(self._on_completion, source, number),
        )
        with self._lock:
            self._accepted.setdefault(source, []).append(number)
            if closed_before:
                self._note(AccumulatorClause.APPEND_FINDS_ROOM, "a closed accumulator took it")

    def _close(self) -> None:
        self._closing = True
        self._accumulator.close()
        self._closed = True

    def _flush(self) -> None:
        with self._lock:
            accepted = {source: len(numbers) for source, numbers in self._accepted.items()}
        self._accumulator.begin_flush()
        self._accumulator.await_flush_completion()
        with self._lock:
            for source, count in accepted.items():
                if len(self._told.get(source, ())) < count:
                    self._note(AccumulatorClause.FLUSH_WAITS, f"{source}: {count} were accepted")

    def _on_completion(
        self, source: str, number: int, metadata: RecordMetadata | None, error: Exception | None
    ) -> None:
        del metadata, error
        with self._lock:
            self._told.setdefault(source, []).append(number)

    def _leave(self) -> None:
        with self._lock:
            self._at_work -= 1

    def _serve(self) -> None:
        """Be the sender until everybody else has ended and nothing is left to send."""
        while self._at_work or self._aborting or self._accumulator.has_undrained():
            if self._aborting:
                self._aborting = False
                self._close()
                self._accumulator.abort_incomplete_batches()
            batches = self._accumulator.drain(_CLUSTER, [_NODE], _REQUEST, Millis(0))[_NODE]
            for batch in batches:
                self._responses += 1
                if self._responses % self._split_one_in == 0 and len(batch.thunks) > 1:
                    self._accumulator.split_and_reenqueue(batch)
                else:
                    self._accumulator.complete_batch(batch, self._offset)
                    self._offset += len(batch.thunks)
            time.sleep(_BREATH_S)

    def _judge(self) -> Violation | None:
        if Counter(self._flat(self._told)) != Counter(self._flat(self._accepted)):
            self._note(AccumulatorClause.COMPLETES_ONCE, f"told of {self._told}")
        elif self._told != self._accepted:
            self._note(AccumulatorClause.IN_ORDER, f"told of {self._told}")
        elif self._accumulator.has_incomplete() or self._accumulator.flush_in_progress():
            self._note(AccumulatorClause.NOTHING_IS_LEFT, "a batch or a flush is left")
        elif self._pool.available_memory() != self._pool.total_memory:
            self._note(AccumulatorClause.MEMORY_IS_CONSERVED, str(self._pool.usage()))
        return self._violation

    def _flat(self, numbers: dict[str, list[int]]) -> list[int]:
        return [number for of_source in numbers.values() for number in of_source]

    def _note(self, clause: AccumulatorClause, observed: str) -> None:
        self._violation = Violation(
            rule=clause,
            expected=f"what was accepted: {self._accepted}",
            observed=observed,
            reason="a burst of threads has shown it",
        )


def _setups() -> st.SearchStrategy[Setup]:
    return st.builds(_setup, st.integers(1, 3), st.sampled_from((2, 1_000)))


def _setup(batches: int, split_one_in: int) -> Setup:
    return ("total_memory", 100 * batches), ("batch_size", 100), ("split_one_in", split_one_in)


def _calls() -> st.SearchStrategy[str]:
    appends = st.builds("append {} {}".format, st.integers(0, 1), st.sampled_from((0, 3, 10)))
    interruptions = st.builds("interrupt {}".format, st.integers(0, 3))
    rare = st.sampled_from(("close", "abort", *("flush",) * 6))
    return st.one_of(*[appends] * 5, st.just("flush"), interruptions, rare)
