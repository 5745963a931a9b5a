"""Cases in a table: what a row stands for, and what a wrong one is refused with."""

from pathlib import Path

import pytest

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.components.timer.component import (
    DEFINITION,
    Add,
    Size,
    TimerConfig,
    TimerLimit,
)
from wheelproof_spec.drive.case_table import read_cases

_HEAD = """
[usual]
reset = { tick_ms = 1, wheel_size = 20, start_ms = 0 }
[[case]]
name = "a case"
"""


def test_a_row_is_a_case(tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(
        f"""{_HEAD}
limit = "Domain.NegativeDelay"
reset = {{ wheel_size = 3 }}
calls = [
    {{ op = "add", task = "t{{}}", delay_ms = "{{}}", each = [[-2, -1], 7] }},
    {{ op = "advance", to_ms = 5 }},
    {{ op = "size" }},
]
"""
    )
    (case,) = read_cases(str(tmp_path / "cases.py"), DEFINITION)
    assert (case.name, case.limit) == ("a case", TimerLimit.NEGATIVE_DELAY)
    assert case.calls == (
        Reset(config=TimerConfig(tick_ms=1, wheel_size=3, start_ms=0)),
        *(Add(task=f"t{number}", delay_ms=number) for number in (-2, -1, 7)),
        Advance(to_ms=5),
        Size(),
    )


@pytest.mark.parametrize(
    ("rest", "error"),
    [
        ('calls = [{ op = "sizes" }]', MalformedError),
        ('calls = [{ op = "advance", until_ms = 5 }]', MalformedError),
        ('limit = "Domain.Other"\ncalls = []', KeyError),
    ],
)
def test_a_wrong_row_is_refused(rest: str, error: type[Exception], tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(_HEAD + rest)
    with pytest.raises(error):
        read_cases(str(tmp_path / "cases.py"), DEFINITION)
