"""The process of one cell: alters the reference, then runs one engine on it.

`python -m wheelproof_lab.detect.child CELL` takes a cell as JSON; `--serve CELL` serves the
reference, altered in the same way, as a driver. The code that uses the reference is loaded only
after the alteration, so this module itself imports no such code at its top.
"""

import contextlib
import hashlib
import io
import os
import resource
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

import wheelproof
import wheelproof_explore
import wheelproof_lab
from wheelproof.errors import WheelproofError
from wheelproof_lab.bugs.known_bug import KnownBug, find_bug
from wheelproof_lab.detect.mutation.bring_back import replace_everywhere, rewrite
from wheelproof_lab.detect.mutation.budget import used_s
from wheelproof_lab.detect.mutation.cells import Cell, End, Found, Outcome
from wheelproof_lab.detect.mutation.children import limit_of
from wheelproof_lab.detect.mutation.mutants import mutated
from wheelproof_lab.detect.mutation.reached import Reached
from wheelproof_lab.detect.mutation.sources import digest_of, source_of
from wheelproof_lab.detect.mutation.tla_mutants import TLA
from wheelproof_spec import base, components, drive, fuzz, history, tlc
from wheelproof_spec.base.codec.explain import build
from wheelproof_spec.base.codec.shapes import shape_of
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.strict_json import parse_object

MODULE = "wheelproof_lab.detect.child"
FAILING_HISTORIES = "wheelproof-failing-histories"
"""The folder of the recorded histories that failed, among the temporary files, without the user."""
_SERVE = "--serve"
_MEMORY = 3 << 30
"""The most memory that the process may hold, in bytes; TLC runs in another process."""


def command(cell: Cell, *options: str) -> tuple[str, ...]:
    """Return the arguments with which Python runs a cell."""
    return ("-m", MODULE, *options, format_line(cell).decode().strip())


def failing_history(cell: Cell) -> Path:
    """Return where the recorded history is kept by which a cell found something."""
    folder = Path(tempfile.gettempdir()) / f"{FAILING_HISTORIES}-{os.getuid()}"
    return folder / f"{hashlib.sha256(format_line(cell)).hexdigest()[:16]}.jsonl"


def digest_of_all() -> str:
    """Return the digest of what a cell runs: the reference, the engines and the TLA+ modules."""
    judge = (base, components, drive, fuzz, history, tlc)
    packages = (wheelproof, wheelproof_explore, *judge, wheelproof_lab)
    folders = (Path(str(package.__file__)).parent for package in packages)
    return digest_of((*folders, tla_directory()))


def main(words: Sequence[str]) -> int:
    """Run the cell of the command line, or serve its reference as a driver."""
    cell = build(shape_of(Cell), parse_object(words[-1].encode()))
    assert isinstance(cell, Cell)
    bug = alter(cell)
    if words[0] == _SERVE:
        from wheelproof_spec.app.reference_driver import main as serve

        # A driver is not in the process group of the cell: this limit ends an endless loop.
        resource.setrlimit(resource.RLIMIT_CPU, (limit_of(cell), limit_of(cell)))
        return serve()
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    with contextlib.redirect_stdout(io.StringIO()):
        found = _look(cell, bug)
    outcome = Outcome(cell=cell, found=found, milliseconds=round(1_000 * used_s()))
    sys.stdout.buffer.write(format_line(outcome))
    sys.stdout.flush()
    # The defect may have left threads stuck: exit without waiting for them.
    os._exit(0)


def alter(cell: Cell) -> KnownBug | None:
    """Bring the cell's known bug back, and return it; or load its mutant, and return None."""
    if not cell.subject or cell.subject.startswith(TLA):
        return None
    module = module_of(cell.subject)
    if module is not None:
        rewrite(module, mutated(module, text_of(module), cell.subject))
        return None
    # Loaded here, and none but those of the component: a mutant has to come before its module.
    from wheelproof_lab.bugs.catalog import bugs_of

    bug = find_bug(bugs_of(cell.component), cell.subject)
    replace_everywhere(
        bug.replaced(), ("wheelproof", "wheelproof_explore", "wheelproof_spec", "wheelproof_lab")
    )
    return bug


def _look(cell: Cell, bug: KnownBug | None) -> Found:
    try:
        if cell.subject.startswith(TLA):
            from wheelproof_lab.detect.tla import check_mutant

            return check_mutant(cell.subject, cell.seconds)
        from wheelproof_lab.detect.engines import ENGINES, Task

        reached, module, source = Reached(), module_of(cell.subject), ""
        if module is not None:
            path = cell.subject.partition("/")[0].removeprefix(f"{module}.")
            source = source_of(text_of(module), path)
            if cell.engine.startswith("model checker"):
                reached.watch(module, path)
        task = Task(
            component=cell.component,
            seconds=cell.seconds,
            seed=cell.seed,
            bug=bug,
            serve=(sys.executable, *command(cell, _SERVE)),
            graphs=Path(tempfile.gettempdir()) / f"wheelproof-graphs-{os.getuid()}",
            failing=failing_history(cell),
            reached=reached,
            source=source,
        )
        return ENGINES[cell.engine](task)
    except BaseException as error:
        # The unaltered reference makes no engine raise. So any error counts as found for a mutant;
        # for a known bug only a refusal, by a WheelproofError, of a call that the reference takes.
        seen = module_of(cell.subject) is not None or isinstance(error, WheelproofError)
        end = End.FOUND if seen else End.ERROR
        return Found(end=end, story=traceback.format_exc())


def text_of(module: str) -> str:
    """Return the unaltered text of a module of the reference."""
    path = Path(str(wheelproof.__file__)).parent.parent / module.replace(".", "/")
    return path.with_suffix(".py").read_text(encoding="utf-8")


def module_of(subject: str) -> str | None:
    """Return the module of a mutant of the reference, or None for any other subject."""
    if not subject.startswith("wheelproof."):
        return None
    words = subject.partition("/")[0].split(".")
    root = Path(str(wheelproof.__file__)).parent.parent
    for count in range(len(words), 0, -1):
        if root.joinpath(*words[:count]).with_suffix(".py").is_file():
            return ".".join(words[:count])
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
