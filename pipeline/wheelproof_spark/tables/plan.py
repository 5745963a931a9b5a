"""The plan of an output: a table with one row, the document that says what is committed.

Two pipelines may start in one output. Each reads a version of the table, and the format refuses a
commit to an older version than the newest one: so one of the two wins, and the other one is told.
"""

import json
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as parquet
from deltalake.exceptions import CommitFailedError

from wheelproof_spark.base.errors import PipelineError
from wheelproof_spark.tables import delta
from wheelproof_spark.tables.documents import record_of
from wheelproof_spark.tables.rows import whole_number
from wheelproof_spec.base.errors import UsageError

_FOLDER = "plan"
_SCHEMA = pa.schema([("batch", pa.int64()), ("moves", pa.string()), ("document", pa.string())])
_OLD = "manifest.json"
"""Where versions before the plan had it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A folder that a batch wrote, `here`, and the table that it belongs to.

    Its files are added to the table, and with `replaces` take the place of all others there.
    """

    here: str
    table: str
    replaces: bool


class Plan:
    """The newest version of the plan.

    `document` says what is committed, None: nothing yet. `moves` are those of its `batch`, which
    whoever starts repeats.
    """

    def __init__(self, output: Path) -> None:
        """Read the plan; raises UsageError if an older version of wheelproof made the output."""
        delta.require_path(output)
        if (output / _OLD).exists():
            raise UsageError(
                f"{output} was made by an older version of wheelproof, with a {_OLD}; name another "
                "output, and judge the input anew"
            )
        self.output, self._folder = output, output / _FOLDER
        self.version, self.batch = 0, 0
        self.moves: Sequence[Move] = ()
        self.document: str | None = None
        if delta.is_table(self._folder):
            self._read()

    def commit(self, batch: int, moves: Sequence[Move], document: str) -> None:
        """Make this the plan, in one step; raises UsageError if another pipeline was faster."""
        number = self.version + 1
        file = self._folder / f"{number:06}-{uuid.uuid4().hex}.parquet"
        delta.create(self._folder, _SCHEMA)
        written = json.dumps([asdict(move) for move in moves])
        row = {"batch": batch, "moves": written, "document": document}
        try:
            parquet.write_table(pa.Table.from_pylist([row], schema=_SCHEMA), file)
        except OSError as error:
            file.unlink(missing_ok=True)
            raise PipelineError(f"{self._folder} cannot be written: {error.strerror}") from error
        with delta.failing(self._folder):
            try:
                # At the version that was read: a newer one has what this document does not know.
                at = self.version
                delta.add(self._folder, self._folder, [file], number, replaces=True, at=at)
            except CommitFailedError as error:
                file.unlink()
                raise self._overtaken() from error
        self.version, self.batch, self.moves, self.document = number, batch, moves, document
        for old in self._folder.glob("*.parquet"):
            # Whoever reads the version before can finish.
            if int(old.name.partition("-")[0]) < number - 1:
                old.unlink(missing_ok=True)

    def require_newest(self, error: BaseException) -> None:
        """Raise UsageError from `error` if another pipeline has committed since the plan was read.

        Then what this one has written was removed, which may have been the error.
        """
        if Plan(self.output).version > self.version:
            raise self._overtaken() from error

    def _overtaken(self) -> UsageError:
        return UsageError(
            f"another pipeline has committed to {self.output} since this one began; this one "
            "commits nothing; repeat its command"
        )

    def _read(self) -> None:
        self.version, files = delta.newest(self._folder)
        for file in files:
            (row,) = parquet.read_table(str(file), partitioning=None).to_pylist()
            self.batch, self.document = whole_number(row["batch"]), str(row["document"])
            moves = cast("list[object]", json.loads(str(row["moves"])))
            self.moves = [record_of(Move, move) for move in moves]
