"""Named cases for every purgatory: what Kafka's own tests ask, and the bounds of rule 2.10.

The sources are semantics.md 5 and 2.
"""

from collections.abc import Iterable

from wheelproof_spec.base.suite import Scenario
from wheelproof_spec.components.purgatory.calls import (
    Advance,
    AskGauges,
    Cancel,
    Check,
    Force,
    PurgatoryCall,
    PurgatoryConfig,
    Reset,
    SetCondition,
    Watch,
)

_LONG_MS = 200_000


def purgatory_scenarios() -> tuple[Scenario[PurgatoryCall], ...]:
    """Return all named cases of the purgatory."""
    return (*_scenarios_of_kafka(), *_scenarios_of_the_rules())


def _scenarios_of_kafka() -> Iterable[Scenario[PurgatoryCall]]:
    yield Scenario(
        name="completed per key: 0, 1, 0 as predicates become true one by one",
        calls=(
            _reset(),
            Check(key="k1"),
            _watch("r1", "k1", conditions=("p1",)),
            _watch("r2", "k2", conditions=("p2",)),
            Check(key="k1"),
            SetCondition(condition="p1"),
            Check(key="k1"),
            Check(key="k1"),
            SetCondition(condition="p2"),
            Check(key="k2"),
            Check(key="k2"),
            AskGauges(),
        ),
    )
    yield Scenario(
        name="20 ms expires and 200 s does not",
        calls=(
            _reset(),
            _watch("r1", "k1", delay_ms=20),
            _watch("r2", "k2"),
            Advance(to_ms=19),
            Advance(to_ms=20),
            AskGauges(),
            Check(key="k1"),
            AskGauges(),
        ),
    )
    yield Scenario(
        name="three operations under six watches",
        calls=(
            _reset(),
            _watch("r1", "k1"),
            _watch("r2", "k1", "k2"),
            _watch("r3", "k1", "k2", "k3"),
            AskGauges(),
            Force(operation_id="r2"),
            AskGauges(),
            Force(operation_id="r3"),
            AskGauges(),
            *(call for key in ("k1", "k2", "k3") for call in (Check(key=key), AskGauges())),
        ),
    )
    yield Scenario(
        name="cancelling a key returns its operations and leaves the others",
        calls=(
            _reset(),
            _watch("r1", "k1", delay_ms=10),
            _watch("r2", "k1", delay_ms=10),
            _watch("r3", "k2", delay_ms=10),
            Cancel(key="k1"),
            AskGauges(),
            Cancel(key="unknown"),
            Cancel(key="k1"),
            Advance(to_ms=10),
        ),
    )
    yield Scenario(
        name="what can end at once is not watched",
        calls=(
            _reset(),
            SetCondition(condition="p"),
            _watch("r1", "k1", conditions=("p",)),
            AskGauges(),
            _watch("r2", "k1", conditions=("q",)),
            AskGauges(),
        ),
    )


def _scenarios_of_the_rules() -> Iterable[Scenario[PurgatoryCall]]:
    yield Scenario(
        name="an operation is completed once, whoever comes next",
        calls=(
            _reset(),
            _watch("r1", "k1", "k2", delay_ms=10, conditions=("p", "q")),
            SetCondition(condition="q"),
            Check(key="k2"),
            Check(key="k1"),
            Force(operation_id="r1"),
            Advance(to_ms=10),
            Cancel(key="k1"),
            AskGauges(),
        ),
    )
    yield Scenario(
        name="a trigger tries everybody, in the order of their watches",
        calls=(
            _reset(),
            *(_watch(f"r{number}", "k", conditions=("p",)) for number in range(20)),
            *(Force(operation_id=f"r{number}") for number in range(0, 20, 3)),
            SetCondition(condition="p"),
            Check(key="k"),
            AskGauges(),
        ),
    )
    yield Scenario(
        name="a time-out of 0 ms expires with the next advance",
        calls=(
            _reset(),
            Advance(to_ms=7),
            _watch("r1", "k", delay_ms=0),
            Advance(to_ms=7),
            Check(key="k"),
            AskGauges(),
        ),
    )
    yield Scenario(
        name="operations that expire together do not stay in the lists",
        calls=(
            _reset(purge_interval=5),
            *(_watch(f"r{number}", f"k{number}", delay_ms=10) for number in range(20)),
            Advance(to_ms=10),
            Advance(to_ms=11),
            AskGauges(),
        ),
    )
    yield Scenario(
        name="what is done leaves the lists of keys that nobody triggers",
        calls=(
            _reset(purge_interval=5),
            *(_watch(f"r{number}", "k", f"other{number}") for number in range(20)),
            *(Force(operation_id=f"r{number}") for number in range(20)),
            Check(key="k"),
            Advance(to_ms=1),
            AskGauges(),
        ),
    )
    yield Scenario(
        name="an operation that is cancelled under one of its keys does not expire",
        calls=(
            _reset(),
            _watch("r1", "k1", "k2", delay_ms=10),
            Cancel(key="k1"),
            Advance(to_ms=20),
            Check(key="k2"),
            AskGauges(),
        ),
    )


def _reset(purge_interval: int = 1_000) -> Reset:
    return Reset(config=PurgatoryConfig(purge_interval=purge_interval))


def _watch(
    name: str, *keys: str, delay_ms: int = _LONG_MS, conditions: tuple[str, ...] = ()
) -> Watch:
    return Watch(operation_id=name, delay_ms=delay_ms, keys=keys, conditions=conditions)
