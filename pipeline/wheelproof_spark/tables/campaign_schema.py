"""The schema of the ledger of a campaign."""

from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DataType, LongType, MapType, StringType, StructField, StructType

_TEXT, _LONG = StringType(), LongType()

_COLUMNS: dict[str, tuple[DataType, str]] = {
    "target": (_TEXT, "what was run; a machine or a program"),
    "seed": (_LONG, "the seed"),
    "verdict": (_TEXT, "`pass`, `fail`, or `error` for a seed that could not be run"),
    "rule": (_TEXT, "the rule that is broken; of a program, how it failed"),
    "expected": (_TEXT, "what the rule expects"),
    "observed": (_TEXT, "what was seen"),
    "reason": (_TEXT, "the violation in a sentence"),
    "calls": (MapType(_TEXT, _LONG), "how often each kind of call was made"),
    "problem": (_TEXT, "of an `error`: what went wrong"),
}

SEEDS = StructType([StructField("target", _TEXT), StructField("seed", _LONG)])
"""What tasks are given to do; never stored."""

LEDGER = StructType(
    [
        StructField(name, kind, nullable=True, metadata={"comment": comment})
        for name, (kind, comment) in _COLUMNS.items()
    ]
)
"""One row for each seed of a target that was run."""

LEDGER_ARROW = to_arrow_schema(LEDGER)
