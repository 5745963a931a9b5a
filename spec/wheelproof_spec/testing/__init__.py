"""Hypothesis tests for your own implementation: subclass one, name your class, run pytest.

`TimerTests` is the test of a timer, `BufferPoolTests` that of a buffer pool. `TimerMachine` and
`BufferPoolMachine` are the state machines that they run, `PythonTimer` and `PythonPool` what the
machines call. The package needs Hypothesis: pip install 'wheelproof[fuzz]'. Without it, the import
raises MissingToolError.
"""

from wheelproof_spec.base.needs import missing_package

try:
    from wheelproof_spec.testing.buffer_pool import BufferPoolMachine, BufferPoolTests
    from wheelproof_spec.testing.python_pool import Buffer, MakePool, PythonPool
    from wheelproof_spec.testing.running import NothingToTestError
    from wheelproof_spec.testing.timer import (
        AdvanceBy,
        MakeTimer,
        PythonTimer,
        TimerMachine,
        TimerTests,
    )
    from wheelproof_spec.testing.use_together import CloseIt, Use
except ModuleNotFoundError as error:
    raise (missing_package(error) or error) from error
from wheelproof_spec.components.buffer_pool.component import PoolClause, PoolLimit
from wheelproof_spec.components.timer.component import Add, Cancel, Size, TimerClause

__all__ = [
    "Add",
    "AdvanceBy",
    "Buffer",
    "BufferPoolMachine",
    "BufferPoolTests",
    "Cancel",
    "CloseIt",
    "MakePool",
    "MakeTimer",
    "NothingToTestError",
    "PoolClause",
    "PoolLimit",
    "PythonPool",
    "PythonTimer",
    "Size",
    "TimerClause",
    "TimerMachine",
    "TimerTests",
    "Use",
]
