"""The cases of the record accumulator: what Kafka's own tests ask (semantics.md 5), and drawn ones.

A record whose value has 3 bytes takes 10 in a batch, after the 61 of its header; before it is
written it is reckoned to need 88.
"""

from collections.abc import Iterable, Iterator, Sequence

from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.port import SendingPort
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import FuzzPlan, Scenario, Suite, any_suite
from wheelproof_spec.components.accumulator.component import (
    DEFINITION,
    Abort,
    AccumulatorCall,
    AccumulatorCapability,
    AccumulatorConfig,
    AccumulatorLimit,
    AccumulatorObservation,
    Append,
    AppendFault,
    CallbackFault,
    Drain,
    Expire,
    Flush,
    Ready,
    Reenqueue,
    Respond,
    Split,
)
from wheelproof_spec.components.accumulator.oracle.ledger import CLOSE_TO_NOTHING, BatchLedger
from wheelproof_spec.components.accumulator.oracle.sizes import upper_bound

_LONG_MS = 60_000
_LARGE = 2**20
_THREE_RECORDS = 91
"""The batch size with room for three records."""
_ONE_RECORD = 105
"""The batch size with room for one record of `_WIDE` bytes."""
_THREE_WIDE_RECORDS = 142
_WIDE = 20
_LEADERS = {0: 0, 1: 0, 2: 1}
_DRAIN = Drain(node=0, partitions=(0, 1), max_size=_LARGE)
_DRAIN_ONE = Drain(node=0, partitions=(0, 1), max_size=1)
_READY = Ready(leaders=_LEADERS)


def accumulator_scenarios() -> tuple[Scenario[AccumulatorCall], ...]:
    """Return all named cases of the record accumulator."""
    return (*_sending(), *_retrying(), *_flushing(), *_ending(), *_waiting(), *_bad_input())


def _sending() -> Iterable[Scenario[AccumulatorCall]]:
    yield _case(
        "a full batch is ready, and the next record makes a new one",
        _reset(linger_ms=10),
        *_appends("a", "b"),
        _READY,
        *_appends("c", "d"),
        _READY,
        _DRAIN,
        Respond(batch="b1", offset=0),
        _READY,
    )
    yield _case(
        "a batch lingers",
        _reset(linger_ms=10),
        *_appends("a"),
        Advance(to_ms=9),
        _READY,
        Advance(to_ms=10),
        _READY,
        _DRAIN,
        Respond(batch="b1", offset=0),
    )
    yield _case(
        "drain keeps to the size, and the partitions of a node take turns",
        _reset(batch_size=_ONE_RECORD),
        *_appends("a", "b", size=_WIDE),
        *_appends("c", "d", size=_WIDE, partition=1),
        *(
            call
            for turn in range(1, 5)
            for call in (_DRAIN_ONE, Respond(batch=f"b{turn}", offset=turn))
        ),
    )
    yield _case(
        "each node gets the batches of what it leads",
        _reset(),
        *_appends("a"),
        *_appends("b", partition=2),
        _READY,
        Drain(node=1, partitions=(2,), max_size=_LARGE),
        _READY,
        _DRAIN,
        Respond(batch="b1", offset=0),
        Respond(batch="b2", offset=0),
    )
    yield _case(
        "a partition without a leader is told of",
        _reset(),
        *_appends("a"),
        *_appends("b", partition=2),
        Ready(leaders={0: 0}),
    )
    yield _case(
        "topics without a leader are named, muted or not, and others are not",
        _reset(topics={1: "second", 2: "third"}),
        *_appends("a"),
        *_appends("b", partition=1),
        Ready(leaders={0: 0, 2: 1}),
        *_appends("c", partition=2),
        Ready(leaders={0: 0}),
        Ready(leaders={1: 0}),
        _DRAIN,
        Ready(leaders={}),
        Respond(batch="b1"),
        Reenqueue(batch="b2"),
        Ready(leaders={}),
    )
    yield _case(
        "the next check is in time for whoever has the least left to wait",
        _reset(linger_ms=10, retry_backoff_ms=4),
        _READY,
        *_appends("a"),
        Advance(to_ms=3),
        *_appends("b", partition=2),
        _READY,
        _DRAIN,
        _READY,
        Reenqueue(batch="b1"),
        _READY,
        Advance(to_ms=7),
        _READY,
        Advance(to_ms=12),
        _READY,
        Advance(to_ms=13),
        _READY,
    )
    yield _case(
        "a partition whose batch is in flight is muted",
        _reset(),
        *_appends("a", "b", "c", "d"),
        _DRAIN,
        _READY,
        _DRAIN,
        Respond(batch="b1"),
        _READY,
        _DRAIN,
        Respond(batch="b2", offset=0),
    )
    yield _case(
        "callbacks that raise or send again disturb nobody",
        _reset(),
        Append(
            record="a",
            partition=0,
            size=3,
            max_time_to_block_ms=0,
            callback=CallbackFault.SENDS_AGAIN,
        ),
        Append(
            record="b",
            partition=0,
            size=3,
            max_time_to_block_ms=0,
            callback=CallbackFault.RAISES,
        ),
        *_appends("c"),
        _DRAIN,
        Respond(batch="b1", offset=0),
        _DRAIN,
        Respond(batch="b2", offset=3),
    )


def _retrying() -> Iterable[Scenario[AccumulatorCall]]:
    yield _case(
        "a batch that backs off lets other partitions through",
        _reset(retry_backoff_ms=100),
        *_appends("a"),
        _DRAIN,
        Reenqueue(batch="b1"),
        *_appends("b", partition=1),
        _READY,
        _DRAIN,
        Advance(to_ms=99),
        _READY,
        Advance(to_ms=100),
        _READY,
        _DRAIN,
        Respond(batch="b3", offset=0),
        Respond(batch="b2", offset=0),
    )
    yield _case(
        "the backoff doubles with each attempt, up to its limit",
        _reset(retry_backoff_ms=100, retry_backoff_max_ms=300),
        *_appends("a"),
        _DRAIN,
        Reenqueue(batch="b1"),
        *_retries(attempt=2, at_ms=100, backoff_ms=200),
        *_retries(attempt=3, at_ms=300, backoff_ms=300),
        *_retries(attempt=4, at_ms=600, backoff_ms=300),
        limit=AccumulatorLimit.GROWING_BACKOFF,
    )
    yield _case(
        "a batch that is tried again goes first",
        _reset(),
        *_appends("a", "b", "c", "d"),
        _DRAIN,
        Reenqueue(batch="b1"),
        _DRAIN,
        Respond(batch="b2", offset=0),
        _DRAIN,
        Respond(batch="b3", offset=3),
    )
    yield _case(
        "a split keeps the order, and only its records come apart",
        _reset(batch_size=_THREE_WIDE_RECORDS),
        *_appends("a", "b", "c", "d", size=_WIDE),
        _DRAIN,
        Split(batch="b1", size=1),
        _READY,
        *(
            call
            for turn in range(2, 6)
            for call in (_DRAIN, Respond(batch=f"b{turn}", offset=turn))
        ),
        limit=AccumulatorLimit.SPLIT,
    )


def _retries(*, attempt: int, at_ms: int, backoff_ms: int) -> tuple[AccumulatorCall, ...]:
    return (
        Advance(to_ms=at_ms),
        _DRAIN,
        Reenqueue(batch=f"b{attempt}"),
        Advance(to_ms=at_ms + backoff_ms - 1),
        _READY,
        _DRAIN,
    )


def _flushing() -> Iterable[Scenario[AccumulatorCall]]:
    yield _case(
        "a flush makes everything ready and waits for what was accepted before it",
        _reset(linger_ms=1_000),
        *_appends("a"),
        *_appends("b", partition=1),
        _READY,
        Flush(flush="f1"),
        _READY,
        _DRAIN,
        *_appends("c"),
        Respond(batch="b1", offset=0),
        Respond(batch="b2", offset=0),
        _READY,
    )
    yield _case(
        "a flush of nothing ends at once",
        _reset(linger_ms=1_000),
        Flush(flush="f1"),
        *_appends("a"),
        _READY,
    )
    yield _case(
        "KAFKA-3655: a flush that is interrupted counts no more",
        _reset(linger_ms=1_000),
        *_appends("a"),
        Flush(flush="f1"),
        Interrupt(name="f1"),
        _READY,
    )
    yield _case(
        "KAFKA-9312: a flush waits for the parts of what is split meanwhile",
        _reset(batch_size=_THREE_WIDE_RECORDS),
        *_appends("a", "b", size=_WIDE),
        Flush(flush="f1"),
        _DRAIN,
        Split(batch="b1", size=1),
        _DRAIN,
        Respond(batch="b2", offset=0),
        _DRAIN,
        Respond(batch="b3", offset=1),
        limit=AccumulatorLimit.SPLIT,
    )

    yield _case(
        "a flush may wait for whoever came later into a batch that is split",
        _reset(),
        *_appends("a"),
        Flush(flush="f1"),
        *_appends("b", "c"),
        _DRAIN,
        Split(batch="b1", size=1),
        _DRAIN,
        Respond(batch="b2", offset=0),
        _DRAIN,
        Respond(batch="b3", offset=2),
        limit=AccumulatorLimit.SPLIT,
    )


def _ending() -> Iterable[Scenario[AccumulatorCall]]:
    yield _case(
        "an abort runs all callbacks and leaves nothing",
        _reset(batch_size=_ONE_RECORD),
        *_appends("a", size=_WIDE),
        _DRAIN,
        *_appends("b", "c", size=_WIDE),
        *_appends("d", size=_WIDE, partition=1),
        Close(),
        Abort(),
        Respond(batch="b1"),
        _READY,
    )
    yield _case(
        "KAFKA-3147: an abort ends the appends that wait, and nothing stays queued",
        _reset(batches=1),
        *_appends("a"),
        _patient("b"),
        Close(),
        Abort(),
        _DRAIN,
    )
    yield _case(
        "a close makes everything ready and takes no more records",
        _reset(linger_ms=1_000),
        *_appends("a"),
        Close(),
        *_appends("b"),
        _READY,
        _DRAIN,
        Respond(batch="b1", offset=0),
    )
    yield _case(
        "batches expire, in a muted partition too",
        _reset(delivery_timeout_ms=50),
        *_appends("a", "b", "c", "d"),
        _DRAIN,
        *_appends("e", partition=1),
        Advance(to_ms=49),
        Expire(),
        Advance(to_ms=50),
        Expire(),
        Advance(to_ms=51),
        Expire(),
        Respond(batch="b1", offset=0),
    )
    yield _case(
        "the next expiry is that of the oldest batch, queued or in flight",
        _reset(delivery_timeout_ms=50),
        Expire(),
        *_appends("a"),
        Advance(to_ms=5),
        *_appends("b", partition=1),
        _DRAIN_ONE,
        Expire(),
        Respond(batch="b1", offset=0),
        Expire(),
        Advance(to_ms=55),
        Expire(),
    )
    yield _case(
        "KAFKA-19012: the memory of what expires in flight is not reused before its response",
        _reset(batches=1, delivery_timeout_ms=50),
        *_appends("a"),
        _DRAIN,
        _patient("b"),
        Advance(to_ms=50),
        Expire(),
        Respond(batch="b1"),
        _DRAIN,
        Respond(batch="b2", offset=0),
    )
    yield _case(
        "KAFKA-8202: what was split is not in flight any more",
        _reset(delivery_timeout_ms=50),
        *_appends("a", "b"),
        _DRAIN,
        Split(batch="b1", size=1),
        Advance(to_ms=50),
        Expire(),
        limit=AccumulatorLimit.SPLIT,
    )


def _waiting() -> Iterable[Scenario[AccumulatorCall]]:
    yield _case(
        "an append waits for memory, until a batch gives it back",
        _reset(batches=1),
        *_appends("a"),
        _patient("b"),
        _READY,
        _DRAIN,
        Respond(batch="b1", offset=0),
        _DRAIN,
        Respond(batch="b2", offset=0),
    )
    yield _case(
        "appends give up after their time-out, or when they are interrupted",
        _reset(batches=1),
        *_appends("a"),
        *_appends("b", partition=1),
        Append(record="c", partition=1, size=3, max_time_to_block_ms=10),
        _patient("d"),
        Advance(to_ms=9),
        Advance(to_ms=10),
        Interrupt(name="d"),
        _DRAIN,
        Respond(batch="b1", offset=0),
    )
    yield _case(
        "KAFKA-4741: an append that fails with a buffer in its hands gives it back",
        _reset(batches=1),
        _failing("a", AppendFault.SMALL_BUFFER),
        _failing("b", AppendFault.ALLOCATOR),
        *_appends("c"),
        _DRAIN,
        Respond(batch="b1", offset=0),
        limit=AccumulatorLimit.MEMORY_FAULTS,
    )


def _bad_input() -> Iterable[Scenario[AccumulatorCall]]:
    yield _case(
        "a record larger than all memory is refused, and nothing is lost",
        _reset(batches=1),
        *_appends("a", size=200),
        *_appends("b"),
        _DRAIN,
        Respond(batch="b1", offset=0),
    )
    yield _case(
        "a callback that sends again what has no room in all memory is told so",
        _reset(batches=1),
        *_appends("a", size=0),
        Append(
            record="b",
            partition=0,
            size=16,
            max_time_to_block_ms=0,
            callback=CallbackFault.SENDS_AGAIN,
        ),
        _DRAIN,
        Respond(batch="b1", offset=0),
    )
    yield _case(
        "a batch of one record is not split",
        _reset(),
        *_appends("a"),
        _DRAIN,
        Split(batch="b1", size=1),
        Respond(batch="b1", offset=0),
        limit=AccumulatorLimit.SPLIT_OF_ONE,
    )
    yield _case(
        "what has expired in flight is not tried again",
        _reset(delivery_timeout_ms=50),
        *_appends("a"),
        _DRAIN,
        Advance(to_ms=50),
        Expire(),
        Respond(batch="b1", offset=0),
        *_appends("b"),
        _READY,
    )


def _case(
    name: str, *calls: AccumulatorCall, limit: AccumulatorLimit | None = None
) -> Scenario[AccumulatorCall]:
    return Scenario(name=name, calls=calls, limit=limit)


def _reset(
    *,
    batch_size: int = _THREE_RECORDS,
    batches: int = 10,
    linger_ms: int = 0,
    retry_backoff_ms: int = 0,
    retry_backoff_max_ms: int | None = None,
    delivery_timeout_ms: int = _LONG_MS,
    topics: dict[int, str] | None = None,
) -> Reset[AccumulatorConfig]:
    return Reset(
        config=AccumulatorConfig(
            total_memory=batches * batch_size,
            batch_size=batch_size,
            linger_ms=linger_ms,
            retry_backoff_ms=retry_backoff_ms,
            retry_backoff_max_ms=retry_backoff_max_ms or retry_backoff_ms,
            delivery_timeout_ms=delivery_timeout_ms,
            topics=topics or ABSENT,
        )
    )


def _appends(*records: str, size: int = 3, partition: int = 0) -> tuple[Append, ...]:
    return tuple(
        Append(record=record, partition=partition, size=size, max_time_to_block_ms=0)
        for record in records
    )


def _patient(record: str) -> Append:
    return Append(record=record, partition=1, size=3, max_time_to_block_ms=_LONG_MS)


def _failing(record: str, fault: AppendFault) -> Append:
    return Append(record=record, partition=0, size=3, max_time_to_block_ms=0, fault=fault)


def _asks_for(calls: Sequence[AccumulatorCall]) -> Iterator[str]:
    config = CLOSE_TO_NOTHING
    for call in calls:
        match call:
            case Reset():
                config = call.config
            case Append(size=size, fault=fault):
                if fault is not None:
                    yield AccumulatorCapability.FAULTS
                if config.batch_size < upper_bound(size) and size <= config.total_memory:
                    yield AccumulatorCapability.KAFKA_SIZES
            case Split():
                yield AccumulatorCapability.KAFKA_SIZES
            case Flush():
                yield AccumulatorCapability.FLUSH
            case Interrupt():
                yield AccumulatorCapability.INTERRUPTION
            case Close() | Abort():
                yield AccumulatorCapability.CLOSE
            case _:
                pass


def _fuzz(
    port: SendingPort[AccumulatorCall, AccumulatorObservation],
    profile: str,
    tally: Tally,
    plan: FuzzPlan,
) -> FuzzReport:
    from wheelproof_spec.components.accumulator.fuzz.domain import AccumulatorDomain
    from wheelproof_spec.components.accumulator.fuzz.sequential import run_accumulator_fuzz

    return run_accumulator_fuzz(
        port,
        profile=profile,
        tally=tally,
        cases=plan.cases,
        seed=plan.seed,
        domain=AccumulatorDomain(
            faults=not any(
                map(tally.skips, (AccumulatorLimit.MEMORY_FAULTS, AccumulatorCapability.FAULTS))
            ),
            splits=not any(
                map(tally.skips, (AccumulatorLimit.SPLIT, AccumulatorCapability.KAFKA_SIZES))
            ),
            growing_backoff=not tally.skips(AccumulatorLimit.GROWING_BACKOFF),
            interruption=not tally.skips(AccumulatorCapability.INTERRUPTION),
            closes=not tally.skips(AccumulatorCapability.CLOSE),
            flushes=not tally.skips(AccumulatorCapability.FLUSH),
            kafka_sizes=not tally.skips(AccumulatorCapability.KAFKA_SIZES),
        ),
        repeat=plan.repeat,
    )


SUITE = any_suite(
    Suite(
        definition=DEFINITION,
        judge=BatchLedger,
        scenarios=accumulator_scenarios,
        fuzz=_fuzz,
        asks_for=lambda calls: frozenset(_asks_for(calls)),
    )
)
