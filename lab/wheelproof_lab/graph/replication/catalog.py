"""The comparisons of the replica manager, the small ones first."""

from wheelproof_lab.graph.comparing.comparisons import Compared
from wheelproof_lab.graph.replication.produce_fetch import Brokers, produce_fetch
from wheelproof_lab.graph.replication.view import (
    label_of_produce_fetch,
    project_produce_fetch,
)
from wheelproof_spec.base.codec.tables import read_table

PRODUCE_FETCH = Compared(
    module="ProduceFetch",
    configuration=Brokers,
    code=produce_fetch,
    label=label_of_produce_fetch,
    project=project_produce_fetch,
)

COMPARISONS = PRODUCE_FETCH.rows(read_table(__file__, "catalog.toml"))
