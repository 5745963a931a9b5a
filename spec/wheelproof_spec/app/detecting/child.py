"""The process of one cell: alters the reference, then lets an engine look at it.

`python -m wheelproof_spec.app.detecting.child CELL` has a cell as JSON; `--serve CELL` serves the
reference, altered in the same way, as a driver. What the process looks at is loaded after it was
altered, so this module itself loads nothing that uses the reference.
"""

import contextlib
import io
import os
import resource
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

import wheelproof
from wheelproof.errors import WheelproofError
from wheelproof_spec import components, engines
from wheelproof_spec.base.codec.explain import build
from wheelproof_spec.base.codec.shapes import shape_of
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.known_bug import KnownBug, find_bug
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.strict_json import parse_object
from wheelproof_spec.engines.detect.bring_back import replace_everywhere, rewrite
from wheelproof_spec.engines.detect.budget import used_s
from wheelproof_spec.engines.detect.cells import Cell, End, Found, Outcome
from wheelproof_spec.engines.detect.children import limit_of
from wheelproof_spec.engines.detect.mutants import mutated
from wheelproof_spec.engines.detect.reached import Reached
from wheelproof_spec.engines.detect.sources import digest_of, source_of
from wheelproof_spec.engines.detect.tla_mutants import TLA

MODULE = "wheelproof_spec.app.detecting.child"
_SERVE = "--serve"
_MEMORY = 3 << 30
"""What the process may hold, in bytes; TLC is another process."""


def command(cell: Cell, *options: str) -> tuple[str, ...]:
    """Return what Python is started with for a cell."""
    return ("-m", MODULE, *options, format_line(cell).decode().strip())


def digest_of_all() -> str:
    """Return what stands for all that a cell runs: the reference, the components, the engines."""
    folders = (Path(str(package.__file__)).parent for package in (wheelproof, components, engines))
    return digest_of((*folders, tla_directory()))


def main(words: Sequence[str]) -> int:
    """Do what the command line says."""
    cell = build(shape_of(Cell), parse_object(words[-1].encode()))
    assert isinstance(cell, Cell)
    bug = alter(cell)
    if words[0] == _SERVE:
        from wheelproof_spec.app.reference_driver import main as serve

        # A driver is in no group with the cell: one that goes round for ever ends by itself.
        resource.setrlimit(resource.RLIMIT_CPU, (limit_of(cell), limit_of(cell)))
        return serve()
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    with contextlib.redirect_stdout(io.StringIO()):
        found = _look(cell, bug)
    outcome = Outcome(cell=cell, found=found, milliseconds=round(1_000 * used_s()))
    sys.stdout.buffer.write(format_line(outcome))
    sys.stdout.flush()
    # Threads may be stuck, as the defect has it: nobody waits for them.
    os._exit(0)


def alter(cell: Cell) -> KnownBug | None:
    """Bring the cell's known bug back, and return it; or make its mutant."""
    from wheelproof_spec.components.registry import bugs_of

    if not cell.subject or cell.subject.startswith(TLA):
        return None
    module = module_of(cell.subject)
    if module is not None:
        rewrite(module, mutated(module, text_of(module), cell.subject))
        return None
    bug = find_bug(bugs_of(cell.component), cell.subject)
    replace_everywhere(bug.replaced(), ("wheelproof", "wheelproof_spec"))
    return bug


def _look(cell: Cell, bug: KnownBug | None) -> Found:
    try:
        if cell.subject.startswith(TLA):
            from wheelproof_spec.app.detecting.tla import check_mutant

            return check_mutant(cell.subject, cell.seconds)
        from wheelproof_spec.app.detecting.engines import ENGINES, Task

        reached, module, source = Reached(), module_of(cell.subject), ""
        if module is not None:
            path = cell.subject.partition("/")[0].removeprefix(f"{module}.")
            source = source_of(text_of(module), path)
            if cell.engine == "model checker":
                reached.watch(module, path)
        task = Task(
            component=cell.component,
            seconds=cell.seconds,
            seed=cell.seed,
            bug=bug,
            serve=(sys.executable, *command(cell, _SERVE)),
            graphs=Path(tempfile.gettempdir()) / f"wheelproof-graphs-{os.getuid()}",
            reached=reached,
            source=source,
        )
        return ENGINES[cell.engine](task)
    except BaseException as error:
        # The reference makes no engine fail: a mutant that does is seen, and a refusal of a call
        # that the reference takes.
        seen = module_of(cell.subject) is not None or isinstance(error, WheelproofError)
        end = End.FOUND if seen else End.ERROR
        return Found(end=end, story=traceback.format_exc())


def text_of(module: str) -> str:
    """Return the text of a module of the reference, as it is without the change."""
    path = Path(str(wheelproof.__file__)).parent.parent / module.replace(".", "/")
    return path.with_suffix(".py").read_text(encoding="utf-8")


def module_of(subject: str) -> str | None:
    """Return the module that a mutant is of, or None for what is no mutant."""
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
