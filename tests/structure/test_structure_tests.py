"""Tests lie in folders of what they test, and what they share lies in one place."""

from collections import Counter
from pathlib import Path

import pytest

from support.checkout import ROOT, imports, project_files, python_files

pytestmark = pytest.mark.slow

_TESTS = ROOT / "tests"
_SUPPORT = _TESTS / "support"
_FOLDERS = (_TESTS, ROOT / "stateful_tests")
_TOY = _SUPPORT / "toy" / "components"
"""A package that is part of ours while it is tested; its modules import one another relatively."""
_MOST_FILES = 15


def _files() -> list[Path]:
    return [path for path in python_files(*_FOLDERS) if not path.is_relative_to(_TOY)]


def test_no_test_imports_a_test() -> None:
    tests = {path.stem for path in _files() if not path.is_relative_to(_SUPPORT)}
    assert {name for name in tests if not name.startswith("test_")} == set()
    found = [one for one in imports(*_files()) if tests & set(one.module.split("."))]
    assert [str(one) for one in found] == []


def test_what_is_shared_is_no_test() -> None:
    assert [path for path in python_files(_SUPPORT) if path.stem.startswith("test_")] == []


def test_each_support_module_is_used() -> None:
    used = {one.module for one in imports(*_files())}
    started = {
        "bad_driver",
        "burst_component",
        "odd_contracts",
        "scheduling",
        "small_pool",
        "stopping_program",
        "with_counter",
    }
    for path in set(_files()) & set(python_files(_SUPPORT)):
        name = ".".join(path.relative_to(_TESTS).with_suffix("").parts)
        if path.stem != "__init__" and path.stem not in started:
            assert any(f"{module}.".startswith(f"{name}.") for module in used), path


def test_no_folder_of_tests_has_too_many_files() -> None:
    files = Counter(
        path.parent for path in project_files() if any(map(path.is_relative_to, _FOLDERS))
    )
    assert {str(folder): count for folder, count in files.items() if count > _MOST_FILES} == {}
