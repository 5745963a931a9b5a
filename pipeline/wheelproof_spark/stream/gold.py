"""The gold tables of a stream: verdicts are added to, counts are summed up."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from pyspark.sql import DataFrame
from pyspark.sql.functions import count, lit, struct, to_json
from pyspark.sql.functions import sum as total
from pyspark.sql.types import StringType, StructType

from wheelproof_spark.check.gold import OF_RUNS, verdicts, violations
from wheelproof_spark.tables.collected import collected
from wheelproof_spark.tables.manifest import Counts
from wheelproof_spark.tables.small_tables import read_rows, write_rows
from wheelproof_spec.verdicts import Verdict

APPENDED = ("verdicts", "violations")
SUMMED = tuple(OF_RUNS)
_ACCOUNT = "account"
_MEASURED = "ms"

Row = Mapping[str, object]


class NewRuns:
    """The runs that a batch has judged, counted in one job."""

    def __init__(self, runs: DataFrame) -> None:
        self._runs = runs
        made = {name: make(runs) for name, make in OF_RUNS.items()}
        self._schemas = {name: table.schema for name, table in made.items()}
        made[_ACCOUNT] = runs.groupBy("verdict").agg(
            count("*").alias("runs"),
            *(total(name).alias(name) for name in ("lines", "duplicates", "missing")),
        )
        self._rows: dict[str, list[Row]] = {name: [] for name in made}
        for name, row in collected(_together(made), tuple[str, str]):
            self._rows[name].append(cast("dict[str, object]", json.loads(row)))

    def __len__(self) -> int:
        """Return how many runs there are."""
        return self._sum("runs")

    @property
    def lines(self) -> int:
        """How many lines they have."""
        return self._sum("lines")

    def add_to(self, counts: Counts) -> None:
        """Add up verdicts, duplicates, and events that are missing."""
        new = {row["verdict"]: _number(row["runs"]) for row in self._rows[_ACCOUNT]}
        counts.passed += new.get(Verdict.PASS.value, 0)
        counts.failed += new.get(Verdict.FAIL.value, 0)
        counts.inconclusive += new.get(Verdict.INCONCLUSIVE.value, 0)
        counts.error += new.get(Verdict.ERROR.value, 0)
        counts.duplicates += self._sum("duplicates")
        counts.missing += self._sum("missing")

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

    def _sum(self, column: str) -> int:
        return sum(_number(row[column]) for row in self._rows[_ACCOUNT])


def _together(tables: Mapping[str, DataFrame]) -> DataFrame:
    """Return the rows of all tables in one: their tables, and what is in them."""
    both: DataFrame | None = None
    for name, table in tables.items():
        rows = table.select(lit(name), to_json(struct(*table.columns)))
        both = rows if both is None else both.union(rows)
    assert both is not None
    return both


def _summed(rows: Iterable[Row], schema: StructType) -> Sequence[Row]:
    keys = [
        one.name for one in schema if isinstance(one.dataType, StringType) or one.name == _MEASURED
    ]
    counts = [name for name in schema.names if name not in keys]
    sums: dict[tuple[object, ...], dict[str, object]] = {}
    for row in rows:
        key = tuple(row.get(name) for name in keys)
        known = sums.setdefault(
            key, {**dict(zip(keys, key, strict=True)), **dict.fromkeys(counts, 0)}
        )
        for name in counts:
            known[name] = _number(known[name]) + _number(row.get(name) or 0)
    return list(sums.values())


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
