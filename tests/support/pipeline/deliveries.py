"""Random sequences of what happens to files, and what `wheelproof check` says of what is there.

Each sequence has names and files of its own, so that hundreds of them are one input: the pipeline
does a step of all of them at once. A stream sees only what arrives: what is renamed, packed, split
or cut comes once more, and what is deleted stays judged.
"""

import gzip
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from zstandard import ZstdCompressor

from support.pipeline.recorded_fleet import chance_lines
from support.pipeline.streamed_folder import StreamedFolder
from wheelproof_spark.check.reading.parsing import BODY, END, HEADER, key_of
from wheelproof_spec.app.recorded import judge_lines, parse_line
from wheelproof_spec.history.line_parser import Rejection

STEPS = 6
_PACKS = (bytes, gzip.compress, ZstdCompressor().compress)

Lines = tuple[bytes, ...]
Said = tuple[str, object, object, object]
"""Name of a run, verdict, rule, and how many events have an explanation."""


class Deliveries:
    """One sequence: `files` is what is there by name, `arrived` what a stream has seen."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.done: list[str] = []
        self.files: dict[str, Lines] = {}
        self.arrived: list[Lines] = []
        self._chance = random.Random(seed)
        self._rest: list[Lines] = []
        self._whole: set[str] = set()
        self._made = 0

    def step(self, folder: Path, stream: StreamedFolder) -> None:
        """Let one thing happen, by chance."""
        ops = ["add", "same_name", "half", "redeliver", "repeat_a_line"]
        ops += ["append", "rename", "delete", "replace", "compress"] if self.files else []
        ops += ["split", "cut", "tear"] if self._whole else []
        op = self._chance.choice(ops)
        self.done.append(op)
        getattr(self, f"_{op}")(folder, stream)

    def _run(self, name: str | None = None) -> Lines:
        self._made += 1
        name = f"{self.seed}-{name or self._made}"
        return tuple(chance_lines(self._chance.randrange(1_000), name))

    def write(
        self, folder: Path, stream: StreamedFolder | None, lines: Lines, name: str | None = None
    ) -> str:
        """Write a file where the pipeline looks, and let it arrive where the stream does."""
        self._made += 1
        name = name or f"f{self._made}"
        packed = self._chance.choice(_PACKS)(b"".join(lines))
        (folder / f"{self.seed}-{name}").write_bytes(packed)
        self.files[name] = lines
        if stream is not None:
            stream.arrive(packed, f"{self.seed}-{len(self.arrived)}")
            self.arrived.append(lines)
        return name

    def _remove(self, folder: Path, name: str) -> Lines:
        (folder / f"{self.seed}-{name}").unlink()
        self._whole.discard(name)
        return self.files.pop(name)

    def _any(self, names: Iterable[str] | None = None) -> str:
        return self._chance.choice(sorted(self.files if names is None else names))

    def _add(self, folder: Path, stream: StreamedFolder) -> None:
        self._whole.add(self.write(folder, stream, self._run()))

    def _same_name(self, folder: Path, stream: StreamedFolder) -> None:
        self.write(folder, stream, self._run("shared"))

    def _half(self, folder: Path, stream: StreamedFolder) -> None:
        if self._rest:
            self.write(folder, stream, self._rest.pop())
            return
        lines = list(self._run())
        self._chance.shuffle(lines)
        at = self._chance.randrange(1, len(lines))
        self.write(folder, stream, tuple(lines[:at]))
        self._rest.append(tuple(lines[at:]))

    def _redeliver(self, folder: Path, stream: StreamedFolder) -> None:
        if self.arrived:
            self.write(folder, stream, self._chance.choice(self.arrived))

    def _repeat_a_line(self, folder: Path, stream: StreamedFolder) -> None:
        if self._whole:
            lines = self.files[self._any(self._whole)]
            self.write(folder, stream, (self._chance.choice(lines[1:]),))

    def _append(self, folder: Path, stream: StreamedFolder) -> None:
        name, more = self._any(), self._run()
        stream.arrive(more, f"{self.seed}-{len(self.arrived)}")
        self.arrived.append(more)
        content = b"".join((*self.files[name], *more))
        (folder / f"{self.seed}-{name}").write_bytes(content)
        self._whole.discard(name)
        self.files[name] = tuple(content.splitlines(keepends=True))

    def _rename(self, folder: Path, stream: StreamedFolder) -> None:
        self.write(folder, stream, self._remove(folder, self._any()))

    _compress = _rename

    def _delete(self, folder: Path, stream: StreamedFolder) -> None:
        del stream
        self._remove(folder, self._any())

    def _replace(self, folder: Path, stream: StreamedFolder) -> None:
        name = self._any()
        self._remove(folder, name)
        self.write(folder, stream, self._run(), name)
        self._whole.add(name)

    def _split(self, folder: Path, stream: StreamedFolder) -> None:
        lines = self._remove(folder, self._any(self._whole))
        at = self._chance.randrange(1, len(lines))
        self.write(folder, stream, lines[:at])
        self.write(folder, stream, lines[at:])

    def _cut(self, folder: Path, stream: StreamedFolder) -> None:
        lines = self._remove(folder, self._any(self._whole))
        at = self._chance.randrange(1, len(lines))
        torn = lines[at][: self._chance.randrange(2) * len(lines[at]) // 2]
        self.write(folder, stream, (*lines[:at], torn) if torn else lines[:at])

    def _tear(self, folder: Path, stream: StreamedFolder) -> None:
        lines = list(self._remove(folder, self._any(self._whole)))
        lines.insert(self._chance.randrange(len(lines)), self._chance.choice(lines))
        self.write(folder, stream, tuple(lines))


def said(files: Iterable[Lines]) -> Counter[Said]:
    """Return what `check` says of each run, once what several files have of it is put together.

    Written anew from the rules of docs/pipeline.md, with sets in the place of tables.
    """
    found: Counter[Said] = Counter()
    for name, parts in _by_name(files).items():
        once = list(dict.fromkeys(parts))
        wholes = [part for part in once if _is_whole(part)]
        rest = [part for part in once if not _is_whole(part)]
        headed = sum(any(_keys(line)[2] == HEADER for line in part) for part in rest)
        if wholes and not headed:
            known = {line for part in wholes for line in part}
            rest = [part for part in rest if not known.issuperset(part)]
        joined = rest if headed > 1 else [tuple(line for part in rest for line in part)]
        runs = dict.fromkeys(_in_order(part) for part in (*wholes, *joined) if part)
        found.update((name, *_judged(run)) for run in runs)
    return found


def _by_name(files: Iterable[Lines]) -> Mapping[str, list[Lines]]:
    parts: dict[str, list[Lines]] = defaultdict(list)
    for file in files:
        of_file: dict[str, list[bytes]] = defaultdict(list)
        for line in file:
            if line.endswith(b"\n") and not isinstance(parse_line(line), Rejection):
                of_file[_keys(line)[1]].append(line)
        for name, lines in of_file.items():
            parts[name].append(tuple(sorted(lines)))
    return parts


def _is_whole(part: Lines) -> bool:
    keys = [_keys(line) for line in part]
    ranks = Counter(key[2] for key in keys)
    needed = [key[3] for key in keys if key[2] == END]
    places = {key[2:4] for key in keys}
    return (ranks[HEADER], needed, len(places)) == (1, [ranks[BODY]], len(part))


def _in_order(part: Lines) -> Lines:
    return tuple(sorted(set(part), key=lambda line: (_keys(line)[2:4], line)))


@cache
def _keys(line: bytes) -> tuple[str, str, int, int, str]:
    event = parse_line(line)
    assert not isinstance(event, Rejection)
    key = key_of(event)
    assert key is not None
    return key


@cache
def _judged(run: Lines) -> tuple[object, object, object]:
    result = judge_lines("run", run)
    error = len({_keys(line)[2:4] for line in run}) < len(run) or result.rejected
    if not result.verdicts or (error and result.verdicts[0].violation is None):
        return "error", None, None
    (verdict,) = result.verdicts
    rule = None if verdict.violation is None else verdict.violation.rule
    return verdict.verdict.value, rule, verdict.good_prefix


def told(rows: Iterable[Mapping[str, object]]) -> Mapping[int, Counter[Said]]:
    """Return what the pipeline says, by the seeds of the sequences."""
    found: dict[int, Counter[Said]] = defaultdict(Counter)
    for row in rows:
        name = str(row["run"])
        error = row["verdict"] == "error"
        prefix = None if error else row["good_prefix"]
        found[int(name.partition("-")[0])][name, row["verdict"], row["rule"], prefix] += 1
    return found
