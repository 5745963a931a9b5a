"""The comparisons of the accumulator, the small ones first."""

from wheelproof_lab.graph.accumulator.record_accumulator import (
    Appends,
    accumulator_graph,
    label_of_record_accumulator,
    project_record_accumulator,
    record_accumulator_under_way,
)
from wheelproof_lab.graph.comparing.comparisons import Compared
from wheelproof_spec.base.codec.tables import read_table

RECORD_ACCUMULATOR = Compared(
    module="RecordAccumulator",
    configuration=Appends,
    code=accumulator_graph,
    label=label_of_record_accumulator,
    project=project_record_accumulator,
    under_way=record_accumulator_under_way,
)

COMPARISONS = RECORD_ACCUMULATOR.rows(read_table(__file__, "catalog.toml"))
