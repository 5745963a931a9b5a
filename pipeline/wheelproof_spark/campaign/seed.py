"""The task of a campaign: rows of target and seed in, a row of the ledger for each out."""

from collections.abc import Callable, Iterator
from functools import cache

import pyarrow as pa

from wheelproof_spark.campaign.targets import Target, find_target
from wheelproof_spark.tables.rows import Row, batches_of, whole_number
from wheelproof_spark.tables.schemas import LEDGER_ARROW
from wheelproof_spec.base.results.verdicts import Verdict

_ROWS = 256


def seed_runner() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that a Spark task runs."""

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[Row]:
        for batch in batches:
            names, seeds = (batch.column(at).to_pylist() for at in range(2))
            for name, seed in zip(names, seeds, strict=True):
                yield run_seed(str(name), whole_number(seed))

    return lambda batches: batches_of(rows(batches), LEDGER_ARROW, _ROWS)


def run_seed(name: str, seed: int) -> Row:
    """Run one seed of a target and return its row; if the run raises, an error with the reason."""
    row: dict[str, object] = {"target": name, "seed": seed}
    try:
        outcome = _target(name).run(seed)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        return row | {"verdict": Verdict.ERROR.value, "problem": problem}
    found = outcome.violation
    row |= {"verdict": Verdict.PASS.value, "calls": sorted(outcome.calls.items())}
    if found is None:
        return row
    return row | {
        "verdict": Verdict.FAIL.value,
        "rule": str(found.rule),
        "expected": found.expected,
        "observed": found.observed,
        "reason": found.reason,
    }


@cache
def _target(name: str) -> Target:
    return find_target(name)
