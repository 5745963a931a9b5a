"""Folders in Hadoop's file systems: HDFS, S3 and whatever else the user's jars know.

Spark's workers are Python, which cannot read them, so the driver brings a file as it is to a folder
that they can read.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from wheelproof_spark.base.options import Address
from wheelproof_spec.base.errors import InputRejectedError

_NS = 1_000_000

State = tuple[int, int]
"""Size in bytes, and time of change in ns."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file below a folder: its name there, and its state."""

    name: str
    state: State

    @property
    def hidden(self) -> bool:
        """Tell whether it is left out, as files with such names are in any folder."""
        return any(part.startswith((".", "_")) for part in Path(self.name).parts)


class RemoteFolder:
    """A folder of Hadoop's; what fails there raises Py4JError, with Hadoop's reason."""

    def __init__(self, spark: SparkSession, address: Address) -> None:
        self._address = address
        # Spark's own door to Hadoop is in Java; PySpark has it, but in no class of its own.
        self._java = vars(SparkContext)["_jvm"].org.apache.hadoop.fs
        settings = vars(spark.sparkContext)["_jsc"].hadoopConfiguration()
        self._root = self._java.Path(str(address))
        self._files = self._root.getFileSystem(settings)

    def files(self) -> Iterator[RemoteFile]:
        """Yield the files in the folder and below it; raises InputRejectedError if it is none."""
        if not self._files.exists(self._root):
            raise InputRejectedError(str(self._address), None, "does not exist", "name a folder")
        found = self._files.listFiles(self._root, True)
        while found.hasNext():
            file = found.next()
            state = file.getLen(), file.getModificationTime() * _NS
            yield RemoteFile(self.name_of(file.getPath().toString()), state)

    def name_of(self, address: str) -> str:
        """Return the name below the folder of a file with this address."""
        root, path = (re.sub("^[^:/]+:(//[^/]*)?", "", text) for text in (str(self._root), address))
        return path.removeprefix(root).lstrip("/")

    def bring(self, name: str, target: Path) -> bool:
        """Copy a file; tell whether it is still there."""
        there = self._java.Path(self._root, self._java.Path(None, None, name))
        if not self._files.exists(there):
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        here = self._java.Path("file", None, str(target.absolute()))
        self._files.copyToLocalFile(False, there, here, True)
        return True

    def mirror(self, folder: Path, known: Mapping[str, State]) -> None:
        """Bring the files that are not known; the others become holes of their size and time."""
        folder.mkdir(parents=True, exist_ok=True)
        for file in self.files():
            if file.hidden:
                continue
            target = folder / file.name
            if known.get(file.name) == file.state and _is_hole(target, file.state):
                continue
            if self.bring(file.name, target):
                os.utime(target, ns=(file.state[1], file.state[1]))
            else:
                target.unlink(missing_ok=True)


def _is_hole(path: Path, state: State) -> bool:
    """Make a file without content; tell whether the disk keeps its time as exactly as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(state[0])
    os.utime(path, ns=(state[1], state[1]))
    made = path.stat()
    return (made.st_size, made.st_mtime_ns) == state
