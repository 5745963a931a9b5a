"""The one planner: what is new, has grown, has changed or is gone, and the tasks that read it."""

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from wheelproof_spark.base.listing import FoundFile
from wheelproof_spark.check.reading.splits import Split, is_packed
from wheelproof_spark.tables.files import FileEntry
from wheelproof_spark.tables.manifest import Manifest

LARGEST_SPLIT = 32 << 20
"""The largest piece of a plain file that one task reads, in bytes."""
SMALLEST_SPLIT = 1 << 20
_SPLITS_AT_LEAST = 16
_MOST_FILES_A_TASK = 256
_SAMPLE_BYTES = 4_096
_SAMPLES = 256
_WHOLE_BYTES = _SAMPLE_BYTES * _SAMPLES
"""The digest covers all of a file up to this size, and evenly spread samples of a larger one."""


Bring = Callable[[FoundFile], FoundFile | None]
"""Makes a file readable for the workers, and returns it; None if it is gone."""


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


def plan(
    listed: Iterable[FoundFile],
    bring: Bring,
    known: Iterable[FileEntry],
    manifest: Manifest,
    batch: int,
    split_bytes: int | None = None,
) -> Plan:
    """Return the plan for the listed files that differ from the known ones.

    New files take `next_file`; known files that are not listed are withdrawn. What is to be read
    is brought first.
    """
    left = {file.path: file for file in known}
    files = sorted(listed, key=lambda file: file.name)
    made = Plan(split_bytes=split_bytes or _split_bytes(files))
    for found in files:
        old = left.get(found.name)
        if old is not None and old.state == found.state:
            made.files.append(left.pop(found.name))
            continue
        file = bring(found)
        if file is None:
            continue
        left.pop(found.name, None)
        start, size = 0, file.state.size
        appendable, digest = _end_of(file.path, size)
        if old is not None and _is_same(old, file, digest):
            old.state = file.state
            made.files.append(old)
            continue
        made.fresh += 1
        if old is not None and _has_grown(old, file):
            start, entry = old.state.size, old
            entry.batches.append(batch)
            entry.state, entry.complete, entry.tail = file.state, appendable, digest
        else:
            if old is not None:
                made.withdrawn.append(old)
            entry = _entry(file, manifest, batch, complete=appendable, tail=digest)
        made.files.append(entry)
        made.bytes += size - start
        made.splits += _splits_of(file.path, entry, made.split_bytes, start)
    made.withdrawn += left.values()
    return made


def _splits_of(path: Path, entry: FileEntry, split_bytes: int, start: int = 0) -> list[Split]:
    """Return the pieces of a file that is read from `start`; a packed file is one piece."""
    size = entry.state.size
    one_piece = size - start <= split_bytes or not entry.tail or is_packed(path)
    step = max(size - start, 1) if one_piece else split_bytes
    address = quote(os.fsencode(path.absolute()))
    return [
        Split(file_id=entry.file_id, path=address, start=at, end=min(at + step, max(size, 1)))
        for at in range(start, max(size, start + 1), step)
    ]


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


def _split_bytes(files: Iterable[FoundFile]) -> int:
    total = sum(file.state.size for file in files)
    return min(max(total // _SPLITS_AT_LEAST, SMALLEST_SPLIT), LARGEST_SPLIT)


def _entry(
    file: FoundFile, manifest: Manifest, batch: int, *, complete: bool, tail: str
) -> FileEntry:
    number = manifest.next_file
    manifest.next_file += 1
    return FileEntry(
        file_id=number,
        path=file.name,
        state=file.state,
        complete=complete,
        tail=tail,
        batches=[batch],
    )


def _is_same(old: FileEntry, file: FoundFile, digest: str) -> bool:
    """Tell whether the bytes are those of before, all of them: a copy, or a new time."""
    size = file.state.size
    return size == old.state.size <= _WHOLE_BYTES and digest == old.tail != ""


def _has_grown(old: FileEntry, file: FoundFile) -> bool:
    if not old.complete or file.state.size <= old.state.size:
        return False
    return _end_of(file.path, old.state.size) == (True, old.tail)


def _end_of(path: Path, size: int) -> tuple[bool, str]:
    """Return whether reading can continue at `size`, and a digest of the bytes before it.

    The digest has the beginning, the end, and evenly spread samples between them.
    """
    digest, sample = hashlib.sha256(), b""
    last = size - _SAMPLE_BYTES
    try:
        packed = is_packed(path)
        with path.open("rb") as stream:
            if size <= _WHOLE_BYTES:
                sample = stream.read(size)
                digest.update(sample)
            else:
                for number in range(_SAMPLES):
                    stream.seek(number * last // (_SAMPLES - 1))
                    sample = stream.read(_SAMPLE_BYTES)
                    digest.update(sample)
    except OSError:
        # The task that reads the file puts it into quarantine with the reason.
        return False, ""
    return sample.endswith(b"\n") and not packed, digest.hexdigest()
