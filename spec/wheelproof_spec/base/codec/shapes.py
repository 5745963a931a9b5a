"""What a JSON object looks like, read off the dataclass that defines it."""

from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin, get_type_hints

from wheelproof_spec.base.codec.vocabulary import MOST_NAMES, About, Absent, Length, Within


@dataclass(frozen=True, slots=True)
class StringKind:
    """A string of so many characters, or one of the choices."""

    least: int
    greatest: int
    choices: tuple[str, ...] = ()


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
class RecordKind:
    """An object of one of these shapes, told apart by their first field, a choice."""

    shapes: "tuple[Shape, ...]"


Kind = StringKind | IntegerKind | BooleanKind | ListKind | RecordKind


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an object."""

    name: str
    kind: Kind
    required: bool
    nullable: bool
    about: str


@dataclass(frozen=True, slots=True)
class Shape:
    """An object: the class that it becomes, and its fields."""

    cls: type[object]
    fields: tuple[Field, ...]

    @property
    def about(self) -> str:
        """What the object is, in a sentence."""
        return (self.cls.__doc__ or "").strip().partition("\n")[0]


def shape_of(
    cls: type[object],
    choices: Mapping[str, str] | None = None,
    required: Collection[str] = (),
    without: Collection[str] = (),
    **parameters: tuple[type[object], ...],
) -> Shape:
    """Return the shape of a dataclass.

    `choices` narrows a field of strings to one value; `required` makes fields required that may
    otherwise be absent, and `without` leaves such fields out; `parameters` says what a field whose
    type is a type variable holds.
    """
    if not is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is no dataclass, so it defines no object")
    hints: Mapping[str, object] = get_type_hints(cls, include_extras=True)
    return Shape(
        cls,
        tuple(
            _field(
                one.name,
                hints[one.name],
                one.default is MISSING,
                one.name in required,
                parameters.get(one.name, ()),
                (choices or {}).get(one.name),
            )
            for one in fields(cls)
            if one.name not in without
        ),
    )


def _field(
    name: str,
    hint: object,
    without_default: bool,
    required: bool,
    parameter: tuple[type[object], ...],
    choice: str | None,
) -> Field:
    about = ""
    if get_origin(hint) is Annotated:
        about = next((one.text for one in _metadata(hint) if isinstance(one, About)), "")
    members = _members(hint)
    if (Absent in members) is without_default:
        raise TypeError(f"{name}: a field may be absent exactly if it has a default")
    if choice is not None:
        kind: Kind = StringKind(1, len(choice), (choice,))
    elif parameter:
        kind = RecordKind(tuple(_record_shape(cls) for cls in parameter))
        kind = ListKind(kind) if get_origin(_bare(hint)) is tuple else kind
    else:
        kinds = [one for one in members if one is not Absent and one is not NoneType]
        if len(kinds) != 1:
            raise TypeError(f"{name}: cannot be both {' and '.join(map(repr, kinds))}")
        kind = _kind(kinds[0])
    return Field(name, kind, required or without_default, NoneType in members, about)


def _kind(hint: object) -> Kind:
    metadata = _metadata(hint)
    bare = _bare(hint)
    if bare is bool:
        return BooleanKind()
    if bare is int:
        within = next((one for one in metadata if isinstance(one, Within)), Within())
        return IntegerKind(within.least, within.greatest)
    if bare is str:
        length = next((one for one in metadata if isinstance(one, Length)), Length())
        return StringKind(length.least, length.greatest)
    arguments = _arguments(bare)
    if get_origin(bare) is Literal:
        choices = tuple(str(one) for one in arguments)
        return StringKind(1, max(map(len, choices)), choices)
    if get_origin(bare) is tuple:
        return ListKind(_kind(arguments[0]))
    if isinstance(bare, type):
        return RecordKind((_record_shape(bare),))
    raise TypeError(f"{hint!r} is no type that a line can have")


def _record_shape(cls: type[object]) -> Shape:
    return shape_of(cls)


def _members(hint: object) -> tuple[object, ...]:
    bare = _bare(hint)
    if get_origin(bare) in (Union, UnionType):
        return tuple(_bare_if_union(one) for one in _arguments(bare))
    return (hint,)


def _bare_if_union(hint: object) -> object:
    return NoneType if hint is None else hint


def _bare(hint: object) -> object:
    return _arguments(hint)[0] if get_origin(hint) is Annotated else hint


def _metadata(hint: object) -> tuple[object, ...]:
    return _arguments(hint)[1:] if get_origin(hint) is Annotated else ()


def _arguments(hint: object) -> tuple[object, ...]:
    if get_origin(hint) is Annotated:
        return (getattr(hint, "__origin__", None), *getattr(hint, "__metadata__", ()))
    return get_args(hint)
