"""The last stage: rows are ordered by run, and a change of key ends a run."""

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import cast

import pyarrow as pa

from wheelproof_spark.check.judging.columns import Key
from wheelproof_spark.check.judging.order import Row
from wheelproof_spark.check.judging.run import FirstLines, RunJudge
from wheelproof_spark.tables.rows import batches_of
from wheelproof_spark.tables.schemas import GOOD, RESULTS_ARROW
from wheelproof_spec.history.checkers import CheckOptions

_ROWS = 512


def judge_groups(
    options: CheckOptions, first_lines: FirstLines
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function of a task: rows of a partition in, a row for each run out."""

    def results(batches: Iterator[pa.RecordBatch]) -> Iterator[dict[str, object]]:
        for key, rows in groupby(_rows(batches), key=itemgetter(0)):
            run = RunJudge(key, options, first_lines)
            for _, row in rows:
                run.feed(row)
            yield run.finish()

    return lambda batches: batches_of(results(batches), RESULTS_ARROW, _ROWS)


def _rows(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[Key, Row]]:
    for batch in batches:
        columns = [batch.column(at).to_pylist() for at in range(len(GOOD) + 1)]
        keys = zip(*columns[:3], strict=True)
        rows = map(cast("Callable[..., Row]", Row), *columns[3:])
        yield from zip(cast("Iterator[Key]", keys), rows, strict=True)
