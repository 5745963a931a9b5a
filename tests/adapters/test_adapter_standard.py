"""A pool and a purgatory that were written from docs/standard alone pass, in Go."""

import subprocess

import pytest

from support.drive.adapters import ADAPTERS, conform
from support.toolchains import require
from wheelproof_spec.base.results.verdicts import Verdict

GO = ADAPTERS / "standard-go"


@pytest.mark.slow
@pytest.mark.parametrize("component", ["buffer_pool", "purgatory"])
def test_what_was_written_from_the_text_alone_passes(component: str) -> None:
    require("go")
    built = subprocess.run([GO / "run", "build"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    result = conform(str(GO / "run"), 200, component=component)
    assert result.verdict is Verdict.PASS
    assert not result.not_applicable
    assert all(count.checked > 0 for count in result.clauses)


def test_it_is_formatted_and_vetted() -> None:
    require("go")
    listed = subprocess.run(
        ["gofmt", "-l", "."], cwd=GO, capture_output=True, text=True, check=False
    )
    assert (listed.returncode, listed.stdout) == (0, ""), listed.stderr
    vetted = subprocess.run(
        ["go", "vet", "./..."], cwd=GO, capture_output=True, text=True, check=False
    )
    assert vetted.returncode == 0, vetted.stderr


@pytest.mark.hunt
def test_its_own_tests_pass() -> None:
    require("go")
    ended = subprocess.run(
        ["go", "test", "./..."], cwd=GO, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout
