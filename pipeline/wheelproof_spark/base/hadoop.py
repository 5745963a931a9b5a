"""Folders in Hadoop's file systems: HDFS, S3 and all others that the user's jars support.

Spark's workers run Python, which cannot read them. So the driver copies each file unchanged to a
folder that the workers can read.
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
        """Whether the file is left out: a part of its path begins with a dot or underscore."""
        return any(part.startswith((".", "_")) for part in Path(self.name).parts)


class RemoteFolder:
    """A folder in a Hadoop file system; a failure raises Py4JError with Hadoop's reason."""

    def __init__(self, spark: SparkSession, address: Address) -> None:
        self._address = address
        # Spark's interface to Hadoop is in Java; PySpark has it, but not in a public class.
        self._java = vars(SparkContext)["_jvm"].org.apache.hadoop.fs
        settings = vars(spark.sparkContext)["_jsc"].hadoopConfiguration()
        self._root = self._java.Path(str(address))
        self._files = self._root.getFileSystem(settings)

    def files(self) -> Iterator[RemoteFile]:
        """Yield the files below the folder; raise InputRejectedError if it does not exist."""
        if not self._files.exists(self._root):
            raise InputRejectedError(str(self._address), None, "does not exist", "name a folder")
        found = self._files.listFiles(self._root, True)
        while found.hasNext():
            file = found.next()
            state = file.getLen(), file.getModificationTime() * _NS
            yield RemoteFile(self.name_of(file.getPath().toString()), state)

    def name_of(self, address: str) -> str:
        """Return the name, relative to the folder, of the file with this address."""
        root, path = (re.sub("^[^:/]+:(//[^/]*)?", "", text) for text in (str(self._root), address))
        return path.removeprefix(root).lstrip("/")

    def bring(self, name: str, target: Path) -> bool:
        """Copy a file; return whether the file still exists."""
        there = self._java.Path(self._root, self._java.Path(None, None, name))
        if not self._files.exists(there):
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        here = self._java.Path("file", None, str(target.absolute()))
        self._files.copyToLocalFile(False, there, here, True)
        return True

    def mirror(self, folder: Path, known: Mapping[str, State]) -> None:
        """Copy the unknown files; make the known ones as empty files of the same size and time."""
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
    """Make a sparse file; return whether the disk keeps exactly the size and time of `state`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(state[0])
    os.utime(path, ns=(state[1], state[1]))
    made = path.stat()
    return (made.st_size, made.st_mtime_ns) == state
