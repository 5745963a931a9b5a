"""Which step of the reference is which action of EntryMigration.tla."""

from collections.abc import Mapping

from wheelproof_spec.engines.graph.states.views import NextStep

POLL, FLUSH = "Poll", "FlushLock"
"""The flusher's first step, and the action that it is."""

_LIST, _ENTRY = "TimerTaskList.monitor", "TimerTaskEntry.monitor"
_ACTIONS: Mapping[tuple[str, str, str], str] = {
    ("set_timer_task_entry", "Acquire", "TimerTask.monitor"): "BindLock",
    ("set_timer_task_entry", "Exchange", "TimerTask.entry"): "BindSwap",
    ("set_timer_task_entry", "Release", "TimerTask.monitor"): "BindUnlock",
    ("get_timer_task_entry", "Get", "TimerTask.entry"): "TestCancelled",
    ("claim", "CompareAndSet", "TimerTask.entry"): "Claim",
    ("submit", "AddAndGet", "submissions"): "Submit",
    ("add", "Acquire", _LIST): "AddLockList",
    ("add", "Acquire", _ENTRY): "AddLockEntry",
    ("add", "Get", "TimerTaskEntry.list"): "AddTest",
    ("_link", "Set", "TimerTaskEntry.list"): "AddLink",
    ("_link", "AddAndGet", "counter"): "AddCount",
    ("add", "Release", _ENTRY): "AddUnlockEntry",
    ("add", "Release", _LIST): "AddUnlockList",
    ("remove", "Get", "TimerTaskEntry.list"): "RemoveReadList",
    ("remove", "Acquire", _LIST): "RemoveLockList",
    ("remove", "Acquire", _ENTRY): "RemoveLockEntry",
    ("_holds", "Get", "TimerTaskEntry.list"): "RemoveTest",
    ("_unlink", "Set", "TimerTaskEntry.list"): "RemoveClear",
    ("_unlink", "AddAndGet", "counter"): "RemoveCount",
    ("remove", "Release", _ENTRY): "RemoveUnlockEntry",
    ("remove", "Release", _LIST): "RemoveUnlockList",
    ("cancel", "Acquire", "TimerTask.monitor"): "CancelLock",
    ("cancel", "Get", "TimerTask.entry"): "CancelRead",
    ("cancel", "CompareAndSet", "TimerTask.entry"): "CancelUnbind",
    ("cancel", "Release", "TimerTask.monitor"): "CancelUnlock",
    ("flush", "Acquire", _LIST): FLUSH,
    ("flush", "Release", _LIST): "FlushUnlock",
}
_IDLE_STEP = ("flush", "Set", "TimerTaskList.expiration")
_STEP_AFTER_IDLE = "FlushUnlock"


def action_of(step: NextStep) -> str | None:
    """Return the action, None if the step is the code's alone; an unknown step names itself."""
    key = step.site, step.operation, step.subject
    if key == _IDLE_STEP:
        return None
    return _ACTIONS.get(key, f"{step.text} in {step.site}")


def pc_of(step: NextStep) -> str:
    """Return the `pc` of a thread that is about to make the step."""
    action = action_of(step) or _STEP_AFTER_IDLE
    return POLL if action == FLUSH else action
