"""What can be asked of the counter, what it shows, and what it promises."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.clause import Clause, Said
from wheelproof_spec.base.codec.vocabulary import DRIVEN, About, Count, Positive, Time
from wheelproof_spec.base.component import Call, ComponentDefinition, Config, Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterConfig(Config):
    """How a counter is made."""

    component: ClassVar[str] = "counter"

    bound: Annotated[Positive, About("what it counts up to")]
    start_ms: Annotated[Time, DRIVEN, About("what its clock, which it never reads, shows")] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Increment(Call):
    """Count one more, unless that is more than the bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look(Call):
    """Ask for the count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """The count."""

    value: Annotated[Count, About("the count")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incremented:
    """Whether one more was counted."""

    counted: Annotated[bool, About("whether this call counted")]


CounterCall = Reset[CounterConfig] | Increment | Look


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterObservation:
    """What a call showed."""

    counted: Annotated[bool | None, About("whether this call counted")] = None
    value: Annotated[int | None, About("the count")] = None


class CounterClause(Clause):
    """What a counter promises."""

    COUNTS = (
        "Counter.CountsUpToItsBound",
        Said(rule="1", promise="Each call below the bound counts, no other does."),
    )
    TELLS = (
        "Counter.TellsWhatItCounted",
        Said(rule="1", promise="The count is the number of calls that counted."),
    )
    KEEPS = (
        "Counter.KeepsToItsDomain",
        Said(
            rule="1",
            promise="No call of the domain is refused.",
            driven_alone="a history takes a refusal as it is",
        ),
    )


DEFINITION: ComponentDefinition[CounterCall, CounterObservation] = ComponentDefinition(
    name="counter",
    config=CounterConfig,
    operations=(
        Operation(call=Increment, returns=Incremented, tells=("counted",)),
        Operation(call=Look, returns=Value, tells=("value",)),
    ),
    observation=CounterObservation,
    always=(),
    clauses=CounterClause,
    profiles=("exact",),
)
