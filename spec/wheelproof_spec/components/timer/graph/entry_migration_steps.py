"""Which step of the reference is which action of EntryMigration.tla."""

from wheelproof_spec.base.codec.tables import read_words
from wheelproof_spec.engines.graph.states.views import NextStep

POLL, FLUSH = "Poll", "FlushLock"
"""The flusher's first step, and the action that it is."""

_ACTIONS = read_words(__file__, "steps.toml", "entry_migration")
_IDLE_STEP = "flush Set TimerTaskList.expiration"
_STEP_AFTER_IDLE = "FlushUnlock"


def action_of(step: NextStep) -> str | None:
    """Return the action, None if the step is the code's alone; an unknown step names itself."""
    key = f"{step.site} {step.operation} {step.subject}"
    if key == _IDLE_STEP:
        return None
    return _ACTIONS.get(key, f"{step.text} in {step.site}")


def pc_of(step: NextStep) -> str:
    """Return the `pc` of a thread that is about to make the step."""
    action = action_of(step) or _STEP_AFTER_IDLE
    return POLL if action == FLUSH else action
