"""The comparisons of the buffer pool, the small ones first."""

from wheelproof_lab.graph.buffer_pool.buffer_pool import Borrowers, buffer_pool
from wheelproof_lab.graph.buffer_pool.ledger import (
    Askers,
    fifo_allocator_under_way,
    label_of_fifo_allocator,
    ledger_graph,
)
from wheelproof_lab.graph.buffer_pool.view import (
    label_of_buffer_pool,
    project_buffer_pool,
)
from wheelproof_lab.graph.comparing.comparisons import Compared
from wheelproof_spec.base.codec.tables import read_table

BUFFER_POOL = Compared(
    module="MCBufferPool",
    configuration=Borrowers,
    code=buffer_pool,
    label=label_of_buffer_pool,
    project=project_buffer_pool,
    overrides={"Later": "MCLater"},
)
LEDGER = Compared(
    module="FifoAllocator",
    configuration=Askers,
    code=ledger_graph,
    label=label_of_fifo_allocator,
    under_way=fifo_allocator_under_way,
)

_TABLE = read_table(__file__, "catalog.toml")

COMPARISONS = (
    *LEDGER.rows(_TABLE),
    *BUFFER_POOL.rows(_TABLE),
)
