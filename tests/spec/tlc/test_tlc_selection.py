"""Which models run, and how many at a time."""

import pytest

from support.tlc.toolchains import MANIFEST
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Tier
from wheelproof_spec.tlc.manifest.selection import select_models
from wheelproof_spec.tlc.running.memory import (
    MEBIBYTE,
    available_memory,
    job_count,
    usable_cores,
)


def _names(patterns: list[str], tiers: list[Tier]) -> list[str]:
    return [model.name for model in select_models(load_manifest(MANIFEST), patterns, tiers)]


def test_names_patterns_and_tiers() -> None:
    assert _names(["MCLock_pass"], []) == ["MCLock_pass"]
    assert _names(["MCLock_*lock", "MCLock_assumption"], []) == [
        "MCLock_deadlock",
        "MCLock_assumption",
    ]
    assert _names([], [Tier.SMALL]) == ["MCLock_deadlock", "MCLock_assumption"]
    assert len(_names([], [])) == 8


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="no model MCLock_pas; near are MCLock_pass"):
        _names(["MCLock_pas"], [])


def test_nothing_selected() -> None:
    with pytest.raises(UsageError, match="no such model in tier big"):
        _names([], [Tier.BIG])
    with pytest.raises(UsageError, match="no such model in tier small"):
        _names(["MCLock_pass"], [Tier.SMALL])


@pytest.mark.parametrize(
    ("cores", "mebibytes", "jobs"), [(2, 100_000, 2), (8, 4096, 3), (4, 100, 1), (1, 100_000, 1)]
)
def test_jobs(cores: int, mebibytes: int, jobs: int) -> None:
    assert job_count(768 * MEBIBYTE, cores, mebibytes * MEBIBYTE) == jobs


def test_this_machine() -> None:
    assert usable_cores() >= 1
    assert available_memory() > 0
