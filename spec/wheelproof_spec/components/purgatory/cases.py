"""The cases of the purgatory: what Kafka's own tests and the rules ask, and drawn ones.

The sources are semantics.md 5 and 2.
"""

from collections.abc import Iterable, Sequence

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.port import SendingPort
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import FuzzPlan, Scenario, Suite, any_suite
from wheelproof_spec.components.purgatory.component import (
    DEFINITION,
    AskGauges,
    CancelForKey,
    CheckAndComplete,
    ForceComplete,
    PurgatoryCall,
    PurgatoryCapability,
    PurgatoryConfig,
    PurgatoryObservation,
    SetCondition,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.oracle import OraclePurgatory

_LONG_MS = 200_000


def purgatory_scenarios() -> tuple[Scenario[PurgatoryCall], ...]:
    """Return all named cases of the purgatory."""
    return (*_scenarios_of_kafka(), *_scenarios_of_the_rules())


def _scenarios_of_kafka() -> Iterable[Scenario[PurgatoryCall]]:
    yield Scenario(
        name="completed per key: 0, 1, 0 as predicates become true one by one",
        calls=(
            _reset(),
            CheckAndComplete(key="k1"),
            _watch("r1", "k1", conditions=("p1",)),
            _watch("r2", "k2", conditions=("p2",)),
            CheckAndComplete(key="k1"),
            SetCondition(condition="p1"),
            CheckAndComplete(key="k1"),
            CheckAndComplete(key="k1"),
            SetCondition(condition="p2"),
            CheckAndComplete(key="k2"),
            CheckAndComplete(key="k2"),
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
            CheckAndComplete(key="k1"),
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
            ForceComplete(operation="r2"),
            AskGauges(),
            ForceComplete(operation="r3"),
            AskGauges(),
            *(
                call
                for key in ("k1", "k2", "k3")
                for call in (CheckAndComplete(key=key), AskGauges())
            ),
        ),
    )
    yield Scenario(
        name="cancelling a key returns its operations and leaves the others",
        calls=(
            _reset(),
            _watch("r1", "k1", delay_ms=10),
            _watch("r2", "k1", delay_ms=10),
            _watch("r3", "k2", delay_ms=10),
            CancelForKey(key="k1"),
            AskGauges(),
            CancelForKey(key="unknown"),
            CancelForKey(key="k1"),
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
            CheckAndComplete(key="k2"),
            CheckAndComplete(key="k1"),
            ForceComplete(operation="r1"),
            Advance(to_ms=10),
            CancelForKey(key="k1"),
            AskGauges(),
        ),
    )
    yield Scenario(
        name="a trigger tries everybody, in the order of their watches",
        calls=(
            _reset(),
            *(_watch(f"r{number}", "k", conditions=("p",)) for number in range(20)),
            *(ForceComplete(operation=f"r{number}") for number in range(0, 20, 3)),
            SetCondition(condition="p"),
            CheckAndComplete(key="k"),
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
            CheckAndComplete(key="k"),
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
            *(ForceComplete(operation=f"r{number}") for number in range(20)),
            CheckAndComplete(key="k"),
            Advance(to_ms=1),
            AskGauges(),
        ),
    )
    yield Scenario(
        name="an operation that is cancelled under one of its keys does not expire",
        calls=(
            _reset(),
            _watch("r1", "k1", "k2", delay_ms=10),
            CancelForKey(key="k1"),
            Advance(to_ms=20),
            CheckAndComplete(key="k2"),
            AskGauges(),
        ),
    )


def _reset(purge_interval: int = 1_000) -> Reset[PurgatoryConfig]:
    return Reset(config=PurgatoryConfig(purge_interval=purge_interval))


def _watch(
    name: str, *keys: str, delay_ms: int = _LONG_MS, conditions: tuple[str, ...] = ()
) -> TryCompleteElseWatch:
    return TryCompleteElseWatch(operation=name, delay_ms=delay_ms, keys=keys, conditions=conditions)


def _asks_for(calls: Sequence[PurgatoryCall]) -> frozenset[str]:
    cancels = any(isinstance(call, CancelForKey) for call in calls)
    return frozenset({PurgatoryCapability.CANCEL_FOR_KEY} if cancels else ())


def _fuzz(
    port: SendingPort[PurgatoryCall, PurgatoryObservation],
    profile: str,
    tally: Tally,
    plan: FuzzPlan,
) -> FuzzReport:
    from wheelproof_spec.components.purgatory.fuzz.sequential import run_purgatory_fuzz

    return run_purgatory_fuzz(
        port,
        profile=profile,
        tally=tally,
        cases=plan.cases,
        seed=plan.seed,
        repeat=plan.repeat,
    )


SUITE = any_suite(
    Suite(
        definition=DEFINITION,
        judge=OraclePurgatory,
        scenarios=purgatory_scenarios,
        fuzz=_fuzz,
        asks_for=_asks_for,
    )
)
