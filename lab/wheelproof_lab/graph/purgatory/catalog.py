"""The comparisons of the purgatory: attempts to complete one operation, and calls on many."""

from collections.abc import Callable, Iterator

from wheelproof_lab.graph.comparing.comparisons import Compared, ConfigT, GraphModel
from wheelproof_lab.graph.purgatory.abstract import Operations, label_of_effect, model_graph
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

ATTEMPTS = Compared(
    module="MCMaybeTryComplete",
    code=maybe_try_complete,
    label=label_of_maybe_try_complete,
    project=project_maybe_try_complete,
)
PURGATORY = Compared(
    module="MCPurgatory",
    code=purgatory,
    label=label_of_purgatory,
    project=project_purgatory,
    overrides={"InSomeOrder": "MCAsTheyCame"},
)
DELAYED_OPERATION = Compared(
    module="MCDelayedOperation",
    code=delayed_operation,
    label=label_of_delayed_operation,
    specification="PendingSpec",
)
MODEL = Compared(
    module="MCDelayedOperation",
    code=model_graph,
    label=label_of_effect,
    specification="Safe",
)

_DISCIPLINES = ("monitor", "try_lock_once", "try_lock_pending", "blocking", "exclusive")


def _for_each(
    compared: Compared[ConfigT],
    configuration: Callable[[str], ConfigT],
    *,
    name: str,
    summary: str,
) -> Iterator[GraphModel]:
    """Yield a comparison for each discipline, which stands for the star in the name."""
    for discipline in _DISCIPLINES:
        yield compared.model(
            configuration(discipline),
            name=name.replace("*", discipline.replace("_", "-")),
            summary=f"{discipline}: {summary}",
        )


COMPARISONS = (
    MODEL.model(
        Operations(names=("op1", "op2")),
        name="purgatory-model-two-operations",
        summary="the effects of the model against the abstract operations: two of them",
    ),
    *_for_each(
        DELAYED_OPERATION,
        lambda discipline: OneOperation(discipline=discipline),
        name="operation-*",
        summary="one operation: completed when it holds, expired, cancelled",
    ),
    *_for_each(
        ATTEMPTS,
        lambda discipline: Attempts(
            discipline=discipline, triggers=("t1", "t2"), needed=2, holders=("h",), expires=True
        ),
        name="complete-*",
        summary="two triggers, an expiry, and a holder of the lock from outside",
    ),
    *_for_each(
        ATTEMPTS,
        lambda discipline: Attempts(discipline=discipline, triggers=("t1", "t2", "t3"), needed=2),
        name="complete-*-three",
        summary="three triggers, two of which are enough",
    ),
    *_for_each(
        ATTEMPTS,
        lambda discipline: Attempts(
            discipline=discipline,
            triggers=("t1", "t2"),
            needed=2,
            restless=("t2",),
            raising=("t1",),
            expires=True,
        ),
        name="complete-*-raising",
        summary="one predicate raises, one trigger is restless, and an expiry",
    ),
    PURGATORY.model(
        Visitors(
            discipline="blocking",
            watchers={"w1": "op1"},
            keys_of={"op1": ("k1",)},
            triggers={"c1": ("op1", "k1")},
            timers=("timer",),
        ),
        name="purgatory-blocking-trigger-expiry",
        summary="blocking: an operation is watched, triggered, and expires",
    ),
    PURGATORY.model(
        Visitors(
            discipline="exclusive",
            watchers={"w1": "op1"},
            keys_of={"op1": ("k1",)},
            triggers={"c1": ("op1", "k1")},
            timers=("timer",),
        ),
        name="purgatory-exclusive-trigger-expiry",
        summary="exclusive: an operation is watched, triggered, and expires",
    ),
    PURGATORY.model(
        Visitors(
            discipline="blocking",
            watchers={"w1": "op1"},
            keys_of={"op1": ("k1", "k2")},
            triggers={"c1": ("op1", "k1")},
            cancellers={"x1": "k1"},
        ),
        name="purgatory-blocking-trigger-cancel",
        summary="blocking: an operation of two keys is watched, triggered, and cancelled",
    ),
    PURGATORY.model(
        Visitors(
            discipline="exclusive",
            watchers={"w1": "op1"},
            keys_of={"op1": ("k1", "k2")},
            triggers={"c1": ("op1", "k1")},
            cancellers={"x1": "k1"},
        ),
        name="purgatory-exclusive-trigger-cancel",
        summary="exclusive: an operation of two keys is watched, triggered, and cancelled",
    ),
    PURGATORY.model(
        Visitors(
            discipline="exclusive",
            watchers={"w1": "op1"},
            keys_of={"op1": ("k1", "k2")},
            triggers={"c1": ("op1", "k1"), "c2": ("op1", "k2")},
        ),
        name="purgatory-two-triggers",
        summary="an operation of two keys is watched and triggered under each",
    ),
    PURGATORY.model(
        Visitors(
            discipline="exclusive",
            watchers={"w1": "op1"},
            keys_of={"op1": ("k1", "k2")},
            cancellers={"x1": "k1"},
            timers=("timer",),
        ),
        name="purgatory-cancel-expiry",
        summary="an operation of two keys is watched, cancelled, and expires",
    ),
    PURGATORY.model(
        Visitors(
            discipline="exclusive",
            watchers={"w1": "op1"},
            keys_of={"op1": ("k1",)},
            timers=("timer",),
            purgers=("p1",),
        ),
        name="purgatory-expiry-purge",
        summary="an operation is watched and expires while lists are purged again and again",
    ),
    PURGATORY.model(
        Visitors(
            discipline="exclusive",
            watchers={"w1": "op1"},
            keys_of={"op1": ("k1",)},
            triggers={"c1": ("op1", "k1")},
            purgers=("p1",),
        ),
        name="purgatory-trigger-purge",
        summary="an operation is watched and triggered while lists are purged again and again",
    ),
    PURGATORY.model(
        Visitors(
            discipline="exclusive",
            watchers={"w1": "op1"},
            keys_of={"op1": ("k1", "k2")},
            cancellers={"x1": "k1"},
            purgers=("p1",),
        ),
        name="purgatory-cancel-purge",
        summary="an operation of two keys is watched and cancelled while lists are purged",
    ),
    PURGATORY.model(
        Visitors(
            discipline="exclusive",
            watchers={"w1": "op1"},
            keys_of={"op1": ("k1",)},
            triggers={"c1": ("op1", "k1")},
            timers=("timer",),
            purgers=("p1",),
        ),
        name="purgatory-trigger-expiry-purge",
        summary="an operation is watched, triggered, and expires while lists are purged",
    ),
    PURGATORY.model(
        Visitors(
            discipline="exclusive",
            watchers={"w1": "op1"},
            keys_of={"op1": ("k1", "k2")},
            triggers={"c1": ("op1", "k1")},
            cancellers={"x1": "k1"},
            timers=("timer",),
        ),
        name="purgatory-trigger-expiry-cancel",
        summary="an operation of two keys is watched, triggered, cancelled, and expires",
    ),
    PURGATORY.model(
        Visitors(
            discipline="exclusive",
            watchers={"w1": "op1"},
            keys_of={"op1": ("k1", "k2")},
            cancellers={"x1": "k1"},
            timers=("timer",),
            purgers=("p1",),
        ),
        name="purgatory-cancel-expiry-purge",
        summary=(
            "an operation of two keys is watched, cancelled, and expires while lists are purged"
        ),
    ),
    PURGATORY.model(
        Visitors(
            discipline="exclusive",
            watchers={"w1": "op1", "w2": "op2"},
            keys_of={"op1": ("k1",), "op2": ("k1",)},
            timers=("timer",),
        ),
        name="purgatory-two-operations-expiry",
        summary="two operations of one key are watched, and expire",
    ),
    PURGATORY.model(
        Visitors(
            discipline="exclusive",
            watchers={"w1": "op1", "w2": "op2"},
            keys_of={"op1": ("k1",), "op2": ("k1",)},
            triggers={"c1": ("op1", "k1")},
        ),
        name="purgatory-two-operations-trigger",
        summary=(
            "two operations of one key are watched, and one is triggered: its list is made again"
        ),
    ),
)
