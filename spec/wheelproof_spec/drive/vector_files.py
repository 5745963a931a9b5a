"""Files of vectors: reading them, one per line, and the hash in each vector."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.codec.writer import format_line, plain
from wheelproof_spec.base.errors import InputRejectedError, UsageError
from wheelproof_spec.base.history.lines import Vector
from wheelproof_spec.base.results.reports import replacing
from wheelproof_spec.history.line_parser import Event, Rejection
from wheelproof_spec.history.reader import read_lines

_REMEDY = "make it again with python -m wheelproof_lab vectors"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedVector:
    """A vector with the file and line that it was read from."""

    vector: Vector[object, object]
    source: str
    line: int


def with_hash(vector: Vector[object, object]) -> Vector[object, object]:
    """Return the vector with its correct hash."""
    return replace(vector, hash=vector_hash(vector))


def vector_hash(vector: Vector[object, object]) -> str:
    """Return the hash: SHA-256 of the line without the hash, keys sorted, without spaces."""
    content = plain(vector, Wire.DRIVEN)
    assert isinstance(content, dict)
    del content["hash"]
    text = json.dumps(content, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def find_vector_files(patterns: Sequence[str]) -> list[Path]:
    """Return the files that the patterns match, sorted; raises UsageError if one matches none."""
    found: set[Path] = set()
    for pattern in patterns:
        anchor = Path(Path(pattern).anchor)
        try:
            matches = [*anchor.glob(str(Path(pattern).relative_to(anchor)))]
        except (ValueError, IndexError) as error:
            raise UsageError(f"{pattern!r} is no pattern of files ({error})") from error
        if not matches:
            raise UsageError(f"no file of vectors is called {pattern!r}")
        found.update(matches)
    return sorted(found)


def read_vectors(
    paths: Iterable[Path], parse: Callable[[bytes], Event | Rejection]
) -> Iterator[PublishedVector]:
    """Yield all vectors in order; raises InputRejectedError with file and line."""
    ids: dict[str, str] = {}
    for path in paths:
        for number, line in enumerate(read_lines(path), start=1):
            event = parse(line) if isinstance(line, bytes) else line
            published = _published(str(path), number, event)
            name, place = published.vector.id, f"{path}:{number}"
            if name in ids:
                problem = f"the vector {name!r} was at {ids[name]} already"
                raise InputRejectedError(str(path), number, problem, "give each its own id")
            ids[name] = place
            yield published


def write_vectors(path: Path, vectors: Iterable[Vector[object, object]]) -> None:
    """Write a file of vectors."""
    with replacing(path) as stream:
        stream.writelines(format_line(vector, Wire.DRIVEN) for vector in vectors)


def _published(source: str, number: int, event: Event | Rejection) -> PublishedVector:
    if isinstance(event, Rejection):
        raise InputRejectedError(source, number, f"the line {event.problem}", _REMEDY)
    if not isinstance(event, Vector):
        raise InputRejectedError(source, number, "the line is no vector", _REMEDY)
    if event.hash != vector_hash(event):
        problem = f"the vector {event.id!r} is not what its hash was made of"
        raise InputRejectedError(source, number, problem, _REMEDY)
    return PublishedVector(vector=event, source=source, line=number)
