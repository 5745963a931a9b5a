"""A failing case, step by step: request, answer, expected answer, and the state as a picture.

The case is replayed on the reference, or for a timer on its contract, up to its last step, which is
the one that fails.
"""

import json
from dataclasses import dataclass
from typing import cast

from wheelproof.errors import WheelproofError
from wheelproof_spec.base.drawing import NOTHING, CaseView, Markup
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.base.strict_json import JsonObject, MalformedError, as_object, parse_object
from wheelproof_spec.components.registry import view_of
from wheelproof_spec.drive.answers import refusal_fields
from wheelproof_spec.drive.driver.messages import parse_request
from wheelproof_spec.drive.result import ConformanceFailure

MOST_STAGES = 60
"""The most steps of a case that are drawn: its last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of an answer as text; a value that was not answered or is not known is empty."""

    name: str
    answered: str
    expected: str

    @property
    def differs(self) -> bool:
        """Whether the answer differs from the expected one; a missing answer is not judged."""
        return bool(self.answered) and self.answered != self.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One step; `place` counts from 1, `answer` is shortened.

    `followed` says whether the reference could follow the case up to here. Of the step that fails
    `absent` is what had to happen and did not, and `unexpected` what happened and must not.
    """

    place: int
    call: str
    answer: str
    fields: tuple[Field, ...]
    picture: Markup
    followed: bool
    absent: tuple[str, ...]
    unexpected: tuple[str, ...]


def stages_of(component: str, profile: str, failure: ConformanceFailure) -> tuple[Stage, ...]:
    """Return the steps of a failing case, at most the last MOST_STAGES."""
    make_view = view_of(component)
    if make_view is None:
        return ()
    view = make_view(profile)
    answers = [*failure.answers, *[""] * (len(failure.lines) - len(failure.answers))]
    # A line that is no request says which vector the case comes from.
    asked = [
        (line, answer)
        for line, answer in zip(failure.lines, answers, strict=True)
        if line.startswith("{")
    ]
    found: list[Stage] = []
    lost = False
    for place, (line, answer) in enumerate(asked, start=1):
        _, operation, content = parse_request(line.encode())
        said = parse_object(answer.encode() or b"{}")
        expected = None if lost else _expected(view, operation, content, said)
        lost = expected is None
        fails = place == len(asked)
        found.append(
            Stage(
                place=place,
                call=_words(operation, content),
                answer=_short(said) if answer else "nothing",
                fields=_fields(said, expected or {}),
                picture=NOTHING if lost else view.picture(),
                followed=not lost,
                absent=_beyond(expected or {}, said) if fails else (),
                unexpected=_beyond(said, expected or {}) if fails else (),
            )
        )
    return tuple(found[-MOST_STAGES:])


def _beyond(told: JsonObject, other: JsonObject) -> tuple[str, ...]:
    """Return what stands in the lists of one answer and not in those of the other."""
    return tuple(
        f"{name} {one if isinstance(one, str) else _value(one)}"
        for name, value in told.items()
        for one in _list(value)
        if name in other and one not in _list(other[name])
    )


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _expected(
    view: CaseView, operation: str, content: JsonObject, said: JsonObject
) -> JsonObject | None:
    """Return the expected answer; None if the reference cannot follow the case."""
    try:
        return view.perform(operation, content, said)
    except RefusedError as refusal:
        return refusal_fields(refusal)
    except (MalformedError, WheelproofError, KeyError):
        return None


def _fields(said: JsonObject, expected: JsonObject) -> tuple[Field, ...]:
    names = dict.fromkeys((*expected, *said))
    return tuple(
        Field(
            name=name,
            answered=_value(said[name]) if name in said else "",
            expected=_value(expected[name]) if name in expected else "",
        )
        for name in names
    )


def _short(said: JsonObject) -> str:
    """Return an answer without the fields that are empty."""
    told = (f"{name}={_value(value)}" for name, value in said.items() if value not in ([], {}))
    return ", ".join(told) or "ok"


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _words(operation: str, content: JsonObject) -> str:
    """Return a request in short: its operation and its arguments."""
    arguments = as_object(content.get("args") or content.get("config") or {}, "has")
    shown = ", ".join(
        f"{name}={value if isinstance(value, str) else _value(value)}"
        for name, value in arguments.items()
    )
    return f"{operation}({shown})"
