"""The comparisons of the accumulator, the small ones first."""

from wheelproof_lab.graph.accumulator.record_accumulator import (
    Appends,
    accumulator_graph,
    label_of_record_accumulator,
    project_record_accumulator,
    record_accumulator_under_way,
)
from wheelproof_lab.graph.comparing.comparisons import Compared

RECORD_ACCUMULATOR = Compared(
    module="RecordAccumulator",
    code=accumulator_graph,
    label=label_of_record_accumulator,
    project=project_record_accumulator,
    under_way=record_accumulator_under_way,
)

COMPARISONS = (
    RECORD_ACCUMULATOR.model(
        Appends(
            programs={"a1": (0, 1, 0)},
            partitions=2,
            buffers=2,
            batch_size=2,
            request_size=1,
            max_attempts=1,
        ),
        name="accumulator-two-partitions",
        summary="two partitions share requests of one batch; tried again once",
    ),
    RECORD_ACCUMULATOR.model(
        Appends(
            programs={"a1": (0, 0, 0)},
            partitions=1,
            buffers=1,
            batch_size=2,
            request_size=1,
            max_attempts=1,
            expires=True,
        ),
        name="accumulator-expiry",
        summary="batches expire in queues and on their way, and memory runs out",
    ),
    RECORD_ACCUMULATOR.model(
        Appends(
            programs={"a1": (0, 0)},
            partitions=1,
            buffers=2,
            batch_size=2,
            request_size=1,
            max_attempts=1,
            expires=True,
        ),
        name="accumulator-late",
        summary=(
            "two batches on their way at once, either of them sent again: whatever is late expires"
        ),
    ),
    RECORD_ACCUMULATOR.model(
        Appends(
            programs={"a1": (0, 0)},
            partitions=1,
            buffers=1,
            batch_size=2,
            request_size=1,
            splits=True,
            closes=True,
        ),
        name="accumulator-split",
        summary="a batch is split, and its parts are sent",
    ),
    RECORD_ACCUMULATOR.model(
        Appends(
            programs={"a1": (0,), "a2": (1,)},
            partitions=2,
            buffers=2,
            batch_size=2,
            request_size=2,
            closes=True,
            by_force=True,
            expires=True,
        ),
        name="accumulator-close-by-force",
        summary="closed by force, whatever is queued or on its way",
    ),
)
