"""The comparisons of the buffer pool, the small ones first."""

from wheelproof_spec.base.codec.tables import read_table
from wheelproof_spec.components.buffer_pool.graph.buffer_pool import Borrowers, buffer_pool
from wheelproof_spec.components.buffer_pool.graph.view import (
    label_of_buffer_pool,
    project_buffer_pool,
)
from wheelproof_spec.engines.graph.comparing.comparisons import GraphModel, model_of, program_side
from wheelproof_spec.engines.graph.comparing.tlc_side import TlcConfiguration


def buffer_pool_model(name: str, summary: str, borrowers: Borrowers) -> GraphModel:
    """Return the comparison of the reference's pool with BufferPool."""
    return GraphModel(
        name=name,
        summary=summary,
        code=program_side(buffer_pool(borrowers)),
        configuration=TlcConfiguration(
            module="MCBufferPool",
            constants=borrowers.constants(),
            overrides={"Later": "MCLater"},
        ),
        project=project_buffer_pool,
        label=label_of_buffer_pool,
    )


COMPARISONS = tuple(
    model_of(name, row, buffer_pool_model, Borrowers)
    for name, row in read_table(__file__, "catalog.toml").items()
)
