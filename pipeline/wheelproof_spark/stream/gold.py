"""The gold tables of a stream: new verdicts are appended, counts are added up."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from pyspark.sql import DataFrame
from pyspark.sql.functions import lit, struct, to_json
from pyspark.sql.types import StringType, StructType

from wheelproof_spark.check.gold import OF_RUNS, account, verdicts, violations
from wheelproof_spark.tables.documents import record_of
from wheelproof_spark.tables.manifest import Judged
from wheelproof_spark.tables.rows import Row, collected, read_rows, union, whole_number, write_rows

APPENDED = ("verdicts", "violations")
SUMMED = tuple(OF_RUNS)
_ACCOUNT = "account"
_MEASURED = "ms"


class NewRuns:
    """The runs that a batch has judged, counted in one job."""

    def __init__(self, runs: DataFrame) -> None:
        self._runs = runs
        made = {name: make(runs) for name, make in OF_RUNS.items()}
        self._schemas = {name: table.schema for name, table in made.items()}
        made[_ACCOUNT] = account(runs)
        self._rows: dict[str, list[Row]] = {name: [] for name in made}
        # A job of Spark takes long, however few rows it makes: one makes the rows of all tables.
        together = union(
            table.select(lit(name).alias("table"), to_json(struct(*table.columns)).alias("row"))
            for name, table in made.items()
        )
        for name, row in collected(together, tuple[str, str]):
            self._rows[name].append(cast("dict[str, object]", json.loads(row)))
        self.judged = [record_of(Judged, row) for row in self._rows[_ACCOUNT]]

    def __len__(self) -> int:
        """Return how many runs there are."""
        return sum(row.runs for row in self.judged)

    def write_appended(self, files: DataFrame, folder: Path) -> None:
        """Write what a batch adds: a row for each run, and one for each that fails."""
        for name, table in (
            ("verdicts", verdicts(self._runs, files)),
            ("violations", violations(self._runs, files)),
        ):
            if self._rows["clauses" if name == "violations" else _ACCOUNT]:
                table.write.parquet(str(folder / name))
            else:
                write_rows([], table.schema, folder / name)

    def write_summed(self, before: Mapping[str, Path], folder: Path) -> None:
        """Write the counts of all batches: those `before`, and those of these runs."""
        for name, schema in self._schemas.items():
            old = read_rows(before[name]) if name in before else []
            write_rows(_summed([*old, *self._rows[name]], schema), schema, folder / name)


def _summed(rows: Iterable[Row], schema: StructType) -> Sequence[Row]:
    keys = [
        column.name
        for column in schema
        if isinstance(column.dataType, StringType) or column.name == _MEASURED
    ]
    counts = [name for name in schema.names if name not in keys]
    sums: dict[tuple[object, ...], dict[str, object]] = {}
    for row in rows:
        key = tuple(row.get(name) for name in keys)
        known = sums.setdefault(
            key, {**dict(zip(keys, key, strict=True)), **dict.fromkeys(counts, 0)}
        )
        for name in counts:
            known[name] = whole_number(known[name]) + whole_number(row.get(name) or 0)
    return list(sums.values())
