"""The verb `pipeline campaign`: seeds fanned out over the executors, wave after wave.

A wave is committed as a whole: its rows are written, counted, and named by the manifest.
"""

import multiprocessing
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import chain, groupby, islice, zip_longest
from pathlib import Path
from typing import NamedTuple, cast

from pyspark.sql import SparkSession

from wheelproof_spark.base.errors import PipelineError
from wheelproof_spark.base.options import Say, Workers
from wheelproof_spark.base.session import failing_as, session_for
from wheelproof_spark.campaign.ledger import (
    ROWS,
    CampaignManifest,
    Failure,
    TargetEntry,
    Wave,
    load,
    text_of,
)
from wheelproof_spark.campaign.seed import seed_runner
from wheelproof_spark.campaign.seed_ranges import Range, missing, size
from wheelproof_spark.campaign.targets import SCHEDULES_OF_A_SEED, Target, find_target
from wheelproof_spark.tables.plan import Move
from wheelproof_spark.tables.rows import read_rows, whole_number
from wheelproof_spark.tables.schemas import LEDGER, SEEDS
from wheelproof_spark.tables.store import Store
from wheelproof_spec.base.results.verdicts import Verdict

_FIRST_WAVE_A_CORE = 50
_SECONDS_A_WAVE = 10.0
_LARGEST_WAVE = 50_000
_PARTITIONS_A_CORE = 4

_Seed = tuple[str, int]


class _Row(NamedTuple):
    """The part of a ledger row that the manifest needs."""

    target: str
    seed: int
    verdict: Verdict
    rule: str
    problem: str
    calls: Counter[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignJob:
    """The targets and seeds of a campaign, the place of the ledger, and the workers.

    `wave` is the number of seeds committed at once; None: as many as take some ten seconds.
    """

    targets: tuple[Target, ...]
    seeds: Range
    output: Path
    workers: Workers = field(default_factory=Workers)
    wave: int | None = None


def meaning_of_seeds() -> dict[str, str]:
    """Return the versions and settings that, with the seed and the target, decide what runs."""
    return {
        "wheelproof": version("wheelproof"),
        "hypothesis": version("hypothesis"),
        "schedules_of_a_seed": str(SCHEDULES_OF_A_SEED),
    }


def campaign(job: CampaignJob, say: Say) -> CampaignManifest:
    """Run the seeds that are not done yet, and return the manifest; `say` gets the progress.

    Committed waves stay, however the campaign ends. Raises UsageError, InputRejectedError,
    MissingToolError, and PipelineError if the job fails.
    """
    with Store(job.output) as store:
        meaning = meaning_of_seeds()
        manifest = load(store.plan) or CampaignManifest(meaning=meaning)
        manifest.require_meaning(meaning)
        store.recover()
        left = sum(size(_left(manifest, target, job.seeds)) for target in job.targets)
        if left:
            session = session_for(job.workers)
            with failing_as("the campaign"), session as spark:
                _Campaign(spark, job, store, manifest, left, say).run()
        _explain(job, store, manifest, say)
        return manifest


def _left(manifest: CampaignManifest, target: Target, seeds: Range) -> list[Range]:
    done = manifest.targets.get(target.name, TargetEntry()).done
    return list(missing(seeds, done))


def _explain(job: CampaignJob, store: Store, manifest: CampaignManifest, say: Say) -> None:
    """Shrink one failing seed for each rule that a target breaks, and commit each result."""
    names = {target.name for target in job.targets}
    left = [
        failure for failure in manifest.failures if not failure.details and failure.target in names
    ]
    if not left:
        return
    say(f"making {len(left):,} failures small")
    # In processes of their own: the model checker replaces the clock and threads of its process.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(mp_context=context, initializer=_end_by_signal) as pool:
        results = [pool.submit(_explained, failure.target, failure.seed) for failure in left]
        try:
            for failure, result in zip(left, results, strict=True):
                failure.summary, details = result.result()
                failure.details = details or "it did not fail again when it was run alone"
                store.save(text_of(manifest))
        finally:
            pool.shutdown(cancel_futures=True)


def _end_by_signal() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _explained(target: str, seed: int) -> tuple[str, str]:
    result = find_target(target).explain(seed)
    return result.summary, result.details


@dataclass(slots=True)
class _Campaign:
    """The waves of one campaign; `_left` is the number of seeds that are not done yet."""

    _spark: SparkSession
    _job: CampaignJob
    _store: Store
    _manifest: CampaignManifest
    _left: int
    _say: Say

    @property
    def _cores(self) -> int:
        return self._spark.sparkContext.defaultParallelism

    def run(self) -> None:
        """Run wave after wave until no seed is left."""
        seeds = self._seeds()
        wave = self._job.wave or self._cores * _FIRST_WAVE_A_CORE
        while rows := list(islice(seeds, wave)):
            started = time.monotonic()
            self._run_wave(rows, started)
            rate = len(rows) / max(time.monotonic() - started, 0.001)
            if self._job.wave is None:
                wave = min(max(int(rate * _SECONDS_A_WAVE), self._cores), _LARGEST_WAVE)

    def _seeds(self) -> Iterator[_Seed]:
        """Return the remaining seeds, alternating between the targets."""
        of_targets = (
            _seeds_of(target.name, _left(self._manifest, target, self._job.seeds))
            for target in self._job.targets
        )
        seeds = chain.from_iterable(zip_longest(*of_targets))
        return (seed for seed in seeds if seed is not None)

    def _run_wave(self, rows: Sequence[_Seed], started: float) -> None:
        manifest = self._manifest
        number = max((wave.number for wave in manifest.waves), default=0) + 1
        attempt = self._store.attempt()
        folder = attempt / ROWS
        parts = min(self._job.workers.partitions or self._cores * _PARTITIONS_A_CORE, len(rows))
        slices = self._spark.sparkContext.parallelize(rows, parts)
        given = self._spark.createDataFrame(slices, SEEDS)
        given.mapInArrow(seed_runner(), LEDGER).write.parquet(str(folder))
        failed = self._note(rows, _read(folder))
        seconds = time.monotonic() - started
        manifest.waves.append(
            Wave(
                number=number,
                seeds=len(rows),
                seconds=round(seconds, 3),
                master=self._spark.sparkContext.master or "",
            )
        )
        move = Move(here=ROWS, table=ROWS, replaces=False)
        self._store.commit(text_of(manifest), number, attempt, [move])
        self._left -= len(rows)
        self._say(
            f"wave {number}: {len(rows):,} seeds, {failed:,} fail, {seconds:.1f} s, "
            f"{len(rows) / seconds:,.0f} seeds/s; {self._left:,} left"
        )

    def _note(self, asked: Sequence[_Seed], written: Sequence[_Row]) -> int:
        """Add the written rows to the manifest; return the number of failing seeds."""
        rows = sorted(written, key=_seed_of)
        if [_seed_of(row) for row in rows] != sorted(asked):
            raise PipelineError(
                f"{len(asked):,} seeds were asked for, and the {len(written):,} rows that were "
                "written are not theirs; nothing was committed"
            )
        for name, of_target in groupby(rows, key=lambda row: row.target):
            self._note_target(name, list(of_target))
        return sum(row.verdict is Verdict.FAIL for row in rows)

    def _note_target(self, name: str, rows: Sequence[_Row]) -> None:
        entry = self._manifest.entry(name)
        failed_to_run = [row for row in rows if row.verdict is Verdict.ERROR]
        failing = [row for row in rows if row.verdict is Verdict.FAIL]
        entry.failed_to_run = sorted({*entry.failed_to_run, *(row.seed for row in failed_to_run)})
        for row in failed_to_run[:1]:
            self._say(f"seed {row.seed} of {row.target} cannot be run: {row.problem}")
        entry.add_done(row.seed for row in rows if row.verdict is not Verdict.ERROR)
        entry.passed += sum(row.verdict is Verdict.PASS for row in rows)
        entry.failed += len(failing)
        for row in failing:
            self._note_failure(row)
        for call, times in sum((row.calls for row in rows), Counter[str]()).items():
            entry.calls[call] = entry.calls.get(call, 0) + times

    def _note_failure(self, row: _Row) -> None:
        repeat = find_target(row.target).command.format(seed=row.seed)
        failure = Failure(target=row.target, rule=row.rule, seed=row.seed, seeds=1, repeat=repeat)
        if self._manifest.add_failure(failure):
            self._say(f"seed {row.seed} of {row.target} breaks {row.rule}; repeat: {repeat}")


def _seed_of(row: _Row) -> _Seed:
    return row.target, row.seed


def _read(folder: Path) -> list[_Row]:
    return [
        _Row(
            target=str(row["target"]),
            seed=whole_number(row["seed"]),
            verdict=Verdict(str(row["verdict"])),
            rule=str(row["rule"]),
            problem=str(row["problem"]),
            calls=Counter(dict(cast("list[tuple[str, int]]", row["calls"] or []))),
        )
        for row in read_rows(folder)
    ]


def _seeds_of(name: str, ranges: Sequence[Range]) -> Iterator[_Seed]:
    for first, last in ranges:
        for seed in range(first, last + 1):
            yield name, seed
