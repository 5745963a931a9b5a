"""Disagreements as files: a campaign's disagreements are kept, and judged again."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import cast

from wheelproof_lab.metamorphic.campaign import Disagreement, said
from wheelproof_lab.metamorphic.campaigns import judged
from wheelproof_lab.metamorphic.recording import Op, Recording
from wheelproof_lab.metamorphic.relations import Relation
from wheelproof_spec.app.recorded import parse_line
from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryHeader, HistoryOp
from wheelproof_spec.base.strict_json import JsonObject, MalformedError, parse_object, text
from wheelproof_spec.components.registry import definition_of
from wheelproof_spec.history.line_parser import Rejection
from wheelproof_spec.history.reader import read_lines

Event = HistoryHeader[object] | Op | HistoryEnd

_REMEDY = "name a file that `python -m wheelproof_lab metamorphic --keep` has written"
_REPAIR = "`wheelproof check` says all that is wrong with the file"


def document(found: Disagreement) -> dict[str, object]:
    """Return a disagreement as plain JSON values; its histories are lists of lines."""
    return {
        "component": found.component,
        "profile": found.profile,
        "variation": found.variation,
        "relation": found.relation.name.lower(),
        "clause": found.clause,
        "verdicts": list(found.verdicts),
        "known": None,
        "before": _objects(found.before),
        "after": _objects(found.after),
    }


def kept(found: Disagreement, number: int) -> tuple[str, str]:
    """Return the name and the content of the file of a disagreement."""
    what = "".join(letter if letter.isalnum() else "-" for letter in found.variation.lower())
    name = f"{found.component}-{found.profile}-{what}-{number}.json"
    return name, json.dumps(document(found), indent=1, ensure_ascii=False) + "\n"


def files_of(paths: Iterable[Path]) -> list[Path]:
    """Return the named files, and the files of the named folders."""
    return [
        file
        for path in paths
        for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])
    ]


def replayed(path: Path) -> tuple[bool, str, str | None]:
    """Judge a kept pair again.

    Returns whether its verdicts agree now, both verdicts in words, and the reason in the file why
    they need not agree, or None. Raises InputRejectedError if the file is not such a pair.
    """
    try:
        kept_pair = parse_object(path.read_bytes())
        before, after = (_kept_recording(kept_pair, name) for name in ("before", "after"))
        relation = Relation[text(kept_pair, "relation").upper()]
        clause = kept_pair.get("clause")
        known = kept_pair.get("known")
        verdicts = judged(before), judged(after)
        agree = relation.allows(*verdicts, clause if isinstance(clause, str) else None)
        words = f"{said(verdicts[0])}; then {said(verdicts[1])}"
        return agree, words, known if isinstance(known, str) else None
    except (OSError, MalformedError, KeyError) as error:
        raise InputRejectedError(str(path), None, str(error), _REMEDY) from error


def _objects(recording: Recording) -> list[object]:
    return [json.loads(line) for line in recording.lines()]


def recorded_runs(path: Path) -> Iterator[Recording]:
    """Yield the histories of a file of any recorder, each as a whole.

    Raises InputRejectedError for a line that belongs to no history.
    """
    runs: dict[str, list[Event]] = {}
    for number, line in enumerate(read_lines(path), start=1):
        event = line if isinstance(line, Rejection) else parse_line(line)
        if not isinstance(event, HistoryHeader | HistoryOp | HistoryEnd):
            problem = event.problem if isinstance(event, Rejection) else "is of no history"
            raise InputRejectedError(str(path), number, problem, _REPAIR)
        runs.setdefault(event.history, []).append(event)
    for name, events in runs.items():
        try:
            yield _recording(events)
        except MalformedError as error:
            raise InputRejectedError(str(path), None, f"{name!r} {error}", _REPAIR) from error


def _kept_recording(kept_pair: JsonObject, name: str) -> Recording:
    lines = cast(Sequence[object], kept_pair[name])
    found: list[Event] = []
    for line in lines:
        event = parse_line(json.dumps(line, ensure_ascii=False).encode())
        if not isinstance(event, HistoryHeader | HistoryOp | HistoryEnd):
            raise MalformedError(f"has a line of {name!r} that no history has: {event}")
        found.append(event)
    return _recording(found)


def _recording(events: Iterable[Event]) -> Recording:
    header: HistoryHeader[object] | None = None
    end: HistoryEnd | None = None
    ops: list[Op] = []
    for event in events:
        match event:
            case HistoryHeader():
                header = event
            case HistoryOp():
                ops.append(event)
            case HistoryEnd():
                end = event
    if header is None:
        raise MalformedError("has no header")
    operations = definition_of(header.component).operations
    happens = frozenset(operation.name for operation in operations if operation.happens)
    return Recording(header=header, ops=tuple(ops), end=end, happens=happens)
