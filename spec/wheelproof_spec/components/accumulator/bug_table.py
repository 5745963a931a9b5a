"""The known bugs of the record accumulator."""

from dataclasses import dataclass

from wheelproof.producer import RecordAccumulator
from wheelproof_spec.base.known_bug import Finder, KnownBug, Sight
from wheelproof_spec.components.accumulator import bugs as record_accumulator


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorBug(KnownBug):
    """A defect of the record accumulator, with the accumulator that has it."""

    accumulator_class: type[RecordAccumulator]


BUGS: tuple[AccumulatorBug, ...] = (
    AccumulatorBug(
        id="KAFKA-19012",
        component="accumulator",
        trigger="a batch expires while a request is reading its memory, which is reused",
        broken="a buffer is never both free and referenced",
        source="KAFKA-19012",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL),
        models=("MCRecordAccumulator_KAFKA_19012",),
        seen=(Sight.DRIVEN,),
        accumulator_class=record_accumulator.RecyclingAccumulator,
    ),
    AccumulatorBug(
        id="KAFKA-3147",
        component="accumulator",
        trigger="a forced close leaves the batch that it has closed in the queue",
        broken="what has ended is in no queue",
        source="KAFKA-3147",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL),
        models=(
            "MCRecordAccumulator_KAFKA_3147",
            "MCRecordAccumulator_KAFKA_3147_queued",
        ),
        seen=(Sight.DRIVEN,),
        accumulator_class=record_accumulator.KeptByAbortAccumulator,
    ),
    AccumulatorBug(
        id="KAFKA-3655",
        component="accumulator",
        trigger="a flush is interrupted",
        broken="linger is ignored only while a thread flushes",
        source="KAFKA-3655",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL, Finder.THREADS),
        models=("MCRecordAccumulator_KAFKA_3655",),
        seen=(Sight.DRIVEN,),
        accumulator_class=record_accumulator.EndlessFlushAccumulator,
    ),
    AccumulatorBug(
        id="KAFKA-4741",
        component="accumulator",
        trigger="an append fails between its allocation and the queue",
        broken="memory is conserved",
        source="KAFKA-4741",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL),
        models=("MCRecordAccumulator_KAFKA_4741",),
        seen=(Sight.DRIVEN,),
        accumulator_class=record_accumulator.LeakingAccumulator,
    ),
    AccumulatorBug(
        id="KAFKA-9312",
        component="accumulator",
        trigger="a batch is split while a thread flushes",
        broken="a flush waits for every record accepted before it",
        source="KAFKA-9312, KAFKA-19479",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL, Finder.THREADS),
        models=("MCRecordAccumulator_KAFKA_9312",),
        seen=(Sight.DRIVEN,),
        accumulator_class=record_accumulator.ForgettingSplitAccumulator,
    ),
    AccumulatorBug(
        id="KAFKA-8202",
        component="accumulator",
        trigger="a batch is split",
        broken="what is in flight has not ended",
        source="KAFKA-8202",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL),
        models=("MCRecordAccumulator_KAFKA_8202",),
        seen=(Sight.DRIVEN,),
        accumulator_class=record_accumulator.SplitInFlightAccumulator,
    ),
    AccumulatorBug(
        id="queued-first",
        component="accumulator",
        trigger="batches of a partition expire, or are aborted, queued and in flight at once",
        broken="callbacks of a partition run in the order of the appends",
        source="docs/findings.md",
        finders=(Finder.SEQUENTIAL,),
        models=(),
        seen=(Sight.DRIVEN,),
        accumulator_class=record_accumulator.QueuedFirstAccumulator,
    ),
)
