"""The document of a plan: the tables that are there, and counts that add up."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from wheelproof_spark.base.errors import PipelineError
from wheelproof_spark.tables.documents import document_of, parsed_document
from wheelproof_spark.tables.files import FileEntry
from wheelproof_spark.tables.plan import Plan
from wheelproof_spec.base.errors import InputRejectedError, UsageError
from wheelproof_spec.base.results.verdicts import Verdict

SCHEMA = "wheelproof.pipeline/4"
_REMEDY = "name another output, and judge the input anew"


@dataclass(frozen=True, slots=True)
class Judged:
    """Counts of the runs with one verdict: runs, lines, duplicates, missing lines, cut-off runs.

    `judge` is the version of wheelproof that judged them; `shuffled` says that their lines came
    through the shuffle.
    """

    judge: str
    verdict: str
    shuffled: bool
    runs: int
    lines: int
    duplicates: int
    missing: int
    cut_off: int


@dataclass(slots=True, kw_only=True)
class Counts:
    """Totals: lines = good + quarantined, runs = passed + failed + inconclusive + error + open.

    Of the good lines, `repeated` are byte-for-byte copies in another file, and are not judged
    again; `cut_off` counts the runs without an end. Only a stream has `open` runs, whose
    `open_lines` wait, and `late` lines, which came after the verdict on their run.
    """

    files: int = 0
    lines: int = 0
    good: int = 0
    quarantined: int = 0
    runs: int = 0
    passed: int = 0
    failed: int = 0
    inconclusive: int = 0
    error: int = 0
    duplicates: int = 0
    missing: int = 0
    open: int = 0
    open_lines: int = 0
    late: int = 0
    repeated: int = 0
    cut_off: int = 0

    def require_sums(self, lines_of_runs: int) -> None:
        """Raise PipelineError unless every line and every run is counted exactly once."""
        ends = self.passed + self.failed + self.inconclusive + self.error + self.open
        if self.lines != self.good + self.quarantined:
            raise PipelineError(
                f"{self.lines:,} lines were read, but {self.good:,} good and "
                f"{self.quarantined:,} quarantined ones were written; nothing was committed"
            )
        if self.good != lines_of_runs + self.open_lines + self.late + self.repeated:
            waiting = f", {self.open_lines:,} wait and {self.late:,} are late" if self.open else ""
            raise PipelineError(
                f"{self.good:,} lines are good, but {lines_of_runs:,} were judged{waiting} and "
                f"{self.repeated:,} are repeats; nothing was committed"
            )
        if self.runs != ends:
            raise PipelineError(
                f"{self.runs:,} runs have {ends:,} verdicts or are open; nothing was committed"
            )

    def add_files(self, files: Sequence[FileEntry]) -> None:
        """Add files and their lines."""
        self.files += len(files)
        self.lines += sum(file.lines for file in files)
        self.good += sum(file.good for file in files)
        self.quarantined += sum(file.quarantined for file in files)

    def add_runs(self, judged: Sequence[Judged]) -> None:
        """Add runs that were judged, by their verdicts."""
        runs = Counter[str]()
        for row in judged:
            runs[row.verdict] += row.runs
        self.runs += runs.total()
        self.passed += runs[Verdict.PASS]
        self.failed += runs[Verdict.FAIL]
        self.inconclusive += runs[Verdict.INCONCLUSIVE]
        self.error += runs[Verdict.ERROR]
        self.duplicates += sum(row.duplicates for row in judged)
        self.missing += sum(row.missing for row in judged)
        self.cut_off += sum(row.cut_off for row in judged)


@dataclass(slots=True, kw_only=True)
class BatchRecord:
    """What one run of the pipeline added; `judged` counts the runs that it judged."""

    number: int
    files: int
    bytes: int
    lines: int
    judged: int
    seconds: float
    master: str
    versions: dict[str, str]
    machine: str


@dataclass(slots=True, kw_only=True)
class StreamProgress:
    """The progress of a stream, in a size that does not grow with the stream.

    `judged_lines` are the lines of all verdicts. Of a topic, `query` is the id of Spark's
    checkpoint, `last` the newest committed Spark batch (-1: none).
    """

    schema: str
    query: str = ""
    last: int = -1
    judged_lines: int = 0


@dataclass(slots=True, kw_only=True)
class Manifest:
    """What is committed. A table that the manifest does not name does not exist.

    `judge` is the version of wheelproof that made all verdicts.
    """

    profile: str | None
    max_states: int
    judge: str = ""
    input: str = ""
    next_file: int = 0
    batches: list[BatchRecord] = field(default_factory=list[BatchRecord])
    counts: Counts = field(default_factory=Counts)
    tables: dict[str, str] = field(default_factory=dict[str, str])
    stream: StreamProgress | None = None

    @property
    def next_batch(self) -> int:
        """The number of the next batch."""
        return self.batches[-1].number + 1 if self.batches else 1

    @property
    def text(self) -> str:
        """The document of the plan that has this manifest."""
        return document_of(asdict(self), SCHEMA)

    def require_options(self, profile: str | None, max_states: int) -> None:
        """Raise UsageError if the verdicts were made with other options."""
        if (self.profile, self.max_states) != (profile, max_states):
            raise UsageError(
                f"the output was made with profile {self.profile or 'of each run'} and "
                f"{self.max_states:,} states; name the same, or another output"
            )


def parsed(plan: Plan) -> Manifest | None:
    """Return the manifest in a plan; None if there is none yet.

    Raises InputRejectedError if it cannot be read, UsageError if another version wrote it.
    """
    if plan.document is None:
        return None
    return parsed_document(plan.document, str(plan.output), Manifest, SCHEMA, _REMEDY)


def load(output: Path) -> Manifest:
    """Return what is committed in an output, to read its tables.

    Raises InputRejectedError if there are no tables, and as `parsed` does.
    """
    manifest = parsed(Plan(output))
    if manifest is None or not manifest.tables:
        remedy = "run `wheelproof pipeline check` first"
        raise InputRejectedError(str(output), None, "has no tables", remedy)
    return manifest
