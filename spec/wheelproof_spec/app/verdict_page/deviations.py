"""What every deviation is: a clause of a profile that was not declared, or a finding.

A deviation is a clause that was broken, or a part of the domain that was skipped. One that is
not in this table stops the page from being made: it would be news.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.results.verdicts import ExitCode


class Kind(StrEnum):
    """What a deviation is put down to."""

    FINDING = "finding"
    PROFILE = "profile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """Why an implementation deviates in some clauses.

    `profile` None means every profile. `target` is a file, from docs/, that has the heading.
    """

    implementation: str
    component: str
    clauses: tuple[str, ...]
    kind: Kind
    sentence: str
    target: str
    heading: str
    profile: str | None = None

    @property
    def link(self) -> str:
        """Where it is written up, from docs/; the anchor is what Markdown makes of the heading."""
        letters = (one for one in self.heading.lower() if one.isalnum() or one in " -_")
        return f"{self.target}#{''.join(letters).replace(' ', '-')}"


class UnexplainedDeviationError(WheelproofSpecError):
    """Somebody deviates, and the table does not say why."""

    exit_code = ExitCode.FAIL


_TIMER = "findings.md"
_PURGATORY = "findings-purgatory.md"
_PRODUCER = "findings-producer.md"
_GUIDE = "../adapters/README.md"

DEVIATIONS = (
    Deviation(
        implementation="Apache Kafka",
        component="timer",
        clauses=("Domain.WheelOfOneBucket",),
        kind=Kind.FINDING,
        sentence="a wheel of one bucket recurses without end",
        target=_TIMER,
        heading="6. A wheel of one bucket recurses without end",
    ),
    Deviation(
        implementation="Apache Kafka",
        component="timer",
        clauses=("Domain.LongestDelay",),
        kind=Kind.FINDING,
        sentence="one add with a very long delay stops the timer for good",
        target=_TIMER,
        heading="7. One add with a very long delay stops the timer for good",
    ),
    Deviation(
        implementation="Apache Kafka",
        component="purgatory",
        profile="wheelproof",
        clauses=("Purgatory.WatchedCountsWatches",),
        kind=Kind.FINDING,
        sentence="operations that are done stay in the lists: what a purge leaves has no bound, "
        "and what was cancelled under one key stays under its others",
        target=_PURGATORY,
        heading="10. `purge_interval` is no bound: the estimate is overwritten",
    ),
    Deviation(
        implementation="Apache Kafka",
        component="purgatory",
        profile="wheelproof",
        clauses=(
            "Purgatory.CancelsWhoWaits",
            "Purgatory.CompletesForAReason",
            "Purgatory.CountsWhatItCompleted",
            "Purgatory.AnswersWhetherItCompleted",
            "Purgatory.ExpiresInTime",
        ),
        kind=Kind.FINDING,
        sentence="cancel_for_key returns operations that are completed all the same",
        target=_PURGATORY,
        heading="11. `cancel_for_key` returns operations that are completed all the same",
    ),
    Deviation(
        implementation="Apache Kafka",
        component="purgatory",
        profile="wheelproof",
        clauses=("Purgatory.DelayedCountsTimeouts",),
        kind=Kind.FINDING,
        sentence="an operation that is completed while it is being added stays in the timer",
        target=_PURGATORY,
        heading="9. An operation that is completed while it is being added stays in the timer",
    ),
    Deviation(
        implementation="Apache Kafka",
        component="buffer_pool",
        profile="longest-waiting-first",
        clauses=("BufferPool.LongestWaitingFirst",),
        kind=Kind.FINDING,
        sentence="a newcomer takes the memory that another thread waits for",
        target=_PRODUCER,
        heading="19. A newcomer takes the memory that another thread waits for",
    ),
    Deviation(
        implementation="Apache Kafka",
        component="buffer_pool",
        clauses=("Domain.TwoGiBOfPooledBuffers",),
        kind=Kind.FINDING,
        sentence="with 2 GiB or more of pooled buffers the pool does not see them",
        target=_PRODUCER,
        heading="21. With 2 GiB or more of pooled buffers the pool does not see them",
    ),
    Deviation(
        implementation="Apache Kafka",
        component="buffer_pool",
        clauses=("Domain.BufferGivenBackTwice",),
        kind=Kind.FINDING,
        sentence="a buffer that is given back twice makes memory out of nothing",
        target=_PRODUCER,
        heading="22. A buffer that is given back twice makes memory out of nothing, "
        "and has two users",
    ),
    Deviation(
        implementation="Apache Kafka",
        component="buffer_pool",
        clauses=("Domain.SizeOutsideThePool",),
        kind=Kind.FINDING,
        sentence="a negative size is reserved before it is refused",
        target=_PRODUCER,
        heading="26. A negative size is reserved before it is refused",
    ),
    Deviation(
        implementation="Apache Kafka",
        component="accumulator",
        profile="wheelproof",
        clauses=("Accumulator.CallbacksInTheOrderOfTheAppends",),
        kind=Kind.FINDING,
        sentence="callbacks of a partition do not run in the order of the sends when batches "
        "expire, nor when the producer is closed by force (24)",
        target=_PRODUCER,
        heading="23. Callbacks of a partition do not run in the order of the sends "
        "when batches expire",
    ),
    Deviation(
        implementation="Apache Kafka",
        component="accumulator",
        clauses=("Domain.SplitOfOneRecord",),
        kind=Kind.PROFILE,
        sentence="that a batch of one record is not split is up to the sender; a split of one is "
        "a part of the domain that an implementation may declare as its limit",
        target=_GUIDE,
        heading="The component accumulator",
    ),
    Deviation(
        implementation="Netty",
        component="timer",
        profile="never-early",
        clauses=("Timer.NothingDueIsLeftBehind",),
        kind=Kind.PROFILE,
        sentence="the rounding of deadlines: never-early lets a deadline between two ticks be due "
        "at once, hashed-wheel at the end of the tick that it begins. On the machine's clock "
        "nobody sees where the ticks lie, and the two cannot be told apart",
        target=_GUIDE,
        heading="How to write your own",
    ),
    Deviation(
        implementation="Netty",
        component="timer",
        profile="kafka",
        clauses=("Timer.NothingDueIsLeftBehind", "Timer.RunsWithinItsLateness"),
        kind=Kind.PROFILE,
        sentence="the rounding of deadlines: kafka has them rounded down to the tick, and this "
        "wheel runs a task when the tick of its deadline is over, up to a whole tick later",
        target=_GUIDE,
        heading="How to write your own",
    ),
    Deviation(
        implementation="Netty",
        component="timer",
        clauses=("Timer.SizeCountsWaitingTasks",),
        kind=Kind.PROFILE,
        sentence="a clause that an implementation may declare as its limit",
        target=_GUIDE,
        heading="How to write your own",
    ),
    Deviation(
        implementation="Netty",
        component="timer",
        clauses=("Domain.NegativeDelay", "Domain.LongestDelay", "Domain.LongJump"),
        kind=Kind.PROFILE,
        sentence="parts of the domain that an implementation may declare as its limit",
        target=_GUIDE,
        heading="How to write your own",
    ),
)


def explain(
    implementation: str,
    component: str,
    profile: str,
    clause: str,
    table: Sequence[Deviation] = DEVIATIONS,
) -> Deviation:
    """Return what a deviation is put down to; raises UnexplainedDeviationError if it is news."""
    for one in table:
        if (
            one.implementation == implementation
            and one.component == component
            and one.profile in (None, profile)
            and clause in one.clauses
        ):
            return one
    raise UnexplainedDeviationError(
        f"the {component} of {implementation} deviates from profile {profile} by {clause}, and "
        "wheelproof_spec.app.verdict_page.deviations puts it down to nothing; look into it, "
        "write it up, and add it there"
    )
