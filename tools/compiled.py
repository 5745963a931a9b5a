"""The model checker with its innermost modules compiled: a copy of our packages, which is faster.

What the compiled modules do is what the pure ones do; a copy keeps both, and no compiled module is
older than what is edited.
"""

import shutil
from pathlib import Path

from tools.checkout import Checkout, base_environment
from tools.errors import SetupError
from tools.processes import run_quiet

_ENGINE = "wheelproof_spec/engines/explore"
# A generator that is dropped is closed by the interpreter, not by compiled code: so the driver,
# which ends its runs in one, stays as it is.
COMPILED = tuple(
    f"{_ENGINE}/{name}.py"
    for name in (
        "runs/canonical",
        "runs/cycles",
        "runs/execution",
        "runs/local_state",
        "runs/races",
        "runs/sharing",
        "runs/waits",
        "runtime/accesses",
        "runtime/numbers",
        "strategies/optimal",
        "strategies/strategy",
        "strategies/wakeup_tree",
        "tally",
    )
)
_INHERITED = f"{_ENGINE}/runs/execution.py", "\nclass Execution:\n"
"""The file with the one class of which there are subclasses elsewhere, and the line it begins."""
_MAY_BE_INHERITED = """
from mypy_extensions import mypyc_attr

@mypyc_attr(allow_interpreted_subclasses=True)"""


def compile_engine(checkout: Checkout, folder: Path) -> None:
    """Write a copy of our packages with compiled modules to `folder`, which is made anew.

    Raises SetupError if that fails: it takes a C compiler, and mypy with setuptools.
    """
    shutil.rmtree(folder, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__")
    for package in ("reference/wheelproof", "spec/wheelproof_spec"):
        source = checkout.root / package
        shutil.copytree(source, folder / source.name, ignore=ignored)
    name, line = _INHERITED
    file = folder / name
    before, found, after = file.read_text().partition(line)
    if not found:
        raise SetupError(f"{name} has no line {line.strip()!r} any more; mend tools/compiled.py")
    file.write_text(before + _MAY_BE_INHERITED + line + after)
    command = (str(checkout.python), "-m", "mypyc", *COMPILED)
    outcome = run_quiet(command, directory=folder, environment=base_environment())
    if outcome.exit_code != 0:
        raise SetupError(
            "the model checker could not be compiled; install a C compiler and setuptools",
            outcome.output,
        )
    for left in ("build", ".mypy_cache"):
        shutil.rmtree(folder / left, ignore_errors=True)
