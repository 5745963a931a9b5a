"""The last stage: rows come ordered by run; a change of key ends a run."""

from collections.abc import Callable, Iterator
from typing import cast

import pyarrow as pa

from wheelproof_spark.check.judging.run_judge import FirstLines, Row, RunJudge
from wheelproof_spark.tables.schemas import GOOD, RESULTS_ARROW
from wheelproof_spec.check.checkers import CheckOptions

_ROWS = 512

_Key = tuple[str, str, int]


def judge_groups(
    options: CheckOptions, first_lines: FirstLines
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what a task runs: rows of a partition in, a row for each run out."""

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        current: RunJudge | None = None
        last: _Key | None = None
        done: list[dict[str, object]] = []
        for key, row in _rows(batches):
            if current is None or key != last:
                if current is not None:
                    done.append(current.finish())
                    if len(done) >= _ROWS:
                        yield _batch(done)
                        done = []
                current, last = RunJudge(key, options, first_lines), key
            current.feed(row)
        if current is not None:
            done.append(current.finish())
        yield _batch(done)

    return judge


def _rows(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[_Key, Row]]:
    for batch in batches:
        columns = [batch.column(at).to_pylist() for at in range(len(GOOD) + 1)]
        keys = zip(*columns[:3], strict=True)
        rows = map(cast("Callable[..., Row]", Row), *columns[3:])
        yield from zip(cast("Iterator[_Key]", keys), rows, strict=True)


def _batch(rows: list[dict[str, object]]) -> pa.RecordBatch:
    arrays = [pa.array([row.get(one.name) for row in rows], one.type) for one in RESULTS_ARROW]
    return pa.RecordBatch.from_arrays(arrays, schema=RESULTS_ARROW)
