"""Which way imports point, where concurrency lives, and what the core does without."""

import importlib.util
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from support.checkout import (
    EXPLORE,
    PIPELINE,
    REFERENCE,
    ROOT,
    SPEC,
    Import,
    imports,
    module_name,
    python_files,
)

pytestmark = pytest.mark.slow

_PACKAGE = SPEC / "wheelproof_spec"
_ALL_CORE = ("base", "drive", "history")
_COMPONENTS = ("accumulator", "buffer_pool", "purgatory", "replication", "timer")
_DRAWING = {"drawing.py", "view.py"}
"""What is part of a page, and takes Jinja's markup."""
_FUZZED = {"machine.py", "lists.py"}
"""What is fuzzed takes Hypothesis, and is imported when a fuzzer runs."""
_CONCURRENCY = {"_thread", "asyncio", "concurrent", "multiprocessing", "queue", "threading", "time"}
_LAYERS = (
    "wheelproof", "wheelproof_explore", "wheelproof_spec", "wheelproof_spark", "wheelproof_lab",
)  # fmt: skip
"""Our packages, each of which may import itself and those before it."""

_IMPORT_ALL = """
import importlib
import sys

sys.path[:0] = {folders!r}
for name in {names!r}:
    importlib.import_module(name)
ours = {{"wheelproof", "wheelproof_explore", "wheelproof_spec", "__main__"}}
packages = {{name.partition(".")[0] for name in sys.modules}}
print(*sorted(packages - ours - sys.stdlib_module_names))
"""


def _listed(found: Iterable[Import]) -> list[str]:
    return [str(one) for one in found]


def _core_files() -> list[Path]:
    """Return the core of the spec: base, two engines, and of each component the core files."""
    components = [_PACKAGE / "components" / name for name in _COMPONENTS]
    core = python_files(*(_PACKAGE / name for name in _ALL_CORE))
    core += [path for path in python_files(*components) if path.parent in components]
    core += python_files(
        *(folder / part for folder in components for part in ("history", "oracle"))
    )
    return [path for path in core if path.name not in _DRAWING | _FUZZED]


def _core_modules() -> list[str]:
    app = _PACKAGE / "app"
    verbs = [path for path in python_files(app) if path.parent == app]
    return [
        *(module_name(path, REFERENCE) for path in python_files(REFERENCE)),
        *(module_name(path, SPEC) for path in [*verbs, *_core_files()]),
    ]


def test_the_core_is_what_it_is_called() -> None:
    names = set(_core_modules())
    assert names >= {
        "wheelproof",
        "wheelproof.sync.threads",
        "wheelproof.timer.system_timer",
        "wheelproof_spec.app.cli",
        "wheelproof_spec.components.timer.component",
        "wheelproof_spec.components.timer.history.judge",
        "wheelproof_spec.history.routing",
        "wheelproof_spec.base.results.verdicts",
    }


def test_the_core_imports_with_the_standard_library_alone() -> None:
    program = _IMPORT_ALL.format(
        folders=[str(REFERENCE), str(EXPLORE), str(SPEC)], names=sorted(_core_modules())
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout.split() == []


def test_the_program_shows_its_help_with_the_standard_library_alone() -> None:
    program = (
        "import importlib.metadata, sys\n"
        f"sys.path[:0] = [{str(REFERENCE)!r}, {str(EXPLORE)!r}, {str(SPEC)!r}]\n"
        "importlib.metadata.version = lambda name: 'not installed'\n"
        "from wheelproof_spec.app.cli import main\n"
        "sys.exit(main(['--help']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0
    for verb in ("tlc", "fuzz", "conform"):
        assert verb in done.stdout


def test_the_command_line_imports_extras_only_when_a_verb_runs() -> None:
    allowed = sys.stdlib_module_names | {"wheelproof", "wheelproof_explore", "wheelproof_spec"}
    top = [one for one in imports(SPEC) if one.file.parent == _PACKAGE / "app"]
    assert top
    assert _listed(one for one in top if one.package not in allowed and one.at_once) == []


def test_adapters_import_nothing_of_ours() -> None:
    assert _listed(one for one in imports(ROOT / "adapters") if one.package in _LAYERS) == []


def test_nothing_that_is_shipped_imports_the_tests_or_the_tools() -> None:
    ours_alone = {"tests", "stateful_tests", "tools", "bench", "pytest", "_pytest"}
    ours_alone.add("wheelproof_lab")
    shipped = (REFERENCE, EXPLORE, SPEC, PIPELINE / "wheelproof_spark")
    found = [one for one in imports(*shipped) if one.package in ours_alone]
    # The plugin of pytest is loaded by pytest and by nothing else.
    assert _listed(one for one in found if one.file.name != "pytest_plugin.py") == []
    assert {one.module for one in found} == {"pytest"}


def test_concurrency_comes_from_the_sync_layer_alone() -> None:
    sync = REFERENCE / "wheelproof" / "sync"
    outside = [one for one in imports(REFERENCE) if not one.file.is_relative_to(sync)]
    assert outside
    assert _listed(one for one in outside if one.package in _CONCURRENCY) == []
    inside = {one.package for one in imports(sync)}
    assert inside & _CONCURRENCY == {"threading", "time"}


def test_the_reference_and_the_tla_modules_do_not_read_each_other() -> None:
    for path in python_files(REFERENCE):
        assert ".tla" not in path.read_text(encoding="utf-8"), path


def test_the_model_checker_works_without_the_judge() -> None:
    """Neither the judge nor the laboratory is on the path, and a program is explored."""
    greenlet = importlib.util.find_spec("greenlet")
    assert greenlet is not None
    program = (
        "import sys\n"
        f"sys.path[:0] = [{str(REFERENCE)!r}, {str(EXPLORE)!r}]\n"
        f"sys.path.append({str(Path(str(greenlet.origin)).parents[1])!r})\n"
        "import wheelproof_explore\n"
        "from wheelproof_explore import check, explore\n"
        "from wheelproof_explore.examples import account, account_mended\n"
        "check(account_mended)\n"
        "print(explore(account).verdict().value)\n"
        "ours = {name.partition('.')[0] for name in sys.modules if name[:10] == 'wheelproof'}\n"
        "print(*sorted(ours))\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["fail", "wheelproof", "wheelproof_explore"]
