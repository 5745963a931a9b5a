"""The tables that a stream has besides those of a check: open runs, and files."""

from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)


def _columns(columns: dict[str, DataType]) -> StructType:
    return StructType([StructField(name, kind) for name, kind in columns.items()])


SOURCE = _columns(
    {
        "path": StringType(),
        "modificationTime": TimestampType(),
        "length": LongType(),
        "content": BinaryType(),
    }
)
"""What Spark tells of files; their content is left alone."""

_PART: dict[str, DataType] = {
    "format": StringType(),
    "run": StringType(),
    "file_id": IntegerType(),
    "batch": IntegerType(),
    "headers": LongType(),
    "body": LongType(),
    "ends": LongType(),
    "needed": LongType(),
    "lines": LongType(),
}

OPEN = _columns({**_PART, "closed": IntegerType()})
"""What is known of runs that are open: a row for each run and file, and one for each name whose
run was judged lately; `closed` is the batch of that."""

FILES = _columns(
    {
        "file_id": IntegerType(),
        "path": StringType(),
        "size": LongType(),
        "lines": LongType(),
        "good": LongType(),
        "quarantined": LongType(),
    }
)
"""Every file that was read."""

PARTS = _columns(
    {
        **_PART,
        "late": BooleanType(),
        "scope": IntegerType(),
        "run_needed": LongType(),
        "final": BooleanType(),
        "due": BooleanType(),
    }
)
"""The same during a batch, with what becomes of the run; never kept."""

PART_COLUMNS = tuple(_PART)
