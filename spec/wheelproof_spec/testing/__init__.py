"""Hypothesis state machines for your own implementation: subclass one, name your class, run pytest.

    class TestMine(TimerMachine):
        make = MyTimer

`TimerMachine`, `BufferPoolMachine` and `PurgatoryMachine` are the machines; they call a
`PythonTimer`, a `PythonPool` or a `PythonPurgatory`. The package needs Hypothesis: in a clone, pip
install '.[fuzz]'. Without it, the import raises MissingToolError.
"""

from wheelproof_spec.base.needs import missing_package

try:
    from wheelproof_spec.testing.buffer_pool import BufferPoolMachine
    from wheelproof_spec.testing.machine import (
        AdvanceBy,
        NothingToTestError,
        NotLookedAtWarning,
    )
    from wheelproof_spec.testing.purgatory import PurgatoryMachine
    from wheelproof_spec.testing.purgatory_programs import Force, HandIn, Trigger
    from wheelproof_spec.testing.python_pool import Buffer, MakePool, PythonPool
    from wheelproof_spec.testing.python_purgatory import (
        MakePurgatory,
        OptionalMethods,
        PythonOperation,
        PythonPurgatory,
    )
    from wheelproof_spec.testing.python_timer import MakeTimer, PythonTimer
    from wheelproof_spec.testing.timer import TimerMachine
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
from wheelproof_spec.components.timer.component import Add, Cancel, Size, TimerClause, TimerLimit

__all__ = [
    "Add",
    "AdvanceBy",
    "AskGauges",
    "Buffer",
    "BufferPoolMachine",
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
    "PythonOperation",
    "PythonPool",
    "PythonPurgatory",
    "PythonTimer",
    "Size",
    "TimerClause",
    "TimerLimit",
    "TimerMachine",
    "Trigger",
    "Use",
]
