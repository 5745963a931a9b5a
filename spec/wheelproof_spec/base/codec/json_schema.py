"""JSON Schema of every line, made from the definitions."""

from collections.abc import Mapping

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
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(shapes: Mapping[tuple[str, ...], Shape]) -> dict[str, object]:
    """Return the schema of one line of any format, given every kind of line by its key."""
    return {
        "$schema": DIALECT,
        "title": "a line of a wheelproof trace, history or file of vectors",
        "oneOf": [{"$ref": f"#/$defs/{_name(key)}"} for key in shapes],
        "$defs": {_name(key): object_schema(shape) for key, shape in shapes.items()},
    }


def object_schema(shape: Shape) -> dict[str, object]:
    """Return the schema of an object of this shape."""
    schema: dict[str, object] = {"type": "object"}
    if shape.about:
        schema["description"] = shape.about
    return {
        **schema,
        "properties": {field.name: _field_schema(field) for field in shape.fields},
        "required": [field.name for field in shape.fields if field.required],
        "additionalProperties": False,
    }


def _field_schema(field: Field) -> dict[str, object]:
    schema: dict[str, object] = {}
    if field.nullable:
        schema["anyOf"] = [_kind_schema(field.kind), {"type": "null"}]
    else:
        schema.update(_kind_schema(field.kind))
    if field.about:
        schema["description"] = field.about
    return schema


def _kind_schema(kind: Kind) -> dict[str, object]:
    match kind:
        case StringKind(choices=(only,)):
            return {"const": only}
        case StringKind(choices=(_, *_)):
            return {"enum": list(kind.choices)}
        case StringKind():
            return {"type": "string", "minLength": kind.least, "maxLength": kind.greatest}
        case IntegerKind():
            return {"type": "integer", "minimum": kind.least, "maximum": kind.greatest}
        case BooleanKind():
            return {"type": "boolean"}
        case ListKind():
            return {
                "type": "array",
                "items": _kind_schema(kind.item),
                "maxItems": kind.greatest,
            }
        case MapKind():
            return {
                "type": "object",
                "propertyNames": _key_schema(kind.key),
                "additionalProperties": _kind_schema(kind.value),
                "maxProperties": kind.greatest,
            }
        case RecordKind(shapes=(shape,)):
            return object_schema(shape)
        case RecordKind():
            return {"oneOf": [object_schema(shape) for shape in kind.shapes]}


def _key_schema(kind: StringKind | IntegerKind) -> dict[str, object]:
    """Return the schema of a name; names in JSON are strings, so an integer is its digits."""
    if isinstance(kind, IntegerKind):
        return {"pattern": "^(0|-?[1-9][0-9]*)$"}
    return _kind_schema(kind)


def _name(key: tuple[str, ...]) -> str:
    return "-".join(key).replace("/", "-")
