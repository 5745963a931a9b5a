"""The timer as a component to be judged."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from wheelproof_spec.base.contract import (
    HASHED_WHEEL,
    KAFKA,
    NEVER_EARLY,
    FiringOrder,
    TimerContract,
)
from wheelproof_spec.base.known_limits import KnownLimit, skips
from wheelproof_spec.base.port import SendingPort
from wheelproof_spec.base.strict_json import JsonObject
from wheelproof_spec.base.suite import Account, FuzzPlan, Scenario, Suite
from wheelproof_spec.components.timer.calls import (
    TIMER,
    Advance,
    TimerCall,
    TimerObservation,
    parse_timer_answer,
)
from wheelproof_spec.components.timer.cases import TimerCases
from wheelproof_spec.components.timer.clauses import SKIPPABLE, TimerClause, TimerLimit
from wheelproof_spec.components.timer.domain import TimerDomain
from wheelproof_spec.components.timer.judge import TimerJudge
from wheelproof_spec.components.timer.scenarios import timer_scenarios
from wheelproof_spec.engines.drive.drawn_cases import run_drawn_cases
from wheelproof_spec.engines.drive.driver.messages import VIRTUAL_TIME

if TYPE_CHECKING:
    from wheelproof_spec.base.fuzz_report import FuzzReport

TIMER_CONTRACTS = {contract.name: contract for contract in (KAFKA, NEVER_EARLY, HASHED_WHEEL)}
"""The contracts that a timer may declare, by name."""
_FEWEST_BUCKETS_BUT_ONE = 2
_LEVELS_OF_SHORT_JUMPS = 2


class TimerSuite(Suite[TimerCall, TimerObservation]):
    """Judges timers by the oracle's heap (semantics.md 1)."""

    component: ClassVar[str] = TIMER
    capabilities: ClassVar[tuple[str, ...]] = (VIRTUAL_TIME,)
    profiles: ClassVar[tuple[str, ...]] = tuple(TIMER_CONTRACTS)
    clauses: ClassVar[tuple[str, ...]] = tuple(TimerClause)
    limits: ClassVar[tuple[str, ...]] = tuple(TimerLimit)
    skippable: ClassVar[tuple[str, ...]] = SKIPPABLE
    needs: ClassVar[tuple[str, ...]] = ()

    def parse_answer(self, fields: JsonObject, call: TimerCall) -> TimerObservation:
        """Return what an answer shows; see `Suite.parse_answer`."""
        return parse_timer_answer(fields, call)

    def judge(self, profile: str, known_limits: Sequence[KnownLimit]) -> TimerJudge:
        """Return a judge; see `Suite.judge`."""
        return TimerJudge(_contract(profile, known_limits))

    def account(
        self, call: TimerCall, seen: TimerObservation, known_limits: Sequence[KnownLimit]
    ) -> Account[TimerObservation]:
        """Count a deadline and an order for each task that ran; see `Suite.account`."""
        judged: Counter[str] = Counter({TimerClause.ACCEPTS_ITS_DOMAIN: 1})
        if seen.fired:
            judged[TimerClause.RUNS_AT_MOST_ONCE] = len(seen.fired)
            judged[TimerClause.NEVER_BEFORE_DUE] = len(seen.fired)
            judged[TimerClause.RUNS_IN_ORDER] = len(seen.fired) - 1
        if isinstance(call, Advance):
            judged[TimerClause.NOTHING_LEFT_BEHIND] = 1
        if seen.cancelled is not None:
            judged[TimerClause.CANCEL_TELLS_THE_TRUTH] = 1
        if seen.size is not None:
            judged[TimerClause.SIZE_COUNTS_WAITING] = 1
        skipped = {
            clause: judged.pop(clause) for clause in list(judged) if skips(known_limits, clause)
        }
        hide_cancelled = TimerClause.CANCEL_TELLS_THE_TRUTH in skipped
        hide_size = TimerClause.SIZE_COUNTS_WAITING in skipped
        return Account(
            seen=TimerObservation(
                fired=seen.fired,
                cancelled=None if hide_cancelled else seen.cancelled,
                size=None if hide_size else seen.size,
            ),
            checked=judged,
            skipped=skipped,
        )

    def scenarios(self) -> Sequence[Scenario[TimerCall]]:
        """Return the named cases; see `Suite.scenarios`."""
        return timer_scenarios()

    def fuzz(
        self,
        port: SendingPort[TimerCall, TimerObservation],
        profile: str,
        known_limits: Sequence[KnownLimit],
        plan: FuzzPlan,
    ) -> "FuzzReport":
        """Drive cases that are sent ahead; see `Suite.fuzz`."""
        one_bucket = not skips(known_limits, TimerLimit.ONE_BUCKET)
        domain = TimerDomain(
            min_wheel_size=1 if one_bucket else _FEWEST_BUCKETS_BUT_ONE,
            negative_delays=not skips(known_limits, TimerLimit.NEGATIVE_DELAY),
            max_level=_LEVELS_OF_SHORT_JUMPS
            if skips(known_limits, TimerLimit.LONG_JUMP)
            else TimerDomain().max_level,
        )
        cases = TimerCases(domain, _contract(profile, known_limits))
        judge = self.judge(profile, known_limits)
        return run_drawn_cases("timer, driven", cases, port, judge, plan)


def _contract(profile: str, known_limits: Sequence[KnownLimit]) -> TimerContract:
    contract = TIMER_CONTRACTS[profile]
    if skips(known_limits, TimerClause.RUNS_IN_ORDER):
        return replace(contract, order=FiringOrder.ANY)
    return contract
