"""The comparisons of the buffer pool, the small ones first."""

from wheelproof_spec.base.codec.tables import read_table
from wheelproof_spec.components.buffer_pool.graph.buffer_pool import Borrowers, buffer_pool
from wheelproof_spec.components.buffer_pool.graph.ledger import (
    Askers,
    fifo_allocator_under_way,
    label_of_fifo_allocator,
    ledger_graph,
)
from wheelproof_spec.components.buffer_pool.graph.view import (
    label_of_buffer_pool,
    project_buffer_pool,
)
from wheelproof_spec.engines.graph.comparing.comparisons import (
    CodeSide,
    GraphModel,
    model_of,
    program_side,
)
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


def ledger_model(name: str, summary: str, askers: Askers) -> GraphModel:
    """Return the comparison of the ledger with FifoAllocator."""
    return GraphModel(
        name=name,
        summary=summary,
        code=lambda _: CodeSide(graph=ledger_graph(askers)),
        configuration=TlcConfiguration(module="FifoAllocator", constants=askers.constants()),
        project=lambda state: state,
        label=label_of_fifo_allocator,
        under_way=fifo_allocator_under_way,
    )


COMPARISONS = tuple(
    model_of(name, row, ledger_model, Askers)
    if row.get("of") == "FifoAllocator"
    else model_of(name, row, buffer_pool_model, Borrowers)
    for name, row in read_table(__file__, "catalog.toml").items()
)
