"""A faster copy of our packages, in which the innermost modules of the model checker are compiled.

Compiled modules do the same as the pure ones. They are in a copy, so the checkout stays pure, and
no compiled module there is older than its edited source.
"""

import shutil
from pathlib import Path

from tools.checkout import Checkout, base_environment
from tools.errors import SetupError
from tools.processes import run_quiet

_ENGINE = "wheelproof_explore"
# When a generator is dropped, the interpreter closes it, and compiled code does not. The driver
# ends its runs in a generator, so it is not compiled.
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
"""The file of the only class that has subclasses elsewhere, and the first line of that class."""
_MAY_BE_INHERITED = """
from mypy_extensions import mypyc_attr

@mypyc_attr(allow_interpreted_subclasses=True)"""


def compile_engine(checkout: Checkout, folder: Path) -> None:
    """Write a copy of our packages with compiled modules to `folder`; replace what is there.

    Raises SetupError if that fails: it needs a C compiler, and mypy with setuptools.
    """
    shutil.rmtree(folder, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__")
    for package in ("reference/wheelproof", "explore/wheelproof_explore", "spec/wheelproof_spec"):
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
