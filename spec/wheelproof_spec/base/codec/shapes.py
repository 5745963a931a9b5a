"""The shape of a JSON object, made from the dataclass that defines it."""

from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from wheelproof_spec.base.codec.vocabulary import (
    ABSENT,
    MOST_NAMES,
    About,
    Absent,
    Length,
    Needed,
    Only,
    Wire,
    Within,
)

MetadataT = TypeVar("MetadataT")


@dataclass(frozen=True, slots=True)
class StringKind:
    """A string with bounds on its length, or one of `choices`, the members of `enum` if given."""

    least: int
    greatest: int
    choices: tuple[str, ...] = ()
    enum: type[StrEnum] | None = None


@dataclass(frozen=True, slots=True)
class IntegerKind:
    """An integer within bounds."""

    least: int
    greatest: int


@dataclass(frozen=True, slots=True)
class BooleanKind:
    """True or false."""


@dataclass(frozen=True, slots=True)
class ListKind:
    """A list of items of one kind."""

    item: "Kind"
    greatest: int = MOST_NAMES


@dataclass(frozen=True, slots=True)
class MapKind:
    """An object whose names are data: strings, or integers in decimal."""

    key: "StringKind | IntegerKind"
    value: "Kind"
    greatest: int = MOST_NAMES


@dataclass(frozen=True, slots=True)
class RecordKind:
    """An object of one of these shapes, told apart by their first field, a choice."""

    shapes: "tuple[Shape, ...]"


Kind = StringKind | IntegerKind | BooleanKind | ListKind | MapKind | RecordKind


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an object; `default` is its value where it is left out."""

    name: str
    kind: Kind
    required: bool
    nullable: bool
    about: str
    default: object


@dataclass(frozen=True, slots=True)
class Shape:
    """An object: its class, its fields, and the default values of the fields that it never has."""

    cls: type[object]
    fields: tuple[Field, ...]
    left_out: tuple[tuple[str, object], ...] = ()

    @property
    def about(self) -> str:
        """What the object is, in a sentence."""
        return (self.cls.__doc__ or "").strip().partition("\n")[0]


def shape_of(
    cls: type[object],
    choices: Mapping[str, str] | None = None,
    required: Collection[str] = (),
    without: Collection[str] = (),
    wire: Wire = Wire.BOTH,
    **parameters: "tuple[type[object] | Shape, ...]",
) -> Shape:
    """Return the shape of a dataclass on a wire.

    `choices` narrows a field of strings to one value; `required` makes fields required that may
    otherwise be absent, and `without` leaves such fields out; `parameters` says what a field whose
    type is a type variable holds.
    """
    if not is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is no dataclass, so it defines no object")
    hints: Mapping[str, object] = get_type_hints(cls, include_extras=True)
    found: list[Field] = []
    left_out: list[tuple[str, object]] = []
    for definition in fields(cls):
        name, hint = definition.name, hints[definition.name]
        default = _default_of(definition.default, definition.default_factory)
        only = _first(hint, Only)
        if name in without or (only is not None and not only.wire & wire):
            if default is MISSING:
                raise TypeError(f"{name}: a field that can be left out needs a default")
            left_out.append((name, default))
            continue
        optional = default is None or default is ABSENT or (only is None and default is not MISSING)
        needed = _first(hint, Needed)
        optional = optional and not (needed is not None and needed.wire & wire)
        field = _field(
            name, hint, default, wire, parameters.get(name, ()), (choices or {}).get(name)
        )
        found.append(replace(field, required=name in required or not optional))
    return Shape(cls, tuple(found), tuple(left_out))


def names_on(cls: type[object], wire: Wire) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass that are on a wire."""
    if not is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is not a dataclass, so it has no form on the wire")
    hints: Mapping[str, object] = get_type_hints(cls, include_extras=True)
    only = {name: _first(hint, Only) for name, hint in hints.items()}
    return tuple(
        field.name
        for field in fields(cls)
        if (found := only[field.name]) is None or found.wire & wire
    )


def _default_of(default: object, factory: object) -> object:
    return factory() if default is MISSING and callable(factory) else default


def _field(
    name: str,
    hint: object,
    default: object,
    wire: Wire,
    parameter: tuple[type[object] | Shape, ...],
    choice: str | None,
) -> Field:
    about = _first(hint, About)
    members = _members(hint)
    if (Absent in members) is not (default is ABSENT):
        raise TypeError(f"{name}: a field may be absent exactly if that is its default")
    if choice is not None:
        kind: Kind = StringKind(1, len(choice), (choice,))
    elif parameter:
        shapes = tuple(
            item if isinstance(item, Shape) else shape_of(item, wire=wire) for item in parameter
        )
        kind = RecordKind(shapes)
        kind = ListKind(kind) if get_origin(_bare(hint)) is tuple else kind
    else:
        kinds = [
            member
            for member in members
            if member is not Absent and member is not NoneType and _is_on(wire, member)
        ]
        if len(kinds) != 1:
            raise TypeError(f"{name}: cannot be both {' and '.join(map(repr, kinds))}")
        kind = _kind(kinds[0], wire)
    nullable = NoneType in members and default is not None
    return Field(name, kind, True, nullable, "" if about is None else about.text, default)


def _is_on(wire: Wire, member: object) -> bool:
    """Tell whether a field has this type on a wire; `Annotated` may limit a type to one wire."""
    only = _first(member, Only)
    return only is None or bool(only.wire & wire)


def _kind(hint: object, wire: Wire) -> Kind:
    bare = _bare(hint)
    if bare is bool:
        return BooleanKind()
    if bare is int:
        within = _first(hint, Within) or Within()
        return IntegerKind(within.least, within.greatest)
    if bare is str:
        length = _first(hint, Length) or Length()
        return StringKind(length.least, length.greatest)
    arguments, origin = _arguments(bare), get_origin(bare)
    if origin is Literal:
        return _choice_of(tuple(str(choice) for choice in arguments))
    if origin is tuple:
        return ListKind(_kind(arguments[0], wire))
    if origin is Mapping:
        key, value = (_kind(argument, wire) for argument in arguments)
        if not isinstance(key, StringKind | IntegerKind):
            raise TypeError(f"{hint!r} has keys that JSON cannot write")
        return MapKind(key, value)
    if isinstance(bare, type) and issubclass(bare, StrEnum):
        return _choice_of(tuple(member.value for member in bare), bare)
    if isinstance(bare, type):
        return RecordKind((shape_of(bare, wire=wire),))
    raise TypeError(f"{hint!r} is no type that a line can have")


def _choice_of(choices: tuple[str, ...], enum: type[StrEnum] | None = None) -> StringKind:
    return StringKind(1, max(map(len, choices)), choices, enum)


def _members(hint: object) -> tuple[object, ...]:
    bare = _bare(hint)
    if get_origin(bare) in (Union, UnionType):
        return tuple(NoneType if member is None else member for member in _arguments(bare))
    return (hint,)


def _bare(hint: object) -> object:
    return _arguments(hint)[0] if get_origin(hint) is Annotated else hint


def _first(hint: object, cls: type[MetadataT]) -> MetadataT | None:
    """Return the metadata of this class in `Annotated`, if any."""
    metadata = _arguments(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((found for found in metadata if isinstance(found, cls)), None)


def _arguments(hint: object) -> tuple[object, ...]:
    if get_origin(hint) is Annotated:
        return (getattr(hint, "__origin__", None), *getattr(hint, "__metadata__", ()))
    return get_args(hint)
