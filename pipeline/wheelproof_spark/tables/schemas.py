"""The schemas of all tables: the name, the type and the meaning of each column."""

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

_Columns = tuple[tuple[str, DataType, str], ...]
_TEXT, _BYTES, _FLAG, _INT, _LONG = (
    StringType(),
    BinaryType(),
    BooleanType(),
    IntegerType(),
    LongType(),
)
_TEXTS, _INTS, _LONGS = ArrayType(_TEXT), ArrayType(_INT), ArrayType(_LONG)
_COUNTS, _BUCKETS = MapType(_TEXT, _LONG), MapType(_LONG, _LONG)
_GAPS = ArrayType(StructType([StructField("first", _LONG), StructField("last", _LONG)]))


def _struct(columns: _Columns) -> StructType:
    return StructType(
        [StructField(name, kind, metadata={"comment": text}) for name, kind, text in columns]
    )


_PLACE: _Columns = (
    ("file_id", _INT, "the number of the file"),
    ("start", _LONG, "where the split that held the line begins, in bytes"),
)

_RUN: _Columns = (
    ("format", _TEXT, "`history` or `trace`"),
    ("run", _TEXT, "the name of the history or trace"),
    ("scope", _INT, "the file that all lines of the run are in; -1 if they are in several"),
    ("component", _TEXT, "what was recorded; empty without a header"),
    ("implementation", _TEXT, "the implementation's name; empty without a header"),
    ("version", _TEXT, "the implementation's version"),
    ("profile", _TEXT, "the contract, or the TLA+ module, that it was judged by"),
    ("judge", _TEXT, "the version of wheelproof that judged it"),
)

_RESULTS: _Columns = (
    *_RUN,
    ("verdict", _TEXT, "`pass`, `fail`, `inconclusive` or `error`"),
    ("events", _LONG, "how many events were judged"),
    ("good_prefix", _LONG, "how many events from the beginning have an explanation"),
    ("rule", _TEXT, "the rule that is broken"),
    ("expected", _TEXT, "what the rule expects"),
    ("observed", _TEXT, "what was recorded"),
    ("reason", _TEXT, "the violation in a sentence"),
    ("also_broken", _TEXTS, "the other rules that are broken"),
    ("place_index", _LONG, "the first event without an explanation"),
    ("place_file", _INT, "the file that it is in"),
    ("place_line", _LONG, "the line that it is on"),
    ("notes", _TEXTS, "what was not judged, and why"),
    ("checked", _COUNTS, "how often each clause was tested"),
    ("problem", _TEXT, 'why there is an `error`; completes "the run ..."'),
    ("digest", _TEXT, "of the lines in order, each once: the same for what came twice"),
    ("cut_off", _FLAG, "there is no end"),
    ("lines", _LONG, "how many good lines belong to the run, duplicates included"),
    ("duplicates", _LONG, "how many of these lines repeat an earlier one, byte for byte"),
    ("missing", _LONG, "how many events are not there"),
    ("gaps", _GAPS, "the first of the gaps in the sequence, both ends included"),
    ("files", _INT, "in how many files its lines are"),
    ("actions", _COUNTS, "how often each call or action was recorded"),
    (
        "steps",
        _COUNTS,
        "of a trace: how often a thread took which action after which, `before>action`",
    ),
    ("lateness", _BUCKETS, "how late tasks ran: ms, rounded up to 2**n, and runs"),
    ("waits", _BUCKETS, "how long calls took: ms, rounded up to 2**n, and calls"),
    ("made_of", _LONG, "a digest of its parts; null if it was judged where it was read"),
)

_SPLIT: _Columns = (
    ("file_id", _INT, "the number of the file"),
    ("path", _TEXT, "where the file is"),
    ("start", _LONG, "where the split begins, in bytes"),
    ("end", _LONG, "where it ends, in bytes"),
)

_BRONZE: _Columns = (
    ("kind", _TEXT, "`good`, `whole` for a run, `quarantined`, `split` for what a task read"),
    *_PLACE,
    ("line", _LONG, "the number of the line in its split, from 1; of a split, its lines"),
    ("offset", _LONG, "where the line begins in its file, unpacked, in bytes"),
    ("format", _TEXT, "`history` or `trace`"),
    ("run", _TEXT, "the name of the history or trace"),
    ("rank", _INT, "0 for a header, 1 for what happened, 2 for an end"),
    ("seq", _LONG, "index or seq; tseq where a trace has no seq"),
    ("thread", _TEXT, "who took the step, where a trace has no seq; else empty"),
    ("reason", _TEXT, 'why the line is quarantined; completes "the line ..."'),
    ("raw", _BYTES, "the line without its end, or its beginning; of a run all lines"),
    ("lines", _LONG, "of a run: how many lines it has"),
    ("numbers", _LONGS, "of a run: the numbers of its lines in their split"),
    (
        "result",
        _struct(_RESULTS),
        "of a run: its row, as in RESULTS; its lines are counted within the split",
    ),
)

_FOUND: _Columns = (
    ("format", _TEXT, "`history` or `trace`"),
    ("run", _TEXT, "the name of the history or trace"),
    ("file_id", _INT, "the file that has this of it"),
    ("headers", _LONG, "how many headers"),
    ("ends", _LONG, "how many ends"),
    ("needed", _LONG, "how many events the run has, by its end"),
    ("lines", _LONG, "how many lines these are"),
    ("places", _LONG, "how many different places in the run they claim"),
    ("hi", _LONG, "a digest of them, to be added up"),
    ("lo", _LONG, "its other half"),
)

_PIECES: _Columns = (
    *_FOUND,
    ("wholes", _INT, "1 for a run that was judged where it was read, 0 for lines of other ones"),
    ("batches", _INTS, "the batch in which this came"),
)

_PART: _Columns = (
    *_FOUND,
    ("batch", _INT, "the batch that they came in"),
    ("in_place", _FLAG, "it is a run that was judged where it was read"),
)

_OPEN: _Columns = (
    *_PART,
    ("closed", _INT, "the batch in which the run was judged, or counted as a repeat"),
    ("spare", _FLAG, "it was counted as a repeat; a header that comes makes it a part of that run"),
)

_PARTS: _Columns = (
    *_OPEN,
    ("whole", _FLAG, "it is a run by itself"),
    ("known", _FLAG, "its lines are those of a run that was judged"),
    ("repeat", _FLAG, "it is there already, byte for byte"),
    ("stray", _FLAG, "it has no header, and a run of that name was judged"),
    ("late", _FLAG, "these lines come after the verdict on their run"),
    ("scope", _INT, "the file that the run is confined to; -1 if it is confined to none"),
    ("run_needed", _LONG, "how many events the run has, by any of its ends"),
    ("final", _FLAG, "the run is judged as it is, whole or not"),
    ("due", _FLAG, "the run is judged in this batch"),
)

_FILES: _Columns = (
    ("file_id", _INT, "the number of the file"),
    ("path", _TEXT, "where it is in the input"),
    ("size", _LONG, "up to which byte it was read"),
    ("mtime_ns", _LONG, "when it was changed"),
    ("ctime_ns", _LONG, "when its record was changed"),
    ("inode", _LONG, "its number on the disk"),
    ("complete", _FLAG, "what was read ends with a line end"),
    ("tail", _TEXT, "a digest of what was read; empty if it could not be read"),
    ("batches", _INTS, "the batches that read it: more than one if it has grown"),
    ("lines", _LONG, "how many lines it has"),
    ("good", _LONG, "how many of them are good"),
    ("quarantined", _LONG, "how many of them are quarantined"),
)

_SEEDS: _Columns = (
    ("target", _TEXT, "what to run"),
    ("seed", _LONG, "the seed"),
)

_LEDGER: _Columns = (
    ("target", _TEXT, "what was run; a machine or a program"),
    ("seed", _LONG, "the seed"),
    ("verdict", _TEXT, "`pass`, `fail`, or `error` for a seed that could not be run"),
    ("rule", _TEXT, "the rule that is broken; of a program, how it failed"),
    ("expected", _TEXT, "what the rule expects"),
    ("observed", _TEXT, "what was seen"),
    ("reason", _TEXT, "the violation in a sentence"),
    ("calls", _COUNTS, "how often each kind of call was made"),
    ("problem", _TEXT, "of an `error`: what went wrong"),
)

SPLITS = _struct((("splits", ArrayType(_struct(_SPLIT)), "what one task reads"),))
"""The input of reading tasks; never stored."""

BRONZE = _struct(_BRONZE)
"""Every line that was read, as it was read."""

GOOD = ("format", "run", "rank", "seq", "thread", "file_id", "start", "line", "raw")
"""The columns of bronze that are shuffled to the checkers, together with `scope`."""

RESULTS = _struct(_RESULTS)
"""One row for each run: the source of silver and gold."""

_NAMES, _AT = tuple(name for name, *_ in _RUN), ("place_index", "place_file", "place_line")
VERDICT_COLUMNS = (*_NAMES, "verdict", "events", "good_prefix", "rule", *_AT, "notes", "problem")
VIOLATION_COLUMNS = (
    *_NAMES,
    "rule",
    "expected",
    "observed",
    "reason",
    "also_broken",
    "good_prefix",
    *_AT,
)

PIECES = _struct(_PIECES)
"""The pieces of each file by name and batch."""

PART = _struct(_PART)
"""The part of a file with one name, as read in one batch."""

PART_COLUMNS = tuple(PART.names)

OPEN = _struct(_OPEN)
"""The state of open runs: a row for each run and file, and one for each name whose run was judged
lately."""

PARTS = _struct(_PARTS)
"""The rows of `OPEN` during a batch, with the state of the run; never stored."""

FILES = _struct(_FILES)
"""Every file that was read and counts."""

SEEDS = _struct(_SEEDS)
"""The input of the tasks of a campaign; never stored."""

LEDGER = _struct(_LEDGER)
"""One row for each seed of a target that was run."""

LINES = StructType([BRONZE[name] for name in GOOD])
GOOD_ARROW = to_arrow_schema(LINES)
BRONZE_ARROW = to_arrow_schema(BRONZE)
RESULTS_ARROW = to_arrow_schema(RESULTS)
LEDGER_ARROW = to_arrow_schema(LEDGER)
