"""The comparisons of the purgatory: attempts to complete one operation, and visits to many."""

from wheelproof_spec.base.codec.tables import read_table
from wheelproof_spec.components.purgatory.graph.delayed_operation import (
    OneOperation,
    delayed_operation,
    label_of_delayed_operation,
)
from wheelproof_spec.components.purgatory.graph.maybe_try_complete import (
    Attempts,
    maybe_try_complete,
)
from wheelproof_spec.components.purgatory.graph.maybe_try_complete_view import (
    label_of_maybe_try_complete,
    project_maybe_try_complete,
)
from wheelproof_spec.components.purgatory.graph.purgatory import Visitors, purgatory
from wheelproof_spec.components.purgatory.graph.purgatory_view import (
    label_of_purgatory,
    project_purgatory,
)
from wheelproof_spec.engines.graph.comparing.comparisons import GraphModel, model_of, program_side
from wheelproof_spec.engines.graph.comparing.tlc_side import TlcConfiguration


def attempts_model(name: str, summary: str, attempts: Attempts) -> GraphModel:
    """Return the comparison of one of the reference's disciplines with MaybeTryComplete."""
    return GraphModel(
        name=name,
        summary=summary,
        code=program_side(maybe_try_complete(attempts)),
        configuration=TlcConfiguration(module="MCMaybeTryComplete", constants=attempts.constants()),
        project=project_maybe_try_complete,
        label=label_of_maybe_try_complete,
    )


def purgatory_model(name: str, summary: str, visitors: Visitors) -> GraphModel:
    """Return the comparison of the reference's purgatory with Purgatory."""
    return GraphModel(
        name=name,
        summary=summary,
        code=program_side(purgatory(visitors)),
        configuration=TlcConfiguration(
            module="MCPurgatory",
            constants=visitors.constants(),
            overrides={"InSomeOrder": "MCAsTheyCame"},
        ),
        project=project_purgatory,
        label=label_of_purgatory,
    )


def delayed_operation_model(name: str, summary: str, configuration: OneOperation) -> GraphModel:
    """Return the comparison of one operation of the reference with DelayedOperation."""
    return GraphModel(
        name=name,
        summary=summary,
        code=program_side(delayed_operation(configuration)),
        configuration=TlcConfiguration(
            module="MCDelayedOperation",
            constants=configuration.constants(),
            specification="PendingSpec",
        ),
        project=lambda state: state,
        label=label_of_delayed_operation,
    )


_DISCIPLINES = ("monitor", "try_lock_once", "try_lock_pending", "blocking", "exclusive")
_TABLE = read_table(__file__, "catalog.toml")

COMPARISONS = (
    *(
        model_of(
            name.replace("*", discipline.replace("_", "-")),
            {**row, "discipline": discipline, "summary": f"{discipline}: {row['summary']}"},
            attempts_model,
            Attempts,
        )
        for discipline in _DISCIPLINES
        for name, row in _TABLE.items()
        if "*" in name and "of" not in row
    ),
    *(
        model_of(
            name.replace("*", discipline.replace("_", "-")),
            {**row, "discipline": discipline, "summary": f"{discipline}: {row['summary']}"},
            delayed_operation_model,
            OneOperation,
        )
        for discipline in _DISCIPLINES
        for name, row in _TABLE.items()
        if "of" in row
    ),
    *(
        model_of(name, row, purgatory_model, Visitors)
        for name, row in _TABLE.items()
        if "*" not in name
    ),
)
