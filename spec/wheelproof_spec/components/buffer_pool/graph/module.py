"""What is compared of the states and steps of BufferPool.tla; see `buffer_pool_view`."""

from wheelproof_spec.engines.graph.comparing.projected import changes_of, only, pairs_of
from wheelproof_spec.engines.tlc.states.values import State, Value

_VARIABLES = (
    "now", "lock", "closed", "nonPooled", "free", "waiters", "asleep", "accumulated", "interrupted",
    "pc",
)  # fmt: skip


def project_buffer_pool(state: State) -> State:
    """Return of a state of the module what is compared."""
    lent = sum(size for _, size in pairs_of(state["held"]) if isinstance(size, int))
    return {**only(state, _VARIABLES), "lent": lent}


def label_of_buffer_pool(action: str, before: State, after: State) -> str | None:
    """Return thread and action; the thread is who changes its `pc`.

    Its step before is the action's name, unless the state tells more: then also an operator that
    has been replaced by another is called by the name of what it replaces.
    """
    del action
    if before["now"] != after["now"]:
        return "Tick"
    for variable in ("pc", "called"):
        for thread, old, new in changes_of(variable, before, after):
            # Only a closer makes the same step twice running, and counts how often.
            step = old if variable == "pc" else "CloseSignal"
            return f"{thread}: {_name_of(step, new, thread, before)}"
    return None


def _name_of(step: Value, following: Value, thread: Value, before: State) -> Value:
    asleep, interrupted = before["asleep"], before["interrupted"]
    assert isinstance(asleep, frozenset)
    assert isinstance(interrupted, frozenset)
    if step == "Await" and thread in interrupted:
        return "AwaitInterrupted"
    if step == "Asleep":
        if thread not in asleep:
            return "Wake"
        return "WakeInterrupted" if thread in interrupted else "TimeOut"
    return "MakeFails" if step == "Make" and following == "Refund" else step
