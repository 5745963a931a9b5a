"""The known bugs of the record accumulator."""

from dataclasses import dataclass

from wheelproof.producer import RecordAccumulator
from wheelproof_spec.base.known_bug import KnownBug, read_bugs
from wheelproof_spec.components.accumulator import bugs


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorBug(KnownBug):
    """A defect of the record accumulator, with the accumulator that has it."""

    accumulator_class: type[RecordAccumulator] = RecordAccumulator


BUGS = read_bugs(
    __file__,
    "accumulator",
    AccumulatorBug,
    {
        "KAFKA-19012": {"accumulator_class": bugs.RecyclingAccumulator},
        "KAFKA-3147": {"accumulator_class": bugs.KeptByAbortAccumulator},
        "KAFKA-3655": {"accumulator_class": bugs.EndlessFlushAccumulator},
        "KAFKA-4741": {"accumulator_class": bugs.LeakingAccumulator},
        "KAFKA-9312": {"accumulator_class": bugs.ForgettingSplitAccumulator},
        "KAFKA-8202": {"accumulator_class": bugs.SplitInFlightAccumulator},
        "no-sleep": {"accumulator_class": bugs.SleeplessAccumulator},
        "oversleeps": {"accumulator_class": bugs.OversleepingAccumulator},
        "wrong-topic": {"accumulator_class": bugs.MisnamingAccumulator},
        "queued-first": {"accumulator_class": bugs.QueuedFirstAccumulator},
    },
)
