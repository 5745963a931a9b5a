"""Toolchains that some tests need: without one a test is left out, but in CI it fails."""

import os
from functools import cache

import pytest

from tools.system_packages import trouble_with


def require(*programs: str) -> None:
    """Leave the test out, with a sentence, unless every program is there and works.

    In CI, where nobody reads what was left out, the sentence fails the test.
    """
    for program in programs:
        trouble = _trouble(program, os.environ.get("PATH", ""), os.environ.get("HOME", ""))
        if trouble is None:
            continue
        if os.environ.get("CI") == "true":
            pytest.fail(f"{trouble}; in CI it is required")
        pytest.skip(trouble)


@cache
def _trouble(program: str, path: str, home: str) -> str | None:
    """Ask a program once: what it says depends on where it is looked for, and on its settings."""
    del path, home
    return trouble_with(program, os.environ)
