"""The manifest of a campaign: the seeds that are done, the failures, and counts that add up."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

from wheelproof_spark.base.errors import PipelineError
from wheelproof_spark.campaign.seed_ranges import Range, joined, size
from wheelproof_spark.tables.documents import document_of, parsed_document
from wheelproof_spark.tables.plan import Plan
from wheelproof_spec.base.errors import UsageError

SCHEMA = "wheelproof.campaign/2"
ROWS = "ledger"
"""The table of all rows."""


@dataclass(slots=True, kw_only=True)
class TargetEntry:
    """The seeds of one target: those done, and those that could not be run.

    done = passed + failed. `calls` has the number of calls of each kind.
    """

    done: list[Range] = field(default_factory=list[Range])
    passed: int = 0
    failed: int = 0
    failed_to_run: list[int] = field(default_factory=list[int])
    calls: dict[str, int] = field(default_factory=dict[str, int])

    def add_done(self, seeds: Iterable[int]) -> None:
        """Record seeds that have been run."""
        ran = set(seeds)
        self.done = joined([*self.done, *((seed, seed) for seed in ran)])
        self.failed_to_run = [seed for seed in self.failed_to_run if seed not in ran]


@dataclass(slots=True, kw_only=True)
class Failure:
    """A rule that a target breaks: the number of failing seeds, the first one, and its report.

    `details` is empty until the seed has been shrunk.
    """

    target: str
    rule: str
    seed: int
    seeds: int
    repeat: str
    summary: str = ""
    details: str = ""


@dataclass(slots=True, kw_only=True)
class Wave:
    """A wave: the seeds that were committed together."""

    number: int
    seeds: int
    seconds: float
    master: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedCounts:
    """Totals: seeds = done + failed_to_run, done = passed + failed."""

    seeds: int
    done: int
    passed: int
    failed: int
    failed_to_run: int


@dataclass(slots=True, kw_only=True)
class CampaignManifest:
    """All committed data; `meaning` has the versions that decide what a seed does."""

    meaning: dict[str, str]
    targets: dict[str, TargetEntry] = field(default_factory=dict[str, TargetEntry])
    failures: list[Failure] = field(default_factory=list[Failure])
    waves: list[Wave] = field(default_factory=list[Wave])

    def counts(self) -> SeedCounts:
        """Return the totals; raises PipelineError if they do not add up."""
        entries = self.targets.values()
        done = sum(size(entry.done) for entry in entries)
        passed = sum(entry.passed for entry in entries)
        failed = sum(entry.failed for entry in entries)
        failed_to_run = sum(len(entry.failed_to_run) for entry in entries)
        if done != passed + failed:
            raise PipelineError(
                f"{done:,} seeds are done, but {passed:,} pass and {failed:,} fail; "
                "nothing was committed"
            )
        if failed != sum(failure.seeds for failure in self.failures):
            raise PipelineError(f"{failed:,} seeds fail without a rule; nothing was committed")
        return SeedCounts(
            seeds=done + failed_to_run,
            done=done,
            passed=passed,
            failed=failed,
            failed_to_run=failed_to_run,
        )

    def require_meaning(self, meaning: Mapping[str, str]) -> None:
        """Raise UsageError if the same seeds would do something else now."""
        for name, value in meaning.items():
            if self.meaning.get(name) != value:
                raise UsageError(
                    f"the ledger was made with {name} {self.meaning.get(name)}, and this is "
                    f"{value}: the same seeds mean something else; name another output"
                )

    def entry(self, target: str) -> TargetEntry:
        """Return the entry of a target; make a new one if there is none."""
        return self.targets.setdefault(target, TargetEntry())

    def add_failure(self, found: Failure) -> bool:
        """Record seeds that break a rule; return whether no earlier seed broke it."""
        for known in self.failures:
            if (known.target, known.rule) == (found.target, found.rule):
                known.seeds += found.seeds
                return False
        self.failures.append(found)
        return True


def load(plan: Plan) -> CampaignManifest | None:
    """Return the manifest in a plan; None if there is none yet.

    Raises InputRejectedError if it cannot be read, UsageError if it is not a campaign's.
    """
    if plan.document is None:
        return None
    where, remedy = str(plan.output), "name another output"
    return parsed_document(plan.document, where, CampaignManifest, SCHEMA, remedy)


def text_of(manifest: CampaignManifest) -> str:
    """Return the manifest as the document of a plan; raises PipelineError if it does not add up."""
    manifest.counts()
    return document_of(asdict(manifest), SCHEMA)
