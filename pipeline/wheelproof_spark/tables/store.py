"""The output on disk: a batch is written to a work folder, committed at once, then moved.

The plan is committed first, in one step. Then each folder is moved into its table, and a
transaction of the table's format adds the files: whoever stops in between, the next start does the
rest. Two pipelines may do that side by side, since each step looks whether it was done.

Each attempt has its own work folder, named by the version of the plan that it would commit. It may
be removed when that version is committed: until then, its writer may be alive.
"""

import shutil
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from wheelproof_spark.base.errors import PipelineError
from wheelproof_spark.tables import delta
from wheelproof_spark.tables.plan import Move, Plan
from wheelproof_spec.base.errors import UsageError

_WORK = ".work"


class Store:
    """The output of a check or a stream, in a `with` block.

    At its end, what was written and not committed is removed. An error is a UsageError if another
    pipeline has committed to the output since: one of the two wins.
    """

    def __init__(self, output: Path) -> None:
        """Open the plan; raises UsageError if no table can be there, or older ones are."""
        self.plan = Plan(output)
        self.output = output
        self._name = uuid.uuid4().hex
        self._attempts = list[Path]()

    def __enter__(self) -> "Store":
        """Begin to write; raises UsageError if the output is not writable."""
        try:
            (self.output / _WORK).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{self.output} cannot be written: {error.strerror}") from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove what was not committed."""
        for folder in (*self._attempts, self.spool):
            shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, Exception):
            with suppress(PipelineError):
                self.plan.require_newest(error)

    @property
    def spool(self) -> Path:
        """The folder of the next batch's records and copied files."""
        return self._work("spool-" + self._name)

    def path(self, table: str) -> Path:
        """Return the folder of a table, after its move."""
        return self.output / table

    def attempt(self) -> Path:
        """Make the work folder of a batch, and return it: its tables wait there for the commit."""
        folder = self._work(uuid.uuid4().hex)
        folder.mkdir(parents=True)
        self._attempts.append(folder)
        return folder

    def commit(self, document: str, batch: int, attempt: Path, moves: Sequence[Move]) -> None:
        """Commit the document, and make the moves of the batch from the folder of the attempt.

        Raises UsageError if another pipeline has committed since the plan was read.
        """
        work = attempt.relative_to(self.output)
        moves = [replace(move, here=str(work / move.here)) for move in moves]
        self.plan.commit(batch, moves, document)
        self.recover()

    def save(self, document: str) -> None:
        """Commit the document, without a batch."""
        self.plan.commit(self.plan.batch, (), document)

    def recover(self) -> None:
        """Finish the last commit, and remove the attempts that it has outrun."""
        self.move_in()
        for folder in (self.output / _WORK).glob("*"):
            if int(folder.name.partition("-")[0]) <= self.plan.version:
                shutil.rmtree(folder, ignore_errors=True)

    def move_in(self) -> None:
        """Make the moves of the last commit; skip those that were made."""
        batch = self.plan.batch
        for move in self.plan.moves:
            source, table = self.output / move.here, self.output / move.table
            target = table / f"{batch:06}"
            if source.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                try:
                    source.rename(target)
                except FileNotFoundError:
                    # Another pipeline that starts has moved it in this moment.
                    if not target.exists():
                        raise
            delta.commit(table, target, batch, replaces=move.replaces)

    def _work(self, name: str) -> Path:
        return self.output / _WORK / f"{self.plan.version + 1:06}-{name}"
