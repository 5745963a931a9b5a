"""The columns of a run's row that its header and its verdict give."""

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.history.routing import Header


def _installed() -> str:
    try:
        return version("wheelproof")
    except PackageNotFoundError:
        return "without a version"


JUDGE = _installed()
"""The version of the judge in this process, driver or worker."""

Key = tuple[str, str, int]
"""Format, run and scope: see the schema."""


def identity(key: Key, header: Header | None) -> dict[str, object]:
    """Return the columns that identify the run, the recorded implementation, and the judge."""
    return {
        **dict(zip(("format", "run", "scope"), key, strict=True)),
        "component": "" if header is None else header.component,
        "implementation": "" if header is None else header.impl.name,
        "version": "" if header is None else header.impl.version,
        "judge": JUDGE,
    }


def verdict_columns(verdict: RunVerdict, file_of: Callable[[int], int | None]) -> dict[str, object]:
    """Return the columns of the verdict; `file_of` returns the file of the event with an index."""
    found: dict[str, object] = {
        "profile": verdict.profile,
        "verdict": verdict.verdict.value,
        "events": verdict.events,
        "good_prefix": verdict.good_prefix,
        "notes": list(verdict.notes),
        "checked": dict(verdict.checked),
    }
    violation, place = verdict.violation, verdict.place
    if violation is not None:
        found |= {
            "rule": violation.rule,
            "expected": violation.expected,
            "observed": violation.observed,
            "reason": violation.reason,
            "also_broken": [also.violation.rule for also in verdict.also_broken],
        }
    if place is not None:
        found |= {
            "place_index": place.index,
            "place_line": place.line,
            "place_file": file_of(place.index),
        }
    return found
