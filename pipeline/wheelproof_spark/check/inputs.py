"""Compares the input with the manifest (files are new, grown, changed or gone), and plans tasks."""

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from wheelproof_spark.check.reading.splits import Split, is_packed
from wheelproof_spark.tables.manifest import FileEntry, Manifest
from wheelproof_spec.base.errors import InputRejectedError

LARGEST_SPLIT = 32 << 20
"""The largest piece of a plain file that one task reads, in bytes."""
SMALLEST_SPLIT = 1 << 20
_SPLITS_AT_LEAST = 16
_MOST_FILES_A_TASK = 256
_SAMPLE_BYTES = 4_096
_SAMPLES = 256
"""The samples in a digest: they cover a file up to a MiB, and are evenly spread in a larger one."""
_FORMATS = "JSON Lines, plain or packed with gzip or zstd, or Parquet"


@dataclass(slots=True)
class Plan:
    """The work of a run: splits to read, and files whose earlier lines are void."""

    splits: list[Split] = field(default_factory=list[Split])
    withdrawn: list[FileEntry] = field(default_factory=list[FileEntry])
    files: list[FileEntry] = field(default_factory=list[FileEntry])
    split_bytes: int = LARGEST_SPLIT
    fresh: int = 0
    bytes: int = 0

    @property
    def empty(self) -> bool:
        """Whether nothing has changed."""
        return not self.splits and not self.withdrawn


def input_files(folder: Path) -> list[Path]:
    """Return the files of the folder and those below it; hidden ones are left out.

    Files that cannot be read are included: each becomes a quarantined line with the reason.

    Raises InputRejectedError if there is no such folder or no file in it.
    """
    if not folder.is_dir():
        problem = "is no folder" if folder.exists() else "does not exist"
        raise InputRejectedError(str(folder), None, problem, f"name a folder of {_FORMATS}")
    found = sorted(_walk(folder, set()))
    if not found:
        raise InputRejectedError(str(folder), None, "has no file", f"put {_FORMATS} there")
    return found


def plan(folder: Path, manifest: Manifest, batch: int, split_bytes: int | None = None) -> Plan:
    """Return the plan for the files that differ from the manifest; new files take `next_file`."""
    known = manifest.by_path()
    paths = input_files(folder)
    made = Plan(split_bytes=split_bytes or _split_bytes(paths))
    for path in paths:
        name = named(path.relative_to(folder))
        size, mtime_ns = _state(path)
        old = known.pop(name, None)
        if old is not None and (old.size, old.mtime_ns) == (size, mtime_ns):
            made.files.append(old)
            continue
        made.fresh += 1
        start = 0
        if old is not None and _has_grown(path, old, size):
            start, entry = old.size, old
            entry.batches.append(batch)
        else:
            if old is not None:
                made.withdrawn.append(old)
            entry = _entry(manifest, name, batch)
        entry.size, entry.mtime_ns = size, mtime_ns
        entry.complete, entry.tail = _end_of(path, size)
        made.files.append(entry)
        made.bytes += size - start
        made.splits += _splits(path, entry, start, size, made.split_bytes)
    made.withdrawn += known.values()
    return made


def named(path: Path) -> str:
    """Return the name of a file for people and tables: bytes that are not text are escaped."""
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")


def arrived(path: Path, name: str, size: int, manifest: Manifest, batch: int) -> FileEntry:
    """Return the entry of a new file, with the next number of the manifest."""
    entry = _entry(manifest, name, batch)
    entry.size = size
    entry.complete, entry.tail = _end_of(path, size)
    return entry


def splits_of(path: Path, entry: FileEntry, split_bytes: int) -> list[Split]:
    """Return the pieces of a file that is read from its beginning."""
    return list(_splits(path, entry, 0, entry.size, split_bytes))


def bins(splits: Sequence[Split], most_bytes: int) -> list[list[Split]]:
    """Group splits into tasks that read about `most_bytes` bytes each."""
    made: list[list[Split]] = []
    filled = most_bytes
    for split in splits:
        size = split.end - split.start
        if filled + size > most_bytes or len(made[-1]) >= _MOST_FILES_A_TASK:
            made.append([])
            filled = 0
        made[-1].append(split)
        filled += size
    return made


def _split_bytes(paths: Sequence[Path]) -> int:
    total = sum(_state(path)[0] for path in paths)
    return min(max(total // _SPLITS_AT_LEAST, SMALLEST_SPLIT), LARGEST_SPLIT)


def _walk(folder: Path, seen: set[Path]) -> Iterator[Path]:
    """Yield files, and folders that cannot be listed; `seen` stops at cycles of links."""
    real = folder.resolve()
    if real in seen:
        return
    seen.add(real)
    try:
        found = sorted(folder.iterdir())
    except OSError:
        yield folder
        return
    for path in found:
        if path.name.startswith((".", "_")):
            continue
        if path.is_dir():
            yield from _walk(path, seen)
        else:
            yield path


def _state(path: Path) -> tuple[int, int]:
    """Return size and time of change; zeros if it is not a regular file, which is one bad line."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else (0, 0)


def _entry(manifest: Manifest, name: str, batch: int) -> FileEntry:
    number = manifest.next_file
    manifest.next_file += 1
    return FileEntry(
        id=number, path=name, size=0, mtime_ns=0, complete=False, tail="", batches=[batch]
    )


def _has_grown(path: Path, old: FileEntry, size: int) -> bool:
    if not old.complete or size <= old.size:
        return False
    return _end_of(path, old.size) == (True, old.tail)


def _end_of(path: Path, size: int) -> tuple[bool, str]:
    """Return whether reading can continue at `size`, and a digest of the bytes before it.

    The digest has the beginning, the end, and evenly spread samples between them.
    """
    digest, sample = hashlib.sha256(), b""
    last = max(0, size - _SAMPLE_BYTES)
    try:
        if is_packed(path):
            return False, ""
        with path.open("rb") as stream:
            for number in range(_SAMPLES):
                stream.seek(number * last // (_SAMPLES - 1))
                sample = stream.read(min(size, _SAMPLE_BYTES))
                digest.update(sample)
    except OSError:
        # The task that reads the file puts it into quarantine with the reason.
        return False, ""
    return sample.endswith(b"\n"), digest.hexdigest()


def _splits(
    path: Path, entry: FileEntry, start: int, size: int, split_bytes: int
) -> Iterator[Split]:
    one_piece = size - start <= split_bytes or not entry.tail
    step = max(size - start, 1) if one_piece else split_bytes
    for begin in range(start, max(size, start + 1), step):
        end = min(begin + step, max(size, 1))
        yield Split(
            file_id=entry.id, path=quote(os.fsencode(path.absolute())), start=begin, end=end
        )
