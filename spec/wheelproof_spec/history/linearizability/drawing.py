"""A history as a drawing: a lane for each process, a bar for each call, a dot for each effect."""

from collections.abc import Hashable, Mapping, Sequence
from html import escape
from typing import Final, TypeVar

from wheelproof_spec.history.linearizability.calls import Call, Event, calls_of
from wheelproof_spec.history.linearizability.check import Effect, Judgement, Moment
from wheelproof_spec.history.linearizability.model import Model

State = TypeVar("State", bound=Hashable)
Op = TypeVar("Op")
Res = TypeVar("Res")

_EVENT: Final = 46
"""How wide an event is, in pixels."""
_LANE: Final = 38
_MOST_CALLS: Final = 60
"""How many calls of each object are drawn: the last ones."""
_LONGEST: Final = 60


def drawing(
    model: Model[State, Op, Res], events: Sequence[Event[Op, Res]], judgement: Judgement[Op, Res]
) -> str:
    """Return the linearization of each object, or of the object that fails until then, as HTML."""
    bad = judgement.explanation
    found: Mapping[Hashable, Sequence[Moment[Op, Res]]] = judgement.linearizations
    if bad is not None:
        found = {bad.object: bad.order}
    parts: list[str] = []
    for name, order in found.items():
        calls = [call for call in calls_of(events) if model.object_of(call.operation) == name]
        if bad is not None:
            calls = [call for call in calls if call.invoked <= bad.prefix]
        title = "" if name is None else f"<h3>{escape(str(name))}</h3>\n"
        parts.append(title + _lanes(calls, order, bad.call if bad else None) + _table(order))
    if bad is not None:
        parts.append(f'<p class="fail">No order explains {escape(_cut(bad.call))}.</p>')
    return "\n".join(parts)


def _lanes(
    calls: Sequence[Call[Op, Res]], order: Sequence[Moment[Op, Res]], bad: Call[Op, Res] | None
) -> str:
    calls = calls[-_MOST_CALLS:]
    shown = {call.number for call in calls}
    lanes = {process: lane for lane, process in enumerate(sorted({c.process for c in calls}))}
    moments = sorted({c.invoked for c in calls} | {c.returned for c in calls if c.returned})
    if bad is not None and bad.returned is not None:
        moments = [moment for moment in moments if moment <= bad.returned]
    column = {moment: place for place, moment in enumerate(moments)}
    width, height = (len(moments) + 2) * _EVENT, len(lanes) * _LANE
    parts = [f'<svg class="linearization" width="{width + 90}" height="{height}" role="img">']
    parts += [
        f'<text x="0" y="{lane * _LANE + 24}">{escape(process)}</text>'
        for process, lane in lanes.items()
    ]
    for call in calls:
        left = 90 + column[call.invoked] * _EVENT
        right = 90 + column.get(call.returned or -1, len(moments) + 1) * _EVENT
        is_bad = bad is not None and call.number == bad.number
        parts.append(
            f'<g><title>{escape(str(call))}</title><rect x="{left}" '
            f'y="{lanes[call.process] * _LANE + 4}" width="{max(right - left, 8)}" height="30" '
            f'fill="{"#d33" if is_bad else "#789"}" fill-opacity=".25" stroke="currentColor"/>'
            f'<text x="{left + 4}" y="{lanes[call.process] * _LANE + 16}" font-size="11">'
            f"{escape(_cut(call, max(right - left, 8) // 6))}</text></g>"
        )
    at, step = -1.0, 1 / (2 + len(order))
    for number, moment in enumerate(order, start=1):
        if moment.call.number in shown:
            at = max(at + step, column[moment.call.invoked] + step)
            x, y = 90 + at * _EVENT, lanes[moment.call.process] * _LANE + 26
            parts.append(
                f'<g><title>{number}: {escape(str(moment))}</title><circle cx="{x:.1f}" cy="{y}" '
                f'r="4"/><text x="{x + 5:.1f}" y="{y + 5}" font-size="10">{number}</text></g>'
            )
    return "\n".join([*parts, "</svg>\n"])


def _table(order: Sequence[Moment[Op, Res]]) -> str:
    saw: tuple[Hashable, ...] | None = None
    rows = ["<table><thead><tr><th>effect</th><th>call</th><th>saw</th><th>left</th></tr></thead>"]
    for number, moment in enumerate(order, start=1):
        seen = "the beginning" if saw is None else " or ".join(map(_cut, saw))
        left = " or ".join(map(_cut, moment.states))
        what = moment.call if moment.effect is Effect.WHOLE else moment
        if number > len(order) - _MOST_CALLS:
            rows.append(
                f"<tr><td>{number}</td><td>{escape(_cut(what, 2 * _LONGEST))}</td>"
                f"<td>{escape(seen)}</td><td>{escape(left)}</td></tr>"
            )
        saw = moment.states
    return "\n".join([*rows, "</table>"])


def _cut(value: object, most: int = _LONGEST) -> str:
    text = str(value)
    return text if len(text) <= most else f"{text[: max(most - 1, 0)]}…"
