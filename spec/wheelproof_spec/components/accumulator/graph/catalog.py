"""The comparisons of the accumulator, the small ones first."""

from wheelproof_spec.base.codec.tables import read_table
from wheelproof_spec.components.accumulator.graph.record_accumulator import (
    Appends,
    accumulator_graph,
    label_of_record_accumulator,
    project_record_accumulator,
    record_accumulator_under_way,
)
from wheelproof_spec.engines.graph.comparing.comparisons import CodeSide, GraphModel, model_of
from wheelproof_spec.engines.graph.comparing.tlc_side import TlcConfiguration


def accumulator_model(name: str, summary: str, appends: Appends) -> GraphModel:
    """Return the comparison of the reference's accumulator with RecordAccumulator."""
    return GraphModel(
        name=name,
        summary=summary,
        code=lambda _: CodeSide(graph=accumulator_graph(appends)),
        configuration=TlcConfiguration(module="RecordAccumulator", constants=appends.constants()),
        project=project_record_accumulator,
        label=label_of_record_accumulator,
        under_way=record_accumulator_under_way,
    )


COMPARISONS = tuple(
    model_of(name, row, accumulator_model, Appends)
    for name, row in read_table(__file__, "catalog.toml").items()
)
