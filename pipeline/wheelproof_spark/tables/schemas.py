"""The schemas of all tables: names, types, and what each column means."""

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
    TimestampType,
)

_TEXT, _LONG, _INT, _BYTES, _FLAG = (
    StringType(),
    LongType(),
    IntegerType(),
    BinaryType(),
    BooleanType(),
)
_COUNTS = MapType(_TEXT, _LONG)
_BUCKETS = MapType(_LONG, _LONG)

_Columns = Mapping[str, tuple[DataType, str]]


def _struct(columns: _Columns) -> StructType:
    return StructType(
        [
            StructField(name, kind, nullable=True, metadata={"comment": comment})
            for name, (kind, comment) in columns.items()
        ]
    )


_PLACE: _Columns = {
    "file_id": (_INT, "the number of the file in manifest.json"),
    "start": (_LONG, "where the split that held the line begins, in bytes"),
}
_SPLIT: _Columns = {
    "file_id": (_INT, "the number of the file in manifest.json"),
    "path": (_TEXT, "where the file is"),
    "start": (_LONG, "where the split begins, in bytes"),
    "end": (_LONG, "where it ends, in bytes"),
}

SPLITS = _struct({"splits": (ArrayType(_struct(_SPLIT)), "what one task reads")})
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

_RUN: _Columns = {
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
        "also_broken": (ArrayType(_TEXT), "the other rules that are broken"),
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
        "actions": (_COUNTS, "how often each call or action was recorded"),
        "steps": (
            _COUNTS,
            "of a trace: how often a thread took which action after which, `before>action`",
        ),
        "lateness": (_BUCKETS, "how late tasks ran: ms, rounded up to 2**n, and runs"),
        "waits": (_BUCKETS, "how long calls took: ms, rounded up to 2**n, and calls"),
    }
)
"""One row for each run: what silver and gold are made of."""

_FOUND = ("place_index", "place_file", "place_line")
VERDICT_COLUMNS = (
    *(*_RUN, "verdict", "events", "good_prefix", "rule"),
    *(*_FOUND, "notes", "problem"),
)
VIOLATION_COLUMNS = (
    *(*_RUN, "rule", "expected", "observed", "reason", "also_broken", "good_prefix"),
    *_FOUND,
)

SOURCE = _struct(
    {
        "path": (_TEXT, "the address of the file"),
        "modificationTime": (TimestampType(), "when it was last changed"),
        "length": (_LONG, "its size in bytes"),
        "content": (_BYTES, "left alone"),
    }
)
"""What Spark tells of the files of a stream."""

_PART: _Columns = {
    "format": (_TEXT, "`history` or `trace`"),
    "run": (_TEXT, "the name of the history or trace"),
    "file_id": (_INT, "the file that these lines are in"),
    "batch": (_INT, "the batch that they came in"),
    "headers": (_LONG, "how many of them are headers"),
    "body": (_LONG, "how many of them say what happened"),
    "ends": (_LONG, "how many of them are ends"),
    "needed": (_LONG, "how many events the run has, by its end"),
    "lines": (_LONG, "how many lines these are"),
}
PART_COLUMNS = tuple(_PART)

OPEN = _struct({**_PART, "closed": (_INT, "the batch in which the run was judged")})
"""What is known of runs that are open: a row for each run and file, and one for each name whose
run was judged lately."""

PARTS = _struct(
    {
        **_PART,
        "late": (_FLAG, "these lines come after the verdict on their run"),
        "scope": (_INT, "the file that the run is confined to; -1 if it is confined to none"),
        "run_needed": (_LONG, "how many events the run has, by any of its ends"),
        "final": (_FLAG, "the run is judged as it is, whole or not"),
        "due": (_FLAG, "the run is judged in this batch"),
    }
)
"""The same during a batch, with what becomes of the run; never kept."""

FILES = _struct(
    {
        "file_id": (_INT, "the number of the file"),
        "path": (_TEXT, "where it is in the input"),
        "size": (_LONG, "its size in bytes"),
        "lines": (_LONG, "how many lines it has"),
        "good": (_LONG, "how many of them are good"),
        "quarantined": (_LONG, "how many of them are quarantined"),
    }
)
"""Every file that a stream has read."""

SEEDS = _struct({"target": (_TEXT, "what to run"), "seed": (_LONG, "the seed")})
"""What tasks of a campaign are given to do; never stored."""

LEDGER = _struct(
    {
        "target": (_TEXT, "what was run; a machine or a program"),
        "seed": (_LONG, "the seed"),
        "verdict": (_TEXT, "`pass`, `fail`, or `error` for a seed that could not be run"),
        "rule": (_TEXT, "the rule that is broken; of a program, how it failed"),
        "expected": (_TEXT, "what the rule expects"),
        "observed": (_TEXT, "what was seen"),
        "reason": (_TEXT, "the violation in a sentence"),
        "calls": (_COUNTS, "how often each kind of call was made"),
        "problem": (_TEXT, "of an `error`: what went wrong"),
    }
)
"""One row for each seed of a target that was run."""

BRONZE_ARROW = to_arrow_schema(BRONZE)
RESULTS_ARROW = to_arrow_schema(RESULTS)
LEDGER_ARROW = to_arrow_schema(LEDGER)
