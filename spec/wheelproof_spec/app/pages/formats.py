"""The reference page of the formats, docs/formats.md, made from the definitions.

``python -m wheelproof_spec.app.pages.formats`` renews it; a test compares it.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

from wheelproof_spec.app.recorded import LINES
from wheelproof_spec.base.codec.driven import answer_shape, step_shapes
from wheelproof_spec.base.codec.shapes import (
    BooleanKind,
    Field,
    IntegerKind,
    Kind,
    ListKind,
    MapKind,
    RecordKind,
    Shape,
    StringKind,
    shape_of,
)
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.history.lines import HISTORY, TRACE, VECTOR
from wheelproof_spec.base.reports import write_text
from wheelproof_spec.base.resources import checkout_directory
from wheelproof_spec.components.registry import definitions
from wheelproof_spec.engines.history.line_parser import LINE_LIMIT

_HEAD = f"""# Formats of traces, histories and vectors

Made by `python -m wheelproof_spec.app.pages.formats` from the definitions in
`spec/wheelproof_spec/components`; `wheelproof schema print` gives the same as JSON Schema, and
`wheelproof schema validate FILE` says which lines follow it.

Each line is one JSON object in UTF-8 and ends with a newline; a line has at most {LINE_LIMIT:,}
bytes. Parsing is fail-closed: an unknown field, a missing one, a wrong type, a name that is
repeated is an input error with file and line, and never a violation. A field that may be absent
says, by its absence, that it was not observed. Files may be packed with gzip, and may hold several
runs, whose lines may be interleaved. [recording.md](recording.md) says how to record.
"""

_INTEGER_BOUNDS = {-(2**63): "", 2**63 - 1: "", -(2**62) + 1: "", 2**62 - 1: ""}


def render() -> str:
    """Return the page."""
    return "\n".join([_HEAD, *_history(), *_driver(), *_trace(), *_vector()])


def _history() -> Iterable[str]:
    shapes = LINES.shapes
    yield f"## Black-box history: `{HISTORY}`\n"
    yield "What callers asked for and got. The header:\n"
    yield from _table(shapes[HISTORY, "timer"], skip=("config",))
    yield "A line of an operation; `value` depends on the call, see below:\n"
    yield from _table(shapes["op", "add", "fail"], skip=("f", "type"), extra=_OP_ROWS)
    yield "The end:\n"
    yield from _table(shapes["end", "history"])
    yield "`error` is free, but these are understood: `Closed`, `Exhausted`, `IllegalArgument`, and"
    yield "`Crashed` for what no call may raise, which is a violation whatever the call was."
    yield "Something that *happens* is no call: a callback, recorded as an `invoke` when it begins;"
    yield "its process may be inside a call, and its `ok` may be left out.\n"
    for component in definitions():
        yield f"### {component.name}\n"
        yield "`config`:\n"
        yield from _table(shape_of(component.config, wire=Wire.RECORDED))
        yield "| call | what | `value` of `invoke` | `value` of `ok` |"
        yield "|---|---|---|---|"
        for operation in component.operations_on(Wire.RECORDED):
            asked, answered = _inline(operation.call), _inline(operation.returns)
            about = f"{operation.about} (happens)" if operation.happens else operation.about
            told = "" if operation.happens else answered
            yield f"| `{operation.name}` | {about} | {asked} | {told} |"
        yield ""


def _driver() -> Iterable[str]:
    yield "## Driver protocol: `wheelproof.driver/1`\n"
    yield "What a driver is asked, and what it answers; [adapters/README.md](../adapters/README.md)"
    yield "says how a conversation goes. An absent field means: not observed.\n"
    for component in definitions():
        yield f"### {component.name}: requests\n"
        yield "`config` of `reset`:\n"
        yield from _table(shape_of(component.config, wire=Wire.DRIVEN))
        yield "| `op` | what | `args` | `ok` of the answer |"
        yield "|---|---|---|---|"
        for operation in component.operations_on(Wire.DRIVEN):
            args = _fields(shape_of(operation.call, wire=Wire.DRIVEN))
            answer = _fields(answer_shape(component, operation))
            yield f"| `{operation.name}` | {operation.about} | {args} | {answer} |"
        yield ""


def _trace() -> Iterable[str]:
    shapes = LINES.shapes
    yield f"## White-box trace: `{TRACE}`\n"
    yield "What each thread did, at the granularity of the detailed TLA+ module. The header:\n"
    yield from _table(shapes[TRACE, "timer"], skip=("config",))
    yield "A step; `args` and `obs` depend on the action, see below:\n"
    yield from _table(shapes["event", "LockRead"], skip=("args", "obs", "action"))
    yield "The end:\n"
    yield from _table(shapes["end", "trace"])
    for component in definitions():
        if not component.actions:
            continue
        yield f"### {component.name}: the actions of `{component.module}.tla`\n"
        yield "| action | what | `args` | `obs`, all of which may be absent |"
        yield "|---|---|---|---|"
        for action in component.actions:
            args, obs = _inline(action.args), _inline(action.obs)
            yield f"| `{action.action}` | {action.about} | {args} | {obs} |"
        yield ""


def _vector() -> Iterable[str]:
    yield f"## Vector: `{VECTOR}`\n"
    yield "A driven case, one a line.\n"
    yield from _table(LINES.shapes[VECTOR, "timer"], skip=("config", "steps"))
    for component in definitions():
        steps = step_shapes(component)
        if not steps:
            continue
        yield f"### {component.name}: steps\n"
        yield "A step is a request to a driver, and may have `expect`: what the answer has to show."
        yield ""
        yield "| `op` | what | `args` | `expect`, all of which may be absent |"
        yield "|---|---|---|---|"
        for operation, step in zip(component.operations_on(Wire.DRIVEN), steps, strict=True):
            parts = {field.name: field.kind for field in step.fields}
            args, expect = _fields_of(parts.get("args")), _fields_of(parts["expect"])
            yield f"| `{operation.name}` | {operation.about} | {args} | {expect} |"
        yield ""


_OP_ROWS = (
    "| `type` | `invoke`, `ok`, `fail`, `info` | the call begins; it returned; it was refused and "
    "had no effect; nobody knows, and it may take effect at any time from its beginning |",
    "| `f` | string | the call |",
)


def _table(shape: Shape, skip: tuple[str, ...] = (), extra: Iterable[str] = ()) -> Iterable[str]:
    if not shape.fields:
        yield "No fields.\n"
        return
    yield "| field | type | meaning |"
    yield "|---|---|---|"
    for field in shape.fields:
        if field.name not in skip:
            yield f"| `{field.name}` | {_type(field)} | {field.about} |"
    yield from extra
    yield ""


def _inline(cls: type[object]) -> str:
    return _fields(shape_of(cls, wire=Wire.RECORDED))


def _fields_of(kind: Kind | None) -> str:
    return _fields(kind.shapes[0]) if isinstance(kind, RecordKind) else ""


def _fields(shape: Shape) -> str:
    return "; ".join(
        f"`{field.name}`: {_type(field)}{', ' + field.about if field.about else ''}"
        for field in shape.fields
    )


def _type(field: Field) -> str:
    words = _kind(field.kind)
    if field.nullable:
        words += " or null"
    return words if field.required else f"{words}, may be absent"


def _kind(kind: Kind) -> str:
    match kind:
        case StringKind(choices=(_, *_)):
            return ", ".join(f"`{choice}`" for choice in kind.choices)
        case StringKind():
            return "string"
        case IntegerKind():
            least = _INTEGER_BOUNDS.get(kind.least, f" from {kind.least}")
            return f"integer{least}"
        case BooleanKind():
            return "boolean"
        case ListKind():
            return f"list of {_kind(kind.item)}"
        case MapKind():
            return f"object from {_kind(kind.key)} to {_kind(kind.value)}"
        case RecordKind(shapes=(shape,)):
            return f"object ({', '.join(f'`{field.name}`' for field in shape.fields)})"
        case RecordKind():
            return "object"


def main() -> int:
    """Write the page into the checkout."""
    checkout = checkout_directory()
    path = (checkout or Path()) / "docs" / "formats.md"
    write_text(path, render())
    return 0


if __name__ == "__main__":
    sys.exit(main())
