"""The comparisons of the purgatory: attempts to complete one operation, and calls on many."""

from collections.abc import Iterator

from wheelproof_lab.graph.comparing.comparisons import Compared
from wheelproof_lab.graph.purgatory.delayed_operation import (
    OneOperation,
    delayed_operation,
    label_of_delayed_operation,
)
from wheelproof_lab.graph.purgatory.maybe_try_complete import (
    Attempts,
    maybe_try_complete,
)
from wheelproof_lab.graph.purgatory.maybe_try_complete_view import (
    label_of_maybe_try_complete,
    project_maybe_try_complete,
)
from wheelproof_lab.graph.purgatory.purgatory import Visitors, purgatory
from wheelproof_lab.graph.purgatory.purgatory_view import (
    label_of_purgatory,
    project_purgatory,
)
from wheelproof_spec.base.codec.tables import Row, read_table

ATTEMPTS = Compared(
    module="MCMaybeTryComplete",
    configuration=Attempts,
    code=maybe_try_complete,
    label=label_of_maybe_try_complete,
    project=project_maybe_try_complete,
)
PURGATORY = Compared(
    module="MCPurgatory",
    configuration=Visitors,
    code=purgatory,
    label=label_of_purgatory,
    project=project_purgatory,
    overrides={"InSomeOrder": "MCAsTheyCame"},
)
DELAYED_OPERATION = Compared(
    module="MCDelayedOperation",
    configuration=OneOperation,
    code=delayed_operation,
    label=label_of_delayed_operation,
    specification="PendingSpec",
)

_DISCIPLINES = ("monitor", "try_lock_once", "try_lock_pending", "blocking", "exclusive")


def _rows() -> Iterator[tuple[str, Row]]:
    """Yield the rows of the table; a row with a star once for each discipline."""
    for name, row in read_table(__file__, "catalog.toml").items():
        if "*" not in name:
            yield name, row
            continue
        for discipline in _DISCIPLINES:
            summary = f"{discipline}: {row['summary']}"
            full = {**row, "discipline": discipline, "summary": summary}
            yield name.replace("*", discipline.replace("_", "-")), full


_TABLE = dict(_rows())

COMPARISONS = (
    *DELAYED_OPERATION.rows(_TABLE),
    *ATTEMPTS.rows(_TABLE),
    *PURGATORY.rows(_TABLE),
)
