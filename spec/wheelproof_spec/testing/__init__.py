"""Hypothesis tests for your own implementation: subclass one, name your class, run pytest.

`TimerTests` is the test of a timer, `TimerMachine` the state machine that it runs, and
`PythonTimer` what the machine calls. The package needs Hypothesis: pip install 'wheelproof[fuzz]'.
Without it, the import raises MissingToolError.
"""

from wheelproof_spec.base.needs import missing_package

try:
    from wheelproof_spec.testing.timer import (
        AdvanceBy,
        MakeTimer,
        NoTimerError,
        PythonTimer,
        TimerMachine,
        TimerTests,
    )
except ModuleNotFoundError as error:
    raise (missing_package(error) or error) from error
from wheelproof_spec.components.timer.component import Add, Cancel, Size, TimerClause

__all__ = [
    "Add",
    "AdvanceBy",
    "Cancel",
    "MakeTimer",
    "NoTimerError",
    "PythonTimer",
    "Size",
    "TimerClause",
    "TimerMachine",
    "TimerTests",
]
