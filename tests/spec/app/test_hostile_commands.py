"""Hundreds of commands that nobody should give: each ends well, and nothing is lost.

Well is: a documented exit code, at most one sentence on standard error, no traceback, no process
left, no file changed, nothing half-written. What needs a process of its own is in
test_hostile_processes.py.
"""

import gzip
import shlex
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from support.checkout import ROOT
from support.hostile import HISTORY, attempt, snapshot
from wheelproof_spec.base.results.verdicts import ExitCode

pytestmark = pytest.mark.slow

REPORTING = {
    "check": "check run.jsonl",
    "conform": "conform --driver false --cases 1",
    "doctor": "doctor",
    "explore": "explore bug/anyone-takes",
    "fuzz": "fuzz buffer_pool --cases 1 --seed 1",
    "schema": "schema validate run.jsonl",
    "vectors": "vectors list vectors.jsonl",
}
"""A command of each verb that ends soon and has a result."""
OUTPUTS = [
    *((command, option) for command in REPORTING.values() for option in ("--json", "--junit")),
    *((REPORTING[verb], "--html") for verb in ("check", "conform", "explore")),
    ("record --component timer --threads 1 --operations 9", "--output"),
    ("schema print", "--json"),
    ("tlc --write-cfg MCTimer_smoke", "--output"),
]
NOT_WRITABLE = (
    "/dev/full",
    "folder",
    "run.jsonl/report",
    "/proc/nothing/report",
    "/sys/report",
    "x" * 300,
    "loop/report",
)
READERS = {
    "check run.jsonl": ("--json", "--junit", "--html"),
    "check other.jsonl run.jsonl": ("--json", "--html"),
    "check folder/../run.jsonl": ("--html",),
    "schema validate run.jsonl": ("--json", "--junit"),
    "vectors list run.jsonl": ("--json", "--junit"),
    "vectors verify r*.jsonl": ("--json",),
    "vectors run vectors.jsonl --driver 'python3 run.jsonl'": ("--json",),
    "vectors run vectors.jsonl --driver false --skip run.jsonl": ("--junit",),
    "conform --driver ./run.jsonl": ("--json", "--junit", "--html"),
    "conform --driver 'python3 run.jsonl'": ("--json", "--html"),
    "conform --driver false --skip run.jsonl": ("--json", "--junit", "--html"),
    "conform --driver false --vectors r*.jsonl": ("--json", "--html"),
    "tlc --manifest run.jsonl": ("--json", "--junit", "--graph"),
    "tlc --jar run.jsonl": ("--json",),
    "lab graph --all --jar run.jsonl": ("--json",),
    "pipeline check --input runs --output new": (),
}
SAME_FILE = ("run.jsonl", "./run.jsonl", "link.jsonl", "hard.jsonl", "folder/../run.jsonl")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with a history, other names for it, and some vectors."""
    monkeypatch.chdir(tmp_path)
    for name in ("folder", "runs"):
        (tmp_path / name).mkdir()
    for name in ("run.jsonl", "other.jsonl", "runs/run.jsonl"):
        (tmp_path / name).write_bytes(HISTORY)
    (tmp_path / "link.jsonl").symlink_to("run.jsonl")
    (tmp_path / "hard.jsonl").hardlink_to(tmp_path / "run.jsonl")
    (tmp_path / "loop").symlink_to("loop")
    shutil.copy(ROOT / "vectors" / "timer-scenarios.jsonl", tmp_path / "vectors.jsonl")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "broken.py").write_text("def :\n")
    (tmp_path / "raises.py").write_text("raise ValueError('two\\nlines')\n")
    (tmp_path / "other_thing.py").write_text("PROGRAM = 3\n")
    return tmp_path


def _words(command: str) -> list[str]:
    return shlex.split(command)


@pytest.mark.parametrize("place", NOT_WRITABLE, ids=lambda place: place[:20])
@pytest.mark.parametrize(("command", "option"), OUTPUTS)
def test_an_output_that_cannot_be_written(
    command: str, option: str, place: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = snapshot(folder)
    ended = attempt([*_words(command), option, place], capsys)
    assert snapshot(folder) == before
    if option in {"--json", "--junit", "--html"} and not Path(place).parent.is_dir():
        assert ended.code == ExitCode.USAGE
        assert "there is no folder" in ended.errors
        assert not ended.output, "no work is done whose report is lost"
        return
    assert ended.code == ExitCode.INTERNAL_ERROR
    assert "cannot be written" in ended.errors
    if command in REPORTING.values():
        assert ended.output.strip(), "the verdict is printed all the same"


@pytest.mark.parametrize(
    ("command", "option"),
    [(command, option) for command, options in READERS.items() for option in options],
)
def test_an_output_that_is_an_input(
    command: str, option: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = snapshot(folder)
    for place in SAME_FILE:
        ended = attempt([*_words(command), option, place], capsys)
        assert ended.code == ExitCode.USAGE
        assert "would overwrite" in ended.errors
    assert snapshot(folder) == before


@pytest.mark.parametrize(
    "words",
    [
        "check run.jsonl --json new --junit new",
        "check run.jsonl --json new --html folder/../new",
        "check run.jsonl --json - --junit -",
        "check run.jsonl --json other.jsonl --html ./other.jsonl",
        "explore lost-update --json new --html new",
        "explore leaves:PROGRAM --html leaves.py",
        "fuzz timer --json new --junit new",
        "record --component timer --output new --json new",
        "record --component timer --output other.jsonl --junit other.jsonl",
        "vectors list vectors.jsonl --json new --junit new",
        "lab vectors --output new --json new",
        "tlc --graph new --json new",
        "tlc --write-cfg MCTimer_smoke --output new --json new",
        "pipeline check --input runs --output runs",
        "pipeline check --input runs --output runs/tables",
        "pipeline check --input runs --output new --json runs/run.jsonl",
        "pipeline check --input runs --output new --json runs/new.json",
        "pipeline check --input runs --output new --json new",
        "pipeline check --input runs --output new --junit new/plan",
        "pipeline stream --input runs --output runs",
        "pipeline report --output new --html new/plan",
        "pipeline campaign --seeds 1..2 --output new --json new/plan",
        "lab demo --output new --json new",
    ],
)
def test_outputs_that_are_one_file(
    words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = snapshot(folder)
    assert attempt(words.split(), capsys).code == ExitCode.USAGE
    assert snapshot(folder) == before
    assert not (folder / "new").exists()


@pytest.mark.parametrize("command", ["lab vectors --output", "tlc MCTimer_smoke --graph"])
@pytest.mark.parametrize("place", ["/dev/full", "run.jsonl/new", "/proc/nothing/new", "loop/new"])
def test_a_folder_that_cannot_be_made(
    command: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = attempt([*command.split(), place], capsys)
    assert ended.code == ExitCode.INTERNAL_ERROR
    assert "cannot be written" in ended.errors


BAD_USAGE = {
    "": ("", "chek", "--jsn x", "-x", "\x1b[31m", "é", "pipeline", "pipeline chek"),
    "check": ("", "run.jsonl --profile nobody", "run.jsonl --max-states 0", "- -", "run.jsonl --x"),
    "conform": (
        "",
        "--driver",
        "--driver false --component tmer",
        "--driver false --profile nobody",
        "--driver false --must-fail",
        "--driver 'unbalanced",
        "--driver ''",
        "--driver no-such-program",
        "--driver ./folder",
        "--template cobol",
        "--template python --driver false",
        "--template recorder --component purgatory",
        "--driver false --vectors no*.jsonl",
        *(f"--driver false --cases {number}" for number in ("0", "-1", "1.5", "nan", "x", "")),
        *(f"--driver false --timeout {number}" for number in ("0", "-1", "nan", "inf", "x")),
        *(f"--driver false --memory-mb {number}" for number in ("0", "-1", "nan", "1e3")),
        "--driver false --seed x",
    ),
    "completion": ("", "fish", "bash zsh"),
    "doctor": ("timer", "--fix"),
    "explore": (
        "",
        "lost-updat",
        "lost-update --all",
        "--all --replay x",
        "--all --html x",
        "lost-update --engine fast",
        "lost-update --engine graph --html x",
        "lost-update --engine graph --max-states 0",
        "lost-update --max-runs 0",
        "lost-update --max-runs x",
        "lost-update --seed x",
        "lost-update --substrate fibres",
    ),
    "fuzz": (
        "",
        "tmer",
        "timer --threads many",
        "timer --cases 0",
        "timer --cases x",
        *(f"timer --seconds {number}" for number in ("0", "-1", "nan", "inf", "x")),
        *(f"timer --shrink-seconds {number}" for number in ("0", "nan", "inf")),
        "timer --bug none-such",
        "timer --case 1 --seed 2",
        "timer --seed x",
        "timer --case x",
    ),
    "lab graph": ("", "none-such", "--all entry-add-flush", "--al", "'[' "),
    "lab metamorphic": (
        "tmer",
        "timer --profile nobody",
        "buffer_pool --profile never-early",
        *(f"timer --histories {number}" for number in ("0", "-1", "nan")),
        "timer --jobs 0",
        "timer --seed x",
    ),
    "lab prove": (
        "",
        "none-such",
        "--all maybe-try-complete-flag",
        *(f"--all --seconds {number}" for number in ("0", "-1", "nan", "inf", "x")),
    ),
    "record": (
        "",
        "--component timer",
        "--output x",
        "--component tmer --output x",
        *(
            f"--component timer --output x --{option} {number}"
            for option in ("threads", "operations", "histories", "lateness-ms")
            for number in ("0", "-1", "1.5", "x")
        ),
        "--component timer --output x --seed -1",
        "--component timer --output x --threads 100000",
        "--component timer --output x --threads 1001",
    ),
    "schema": ("", "show", "validate"),
    "tlc": (
        "none-such",
        "--output x",
        "--write-cfg none-such",
        "--write-cfg *",
        "--write-cfg MCTimer_smoke other",
        "--tier huge",
        *(f"--jobs {number}" for number in ("0", "-1", "x", "1.5")),
        *(f"--time-limit {number}" for number in ("0", "-1", "nan", "inf", "x")),
        "--java no-such-java MCTimer_smoke",
        "--java run.jsonl MCTimer_smoke",
    ),
    "vectors": (
        "",
        "show",
        "run vectors.jsonl",
        "run vectors.jsonl --driver no-such-program",
        "run vectors.jsonl --driver ''",
        "run vectors.jsonl --driver false --profile nobody",
        "list no*.jsonl",
        "verify ''",
        "list .",
        "list **x",
        "list /",
    ),
    "pipeline": (
        "check",
        "check --input runs",
        "check --input runs --output new --partitions 0",
        "check --input runs --output new --max-states nan",
        "check --input runs --output new --profile nobody",
        "check --input runs --output new --master nowhere",
        "stream --input runs --output new --close",
        "stream --input runs --output new --every nan",
        "campaign --output new --seeds 2..1",
        "campaign --output new --seeds x",
        "campaign --output new --seeds 1..2 --targets none-such",
        "campaign --output new --seeds 1..2 --bug none-such",
    ),
    "lab demo": ("--runs 0", "--seed x"),
    "lab pages": ("clauss", "clauses --results x"),
    "lab": ("", "grph"),
}


@pytest.mark.parametrize(
    "command", [f"{verb} {rest}".strip() for verb, rests in BAD_USAGE.items() for rest in rests]
)
def test_bad_usage(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = snapshot(folder)
    try:
        words = _words(command)
    except ValueError:
        words = command.split()
    assert attempt(words, capsys).code == ExitCode.USAGE
    after = snapshot(folder)
    assert {name: after[name] for name in after if not name.startswith("new/")} == before


BAD_INPUTS: dict[str, bytes | Callable[[Path], object]] = {
    "empty": b"",
    "binary": bytes(range(256)) * 20,
    "nothing but newlines": b"\n" * 100,
    "no newline": HISTORY[:-1],
    "cut in a line": HISTORY[:-20],
    "UTF-16": HISTORY.decode().encode("utf-16"),
    "half a character": HISTORY.replace(b'"a"', b'"\\ud800"', 1),
    "no UTF-8": HISTORY.replace(b'"a"', b'"\xff"', 1),
    "NUL": HISTORY.replace(b'"a"', b'"\0"', 1),
    "NaN": HISTORY.replace(b": 5", b": NaN", 1),
    "a number that is too long": HISTORY.replace(b": 5", b": 1" + b"0" * 5_000, 1),
    "a fraction": HISTORY.replace(b": 5", b": 1e999", 1),
    "too deep": b'{"a":' * 30_000 + b"\n",
    "a list that is too deep": b"[" * 100_000 + b"\n",
    "a line that is too long": b'{"a":"' + b"x" * 2_000_000 + b'"}\n',
    "a name twice": HISTORY.replace(b'{"schema"', b'{"kind": 1, "schema"', 1),
    "twice the same": HISTORY * 2,
    "the wrong format": b'{"schema":"wheelproof.history/9","kind":"header"}\n',
    "the wrong component": HISTORY.replace(b'"timer"', b'"tmer"'),
    "only a header": HISTORY.split(b"\n")[0] + b"\n",
    "no header": b"\n".join(HISTORY.split(b"\n")[1:]),
    "half of gzip": gzip.compress(HISTORY)[:40],
    "bad gzip": b"\x1f\x8b" + b"x" * 50,
    "zip": b"PK\x03\x04" + b"x" * 50,
    "a page": b"<!doctype html><html></html>\n",
    "a folder": lambda path: path.mkdir(),
    "a broken link": lambda path: path.symlink_to("nowhere"),
    "a circle of links": lambda path: path.symlink_to(path.name),
    "a null device": lambda path: path.symlink_to("/dev/null"),
}
JUDGING = ("check bad", "schema validate bad", "vectors list bad", "vectors verify bad")
LIMITS = "conform --driver false --skip bad"


@pytest.mark.parametrize("kind", BAD_INPUTS)
@pytest.mark.parametrize("command", [*JUDGING, LIMITS, "tlc --manifest bad", "tlc --jar bad"])
def test_bad_input(
    command: str, kind: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = BAD_INPUTS[kind]
    if callable(made):
        made(folder / "bad")
    else:
        (folder / "bad").write_bytes(made)
    before = snapshot(folder)
    ended = attempt(command.split(), capsys)
    assert ended.code != ExitCode.FAIL
    if command.startswith(("check", "tlc")):
        assert ended.code != ExitCode.PASS
    assert snapshot(folder) == before


@pytest.mark.parametrize(
    "program",
    [
        *("leaves:PROGRAM", "broken:PROGRAM", "raises:PROGRAM", "other_thing:PROGRAM"),
        *(
            "other_thing:NONE",
            "nowhere:PROGRAM",
            ":",
            "a:",
            ":b",
            "a:b:c",
            "..:x",
            ".a:x",
            "a..b:x",
        ),
        *("os:path", "sys:exit", "run.jsonl:x", "folder:x", "\x1b:x", "é:x", "x" * 5_000 + ":x"),
    ],
    ids=lambda program: program[:20],
)
def test_bad_program(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    ended = attempt(["explore", program], capsys)
    assert ended.code == ExitCode.INPUT_REJECTED
    assert ended.errors


def _strange_paths() -> Iterable[str]:
    return (
        "nowhere",
        "",
        "folder",
        "loop",
        "run.jsonl/x",
        "x" * 300,
        "/dev/null",
        "\udcff",
        "a\nb",
    )


@pytest.mark.parametrize("path", _strange_paths(), ids=lambda path: ascii(path)[:20])
@pytest.mark.parametrize(
    "command",
    [
        *("check", "schema validate", "vectors verify"),
        *("conform --driver false --skip", "tlc --manifest", "tlc --jar", "tlc --java"),
        "pipeline check --output new --input",
    ],
)
def test_strange_path(command: str, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    ended = attempt([*command.split(), path], capsys)
    assert ended.code not in {ExitCode.PASS, ExitCode.FAIL}


def test_there_are_enough() -> None:
    usage = sum(map(len, BAD_USAGE.values()))
    assert len(OUTPUTS) * len(NOT_WRITABLE) + usage + len(BAD_INPUTS) * 7 > 300
