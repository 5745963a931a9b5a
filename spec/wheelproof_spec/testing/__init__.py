"""Hypothesis tests for your own implementation: subclass one, name your class, run pytest.

`TimerTests` is the test of a timer, `BufferPoolTests` that of a buffer pool, `PurgatoryTests` that
of a purgatory. `TimerMachine`, `BufferPoolMachine` and `PurgatoryMachine` are the state machines
that they run, `PythonTimer`, `PythonPool` and `PythonPurgatory` what the machines call. The package
needs Hypothesis: pip install 'wheelproof[fuzz]'. Without it, the import
raises MissingToolError.
"""

from wheelproof_spec.base.needs import missing_package

try:
    from wheelproof_spec.testing.buffer_pool import BufferPoolMachine, BufferPoolTests
    from wheelproof_spec.testing.purgatory import PurgatoryMachine, PurgatoryTests
    from wheelproof_spec.testing.purgatory_programs import Force, HandIn, Trigger
    from wheelproof_spec.testing.python_pool import Buffer, MakePool, PythonPool
    from wheelproof_spec.testing.python_purgatory import (
        MakePurgatory,
        OptionalMethods,
        PythonOperation,
        PythonPurgatory,
    )
    from wheelproof_spec.testing.running import (
        AdvanceBy,
        NothingToTestError,
        NotLookedAtWarning,
    )
    from wheelproof_spec.testing.timer import (
        MakeTimer,
        PythonTimer,
        TimerMachine,
        TimerTests,
    )
    from wheelproof_spec.testing.use_together import CloseIt, Use
except ModuleNotFoundError as error:
    raise (missing_package(error) or error) from error
from wheelproof_spec.components.buffer_pool.component import PoolClause, PoolLimit
from wheelproof_spec.components.purgatory.component import (
    AskGauges,
    CancelForKey,
    CheckAndComplete,
    PurgatoryClause,
)
from wheelproof_spec.components.timer.component import Add, Cancel, Size, TimerClause

__all__ = [
    "Add",
    "AdvanceBy",
    "AskGauges",
    "Buffer",
    "BufferPoolMachine",
    "BufferPoolTests",
    "Cancel",
    "CancelForKey",
    "CheckAndComplete",
    "CloseIt",
    "Force",
    "HandIn",
    "MakePool",
    "MakePurgatory",
    "MakeTimer",
    "NotLookedAtWarning",
    "NothingToTestError",
    "OptionalMethods",
    "PoolClause",
    "PoolLimit",
    "PurgatoryClause",
    "PurgatoryMachine",
    "PurgatoryTests",
    "PythonOperation",
    "PythonPool",
    "PythonPurgatory",
    "PythonTimer",
    "Size",
    "TimerClause",
    "TimerMachine",
    "TimerTests",
    "Trigger",
    "Use",
]
