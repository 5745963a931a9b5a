"""Known limits, by which an implementation is not judged: a file, with a reason for each line."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spec.base.errors import InputRejectedError


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLimit:
    """A clause, or a part of the domain, that an implementation is not judged by, and why.

    `line` is its line in the file.
    """

    clause: str
    reason: str
    line: int = 0


def read_known_limits(path: Path, skippable: Sequence[str]) -> tuple[KnownLimit, ...]:
    """Read a file of known limits: one per line, the clause and then the reason.

    `skippable` are the clauses that may be named.

    Empty lines and lines that begin with `#` are comments. Raises InputRejectedError.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise InputRejectedError(str(path), None, problem, "name a file of known limits") from error
    except UnicodeDecodeError as error:
        raise InputRejectedError(str(path), None, "is not UTF-8", "save it as UTF-8") from error
    limits: dict[str, KnownLimit] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            limit = _parse(str(path), number, line, skippable)
            if limit.clause in limits:
                problem = f"{limit.clause} is named twice"
                raise InputRejectedError(str(path), number, problem, "remove one of the two")
            limits[limit.clause] = limit
    return tuple(limits.values())


def skips(limits: Sequence[KnownLimit], clause: str) -> bool:
    """Tell whether `clause` is among the known limits."""
    return any(limit.clause == clause for limit in limits)


def _parse(source: str, number: int, line: str, skippable: Sequence[str]) -> KnownLimit:
    name, *reason = line.split(maxsplit=1)
    if name not in skippable:
        remedy = f"use one of {', '.join(skippable)}"
        raise InputRejectedError(source, number, f"{name!r} cannot be skipped", remedy)
    if not reason:
        problem = f"{name} is skipped without a reason"
        raise InputRejectedError(source, number, problem, "write the reason behind it")
    return KnownLimit(clause=name, reason=reason[0].strip(), line=number)
