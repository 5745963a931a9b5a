"""The comparisons of the replica manager, the small ones first."""

from wheelproof_spec.base.codec.tables import read_table
from wheelproof_spec.components.replication.graph.produce_fetch import Brokers, produce_fetch
from wheelproof_spec.components.replication.graph.view import (
    label_of_produce_fetch,
    project_produce_fetch,
)
from wheelproof_spec.engines.graph.comparing.comparisons import Compared

PRODUCE_FETCH = Compared(
    module="ProduceFetch",
    configuration=Brokers,
    code=produce_fetch,
    label=label_of_produce_fetch,
    project=project_produce_fetch,
)

COMPARISONS = PRODUCE_FETCH.rows(read_table(__file__, "catalog.toml"))
