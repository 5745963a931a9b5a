"""The comparisons of the purgatory: attempts to complete one operation, and visits to many."""

from collections.abc import Mapping

from wheelproof_spec.components.purgatory.graph.maybe_try_complete import (
    Attempts,
    maybe_try_complete,
)
from wheelproof_spec.components.purgatory.graph.maybe_try_complete_module import (
    label_of_maybe_try_complete,
    project_maybe_try_complete,
)
from wheelproof_spec.components.purgatory.graph.purgatory import Visitors, purgatory
from wheelproof_spec.components.purgatory.graph.purgatory_module import (
    label_of_purgatory,
    project_purgatory,
)
from wheelproof_spec.engines.graph.comparing.comparisons import GraphModel, program_side
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


def _attempts_models(discipline: str) -> tuple[GraphModel, ...]:
    name = discipline.replace("_", "-")
    return (
        attempts_model(
            f"complete-{name}",
            f"{discipline}: two triggers, an expiry, and a holder of the lock from outside",
            Attempts(
                discipline=discipline,
                triggers=("t1", "t2"),
                needed=2,
                holders=("h",),
                expires=True,
            ),
        ),
        attempts_model(
            f"complete-{name}-three",
            f"{discipline}: three triggers, two of which are enough",
            Attempts(discipline=discipline, triggers=("t1", "t2", "t3"), needed=2),
        ),
        attempts_model(
            f"complete-{name}-raising",
            f"{discipline}: one predicate raises, one trigger is restless, and an expiry",
            Attempts(
                discipline=discipline,
                triggers=("t1", "t2"),
                needed=2,
                raising=frozenset({"t1"}),
                restless=frozenset({"t2"}),
                expires=True,
            ),
        ),
    )


_ONE_WATCHER = {"w1": "op1"}
_ONE_KEY: Mapping[str, tuple[str, ...]] = {"op1": ("k1",)}
_TWO_KEYS: Mapping[str, tuple[str, ...]] = {"op1": ("k1", "k2")}
_TWO_WATCHERS = {"w1": "op1", "w2": "op2"}
_SHARED_KEY: Mapping[str, tuple[str, ...]] = {"op1": ("k1",), "op2": ("k1",)}
_TRIGGER: Mapping[str, tuple[str | None, str]] = {"c1": ("op1", "k1")}
_CANCELLER = {"x1": "k1"}
_TIMER = ("timer",)
_PURGER = ("p1",)

COMPARISONS: tuple[GraphModel, ...] = (
    *(
        model
        for discipline in ("monitor", "try_lock_once", "try_lock_pending", "blocking", "exclusive")
        for model in _attempts_models(discipline)
    ),
    *(
        purgatory_model(
            f"purgatory-{discipline}-trigger-expiry",
            f"{discipline}: an operation is watched, triggered, and expires",
            Visitors(
                discipline=discipline,
                watchers=_ONE_WATCHER,
                keys_of=_ONE_KEY,
                triggers=_TRIGGER,
                timers=_TIMER,
            ),
        )
        for discipline in ("blocking", "exclusive")
    ),
    *(
        purgatory_model(
            f"purgatory-{discipline}-trigger-cancel",
            f"{discipline}: an operation of two keys is watched, triggered, and cancelled",
            Visitors(
                discipline=discipline,
                watchers=_ONE_WATCHER,
                keys_of=_TWO_KEYS,
                triggers=_TRIGGER,
                cancellers=_CANCELLER,
            ),
        )
        for discipline in ("blocking", "exclusive")
    ),
    purgatory_model(
        "purgatory-two-triggers",
        "an operation of two keys is watched and triggered under each",
        Visitors(
            discipline="exclusive",
            watchers=_ONE_WATCHER,
            keys_of=_TWO_KEYS,
            triggers={"c1": ("op1", "k1"), "c2": ("op1", "k2")},
        ),
    ),
    purgatory_model(
        "purgatory-cancel-expiry",
        "an operation of two keys is watched, cancelled, and expires",
        Visitors(
            discipline="exclusive",
            watchers=_ONE_WATCHER,
            keys_of=_TWO_KEYS,
            cancellers=_CANCELLER,
            timers=_TIMER,
        ),
    ),
    purgatory_model(
        "purgatory-expiry-purge",
        "an operation is watched and expires while lists are purged again and again",
        Visitors(
            discipline="exclusive",
            watchers=_ONE_WATCHER,
            keys_of=_ONE_KEY,
            timers=_TIMER,
            purgers=_PURGER,
        ),
    ),
    purgatory_model(
        "purgatory-trigger-purge",
        "an operation is watched and triggered while lists are purged again and again",
        Visitors(
            discipline="exclusive",
            watchers=_ONE_WATCHER,
            keys_of=_ONE_KEY,
            triggers=_TRIGGER,
            purgers=_PURGER,
        ),
    ),
    purgatory_model(
        "purgatory-cancel-purge",
        "an operation of two keys is watched and cancelled while lists are purged",
        Visitors(
            discipline="exclusive",
            watchers=_ONE_WATCHER,
            keys_of=_TWO_KEYS,
            cancellers=_CANCELLER,
            purgers=_PURGER,
        ),
    ),
    purgatory_model(
        "purgatory-trigger-expiry-purge",
        "an operation is watched, triggered, and expires while lists are purged",
        Visitors(
            discipline="exclusive",
            watchers=_ONE_WATCHER,
            keys_of=_ONE_KEY,
            triggers=_TRIGGER,
            timers=_TIMER,
            purgers=_PURGER,
        ),
    ),
    purgatory_model(
        "purgatory-trigger-expiry-cancel",
        "an operation of two keys is watched, triggered, cancelled, and expires",
        Visitors(
            discipline="exclusive",
            watchers=_ONE_WATCHER,
            keys_of=_TWO_KEYS,
            triggers=_TRIGGER,
            cancellers=_CANCELLER,
            timers=_TIMER,
        ),
    ),
    purgatory_model(
        "purgatory-cancel-expiry-purge",
        "an operation of two keys is watched, cancelled, and expires while lists are purged",
        Visitors(
            discipline="exclusive",
            watchers=_ONE_WATCHER,
            keys_of=_TWO_KEYS,
            cancellers=_CANCELLER,
            timers=_TIMER,
            purgers=_PURGER,
        ),
    ),
    purgatory_model(
        "purgatory-two-operations-expiry",
        "two operations of one key are watched, and expire",
        Visitors(
            discipline="exclusive", watchers=_TWO_WATCHERS, keys_of=_SHARED_KEY, timers=_TIMER
        ),
    ),
    purgatory_model(
        "purgatory-two-operations-trigger",
        "two operations of one key are watched, and one is triggered: its list is made again",
        Visitors(
            discipline="exclusive",
            watchers=_TWO_WATCHERS,
            keys_of=_SHARED_KEY,
            triggers=_TRIGGER,
        ),
    ),
)
