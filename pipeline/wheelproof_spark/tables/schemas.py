"""The schemas of all tables: names, types, and what each column means."""

from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

_TEXT, _LONG, _INT, _BYTES = StringType(), LongType(), IntegerType(), BinaryType()


def _struct(columns: dict[str, tuple[DataType, str]]) -> StructType:
    return StructType(
        [
            StructField(name, kind, nullable=True, metadata={"comment": comment})
            for name, (kind, comment) in columns.items()
        ]
    )


_PLACE: dict[str, tuple[DataType, str]] = {
    "file_id": (_INT, "the number of the file in manifest.json"),
    "start": (_LONG, "where the split that held the line begins, in bytes"),
}

SPLITS = StructType(
    [
        StructField(
            "splits",
            ArrayType(
                StructType(
                    [
                        StructField("file_id", _INT),
                        StructField("path", _TEXT),
                        StructField("start", _LONG),
                        StructField("end", _LONG),
                    ]
                )
            ),
        )
    ]
)
"""What tasks are given to read; never stored."""

BRONZE = _struct(
    {
        "kind": (_TEXT, "`good`, `quarantined`, or `split` for the account of what a task read"),
        **_PLACE,
        "line": (_LONG, "the number of the line in its split, from 1; of a split, its lines"),
        "offset": (_LONG, "where the line begins in its file, unpacked, in bytes"),
        "format": (_TEXT, "`history` or `trace`"),
        "run": (_TEXT, "the name of the history or trace"),
        "rank": (_INT, "0 for a header, 1 for what happened, 2 for an end"),
        "seq": (_LONG, "index or seq; tseq where a trace has no seq"),
        "thread": (_TEXT, "who took the step, where a trace has no seq; else empty"),
        "reason": (_TEXT, 'why the line is quarantined; completes "the line ..."'),
        "raw": (_BYTES, "the line without its end; of one that is too long, how it begins"),
    }
)
"""Every line that was read, as it was read."""

GOOD = ("format", "run", "rank", "seq", "thread", "file_id", "start", "line", "raw")
"""The columns of bronze that are shuffled to the checkers, and `scope` besides."""

_RUN: dict[str, tuple[DataType, str]] = {
    "format": (_TEXT, "`history` or `trace`"),
    "run": (_TEXT, "the name of the history or trace"),
    "scope": (_INT, "the file that the run is in where several files have runs of that name; -1"),
    "component": (_TEXT, "what was recorded; empty without a header"),
    "implementation": (_TEXT, "the implementation's name; empty without a header"),
    "version": (_TEXT, "the implementation's version"),
    "profile": (_TEXT, "the contract, or the TLA+ module, that it was judged by"),
}

RESULTS = _struct(
    {
        **_RUN,
        "verdict": (_TEXT, "`pass`, `fail`, `inconclusive` or `error`"),
        "events": (_LONG, "how many events were judged"),
        "good_prefix": (_LONG, "how many events from the beginning have an explanation"),
        "rule": (_TEXT, "the rule that is broken"),
        "expected": (_TEXT, "what the rule expects"),
        "observed": (_TEXT, "what was recorded"),
        "reason": (_TEXT, "the violation in a sentence"),
        "place_index": (_LONG, "the first event without an explanation"),
        "place_file": (_INT, "the file that it is in"),
        "place_line": (_LONG, "the line that it is on"),
        "notes": (ArrayType(_TEXT), "what was not judged, and why"),
        "problem": (_TEXT, 'why there is an `error`; completes "the run ..."'),
        "lines": (_LONG, "how many good lines belong to the run, duplicates included"),
        "duplicates": (_LONG, "how many of them were there before, byte for byte"),
        "missing": (_LONG, "how many events are not there"),
        "gaps": (
            ArrayType(StructType([StructField("first", _LONG), StructField("last", _LONG)])),
            "the first of the gaps in the sequence, both ends included",
        ),
        "files": (_INT, "in how many files its lines are"),
        "actions": (MapType(_TEXT, _LONG), "how often each call or action was recorded"),
        "steps": (
            MapType(_TEXT, _LONG),
            "of a trace: how often a thread took which action after which, `before>action`",
        ),
        "lateness": (MapType(_LONG, _LONG), "how late tasks ran: ms, rounded up to 2**n, and runs"),
        "waits": (MapType(_LONG, _LONG), "how long calls took: ms, rounded up to 2**n, and calls"),
    }
)
"""One row for each run: what silver and gold are made of."""

SILVER_COLUMNS = (*_RUN, "lines", "duplicates", "missing", "gaps", "files", "events")
VERDICT_COLUMNS = (
    *_RUN,
    "verdict",
    "events",
    "good_prefix",
    "rule",
    "place_index",
    "place_file",
    "place_line",
    "notes",
    "problem",
)
VIOLATION_COLUMNS = (
    *_RUN,
    "rule",
    "expected",
    "observed",
    "reason",
    "good_prefix",
    "place_index",
    "place_file",
    "place_line",
)

BRONZE_ARROW = to_arrow_schema(BRONZE)
RESULTS_ARROW = to_arrow_schema(RESULTS)
