"""Other ways to write a history down, which say the same of what was recorded."""

from collections.abc import Iterable
from dataclasses import replace

from support.agreement.small_histories import History, Line, Op, history_of
from wheelproof_spec.base.calls import Interrupt, Tick
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.component import Call
from wheelproof_spec.components import registry
from wheelproof_spec.history.linearizability.small_histories import MOST_EVENTS

_HARMLESS: dict[str, Call] = {
    **dict.fromkeys(("timer", "purgatory", "replication"), Tick(to_ms=0)),
    **dict.fromkeys(("buffer_pool", "accumulator"), Interrupt(name="nobody")),
}
"""A call without an effect: the clock shows 0 already, or the thread does not exist."""


def padded(history: History) -> History:
    """Return the history behind harmless calls: it has too many events to be searched."""
    component = history.header.component
    asked = _HARMLESS[component]
    f = asked.name_on_the_wire()
    lines = [Line("padding", "invoke", f, asked), Line("padding", "ok", f, Nothing())]
    before = history_of(component, history.header.config, lines * MOST_EVENTS, quiet=False)
    return _numbered(history, (*before.ops, *history.ops))


def with_ends(history: History) -> History:
    """Return the history with the end of everything that happens, which may be left out."""
    definition = registry.recorded(history.header.component).definition
    happens = {operation.name for operation in definition.operations if operation.happens}
    ops: list[Op] = []
    for op in history.ops:
        ops.append(op)
        if op.f in happens and op.type == "invoke":
            ops.append(replace(op, type="ok", value=Nothing()))
    return _numbered(history, ops)


def _numbered(history: History, ops: Iterable[Op]) -> History:
    numbered = tuple(replace(op, index=index) for index, op in enumerate(ops))
    return replace(history, ops=numbered, end=replace(history.end, ops=len(numbered)))
