"""Folders in Hadoop's file systems: HDFS, S3 and all others that the user's jars support.

Spark's workers run Python, which cannot read them. So the driver copies each new file unchanged to
a folder that the workers can read.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from wheelproof_spark.base.listing import FileState, FoundFile, Input, LocalFolder
from wheelproof_spark.base.options import Address
from wheelproof_spark.tables.store import Store
from wheelproof_spec.base.errors import InputRejectedError

_NS = 1_000_000


class RemoteFolder:
    """A folder in a Hadoop file system; a failure raises Py4JError with Hadoop's reason.

    `store` has the folder that takes the copies of a batch's files.
    """

    def __init__(self, spark: SparkSession, address: Address, store: Store) -> None:
        self._address = address
        self._store = store
        # Spark's interface to Hadoop is in Java; PySpark has it, but not in a public class.
        self._java = vars(SparkContext)["_jvm"].org.apache.hadoop.fs
        settings = vars(spark.sparkContext)["_jsc"].hadoopConfiguration()
        self._root = self._java.Path(str(address))
        self._files = self._root.getFileSystem(settings)

    def files(self) -> Sequence[FoundFile]:
        """Return the files, by name; raise InputRejectedError if there is no such folder."""
        if not self._files.exists(self._root):
            raise InputRejectedError(str(self._address), None, "does not exist", "name a folder")
        listed, found = self._files.listFiles(self._root, True), list[FoundFile]()
        while listed.hasNext():
            file = listed.next()
            name = self._name_of(file.getPath().toString())
            state = FileState(size=file.getLen(), mtime_ns=file.getModificationTime() * _NS)
            if not any(part.startswith((".", "_")) for part in name.split("/")):
                found.append(FoundFile(name=name, path=Path(name), state=state))
        return sorted(found, key=lambda file: file.name)

    def bring(self, file: FoundFile) -> FoundFile | None:
        """Copy a file to its path; return it with the size of the copy, or None if it is gone."""
        there = self._java.Path(self._root, self._java.Path(None, None, file.name))
        if not self._files.exists(there):
            return None
        path = self._store.spool / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        here = self._java.Path("file", None, str(path.absolute()))
        self._files.copyToLocalFile(False, there, here, True)
        state = replace(file.state, size=path.stat().st_size)
        return replace(file, path=path, state=state)

    def _name_of(self, address: str) -> str:
        """Return the name, relative to the folder, of the file with this address."""
        root, path = (re.sub("^[^:/]+:(//[^/]*)?", "", text) for text in (str(self._root), address))
        return path.removeprefix(root).lstrip("/")


def input_of(source: Path | Address, store: Store, spark: Callable[[], SparkSession]) -> Input:
    """Return the files of an input; only Spark can read Hadoop's file systems."""
    if isinstance(source, Address):
        return RemoteFolder(spark(), source, store)
    return LocalFolder(source, store.output)
