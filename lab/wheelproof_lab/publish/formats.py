"""The reference page of the formats, docs/formats.md, made from the definitions.

``python -m wheelproof_lab pages formats`` renews it; a test compares it.
"""

from collections.abc import Iterator
from functools import partial

from wheelproof_lab.publish.markdown import markdown, renew
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
from wheelproof_spec.base.component import AnyDefinition, Operation
from wheelproof_spec.base.history.lines import HISTORY, TRACE, VECTOR
from wheelproof_spec.components.registry import definitions
from wheelproof_spec.history.line_parser import LINE_LIMIT

_INTEGER_BOUNDS = {-(2**63): "", 2**63 - 1: "", -(2**62) + 1: "", 2**62 - 1: ""}


def render() -> str:
    """Return the page."""
    return markdown(
        "formats",
        line_limit=LINE_LIMIT,
        history=HISTORY,
        trace=TRACE,
        vector=VECTOR,
        wire=Wire,
        shapes=LINES.shapes,
        components=definitions(),
        on_recorded=partial(shape_of, wire=Wire.RECORDED),
        on_driven=partial(shape_of, wire=Wire.DRIVEN),
        answer=answer_shape,
        steps=_steps,
        fields=_fields,
        type=_type,
    )


def _steps(component: AnyDefinition) -> Iterator[tuple[Operation, Shape | None, Shape | None]]:
    """Yield the operations that may be steps of a vector, with arguments and expected answers."""
    if steps := step_shapes(component):
        for operation, step in zip(component.operations_on(Wire.DRIVEN), steps, strict=True):
            parts = {field.name: field.kind for field in step.fields}
            yield operation, _only_shape(parts.get("args")), _only_shape(parts["expect"])


def _only_shape(kind: Kind | None) -> Shape | None:
    return kind.shapes[0] if isinstance(kind, RecordKind) else None


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


def renew_page() -> int:
    """Write the page, and return the exit code."""
    return renew("docs/formats.md", render)
