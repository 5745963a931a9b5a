"""The driver protocol of a component: parsers and writers, made from its definition."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Generic, cast

from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.codec.compiled import compile_shape
from wheelproof_spec.base.codec.explain import build
from wheelproof_spec.base.codec.shapes import Shape, shape_of
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.codec.writer import plain_fields
from wheelproof_spec.base.component import (
    Call,
    CallT,
    ComponentDefinition,
    Config,
    Operation,
    SeenT,
)
from wheelproof_spec.base.history.lines import VectorStep
from wheelproof_spec.base.strict_json import JsonObject, MalformedError, require_fields, text

_NO_ARGUMENTS: JsonObject = {}


class DrivenWire(Generic[CallT, SeenT]):
    """The JSON form of a component's calls and observations in the driver protocol."""

    def __init__(self, definition: ComponentDefinition[CallT, SeenT]) -> None:
        """Compile the readers and writers of `definition`."""
        self._config = shape_of(definition.config, wire=Wire.DRIVEN)
        self._calls: dict[str, Shape] = {}
        self._answers: dict[type[Call], Callable[[JsonObject], object]] = {}
        self._told: dict[type[Call], frozenset[str]] = {}
        for operation in definition.operations_on(Wire.DRIVEN):
            self._calls[operation.name] = shape_of(operation.call, wire=Wire.DRIVEN)
            answer = answer_shape(definition, operation)
            self._answers[operation.call] = _reader(answer)
            self._told[operation.call] = frozenset(field.name for field in answer.fields)
        self._nothing = definition.observation()

    def parse_call(self, operation: str, content: JsonObject) -> CallT:
        """Return the call that a request makes; raises MalformedError."""
        if operation == "reset":
            require_fields(content, ("component", "config"))
            text(content, "component")
            config = cast(Config, build(self._config, content["config"], "config"))
            return cast(CallT, Reset(config=config))
        if operation not in self._calls:
            known = ", ".join(sorted({"reset", *self._calls}))
            raise MalformedError(f"asks for the unknown operation {operation!r} (known: {known})")
        shape = self._calls[operation]
        require_fields(content, ("args",) if shape.fields else ())
        return cast(CallT, build(shape, content.get("args", _NO_ARGUMENTS), "args"))

    def answer(self, call: CallT, seen: SeenT) -> JsonObject:
        """Return the fields that answer `call`."""
        told = self._told.get(_class_of(call), frozenset())
        shown = plain_fields(seen, Wire.DRIVEN)
        return {name: value for name, value in shown.items() if name in told}

    def parse_answer(self, content: JsonObject, call: CallT) -> SeenT:
        """Return the observation in an answer to `call`; raises MalformedError."""
        if isinstance(call, Reset):
            require_fields(content, ())
            return self._nothing
        return cast(SeenT, self._answers[_class_of(call)](content))


def answer_shape(definition: ComponentDefinition[CallT, SeenT], operation: Operation) -> Shape:
    """Return the shape of a driver's answer: the fields of the observation that the call shows."""
    hidden = _not_told(definition, operation)
    return shape_of(
        definition.observation, required=operation.tells, without=hidden, wire=Wire.DRIVEN
    )


def step_shapes(definition: ComponentDefinition[CallT, SeenT]) -> tuple[Shape, ...]:
    """Return the steps that a vector may have, told apart by `op`; none if there are no vectors."""
    if definition.vectors is None:
        return ()
    expectation = definition.vectors.expectation
    found: list[Shape] = []
    for operation in definition.operations_on(Wire.DRIVEN):
        call = shape_of(operation.call, wire=Wire.DRIVEN)
        expect = shape_of(expectation, without=_not_told(definition, operation), wire=Wire.DRIVEN)
        found.append(
            shape_of(
                VectorStep,
                {"op": operation.name},
                required=("args",) if call.fields else (),
                without=() if call.fields else ("args",),
                args=(call,),
                expect=(expect,),
            )
        )
    return tuple(found)


def _not_told(
    definition: ComponentDefinition[CallT, SeenT], operation: Operation
) -> tuple[str, ...]:
    """Return the fields of the observation that an answer to this call does not have."""
    observation = definition.observation
    assert is_dataclass(observation)
    told = {*definition.always, *operation.tells, *operation.may_tell}
    return tuple(field.name for field in fields(observation) if field.name not in told)


def _reader(shape: Shape) -> Callable[[JsonObject], object]:
    """Return a reader for objects of this shape: the compiled one, then the one that explains."""
    shortcut = compile_shape(shape, ascii_alone=True)

    def read(content: JsonObject) -> object:
        try:
            found = shortcut(content)
        except (KeyError, TypeError, ValueError):
            found = None
        return build(shape, content) if found is None else found

    return read


def _class_of(call: object) -> type[Call]:
    assert isinstance(call, Call)
    return type(call)
