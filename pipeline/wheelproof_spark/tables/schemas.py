"""The schemas of all tables: names, types, and what each column means, as schemas.toml has them."""

from collections.abc import Mapping

from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from wheelproof_spec.base.codec.tables import read_table

_TABLES = read_table(__file__, "schemas.toml")
_LONG = LongType()
_GAP = StructType([StructField("first", _LONG), StructField("last", _LONG)])
_KINDS: Mapping[str, DataType] = {
    "text": StringType(),
    "long": _LONG,
    "int": IntegerType(),
    "bytes": BinaryType(),
    "flag": BooleanType(),
    "counts": MapType(StringType(), _LONG),
    "buckets": MapType(_LONG, _LONG),
    "texts": ArrayType(StringType()),
    "gaps": ArrayType(_GAP),
    "ints": ArrayType(IntegerType()),
    "longs": ArrayType(_LONG),
}


def _columns(table: str) -> dict[str, tuple[str, str]]:
    """Return the columns of a table, with their kinds and their meanings."""
    found: dict[str, tuple[str, str]] = {}
    for name, column in _TABLES[table].items():
        match column:
            case (str(kind), str(comment)):
                found[name] = kind, comment
            case _:
                found |= _columns(name)
    return found


def _struct(table: str) -> StructType:
    return StructType(
        [
            StructField(name, _kind(kind), nullable=True, metadata={"comment": comment})
            for name, (kind, comment) in _columns(table).items()
        ]
    )


def _kind(name: str) -> DataType:
    match name:
        case "splits":
            return ArrayType(_struct("SPLIT"))
        case "result":
            return _struct("RESULTS")
        case _:
            return _KINDS[name]


SPLITS = _struct("SPLITS")
"""The input of reading tasks; never stored."""

BRONZE = _struct("BRONZE")
"""Every line that was read, as it was read."""

GOOD = ("format", "run", "rank", "seq", "thread", "file_id", "start", "line", "raw")
"""The columns of bronze that are shuffled to the checkers, together with `scope`."""

RESULTS = _struct("RESULTS")
"""One row for each run: the source of silver and gold."""

_RUN, _FOUND = tuple(_columns("RUN")), ("place_index", "place_file", "place_line")
VERDICT_COLUMNS = (*_RUN, "verdict", "events", "good_prefix", "rule", *_FOUND, "notes", "problem")
VIOLATION_COLUMNS = (
    *_RUN,
    "rule",
    "expected",
    "observed",
    "reason",
    "also_broken",
    "good_prefix",
    *_FOUND,
)

PIECES = _struct("PIECES")
"""The pieces of each file by name and batch."""

PART = _struct("PART")
"""The part of a file with one name, as read in one batch."""

PART_COLUMNS = tuple(PART.names)

OPEN = _struct("OPEN")
"""The state of open runs: a row for each run and file, and one for each name whose run was judged
lately."""

PARTS = _struct("PARTS")
"""The rows of `OPEN` during a batch, with the state of the run; never stored."""

FILES = _struct("FILES")
"""Every file that a stream has read."""

SEEDS = _struct("SEEDS")
"""The input of the tasks of a campaign; never stored."""

LEDGER = _struct("LEDGER")
"""One row for each seed of a target that was run."""

LINES = StructType([BRONZE[name] for name in GOOD])
GOOD_ARROW = to_arrow_schema(LINES)
BRONZE_ARROW = to_arrow_schema(BRONZE)
RESULTS_ARROW = to_arrow_schema(RESULTS)
LEDGER_ARROW = to_arrow_schema(LEDGER)
