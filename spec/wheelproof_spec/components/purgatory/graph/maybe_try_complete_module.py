"""What is compared of MaybeTryComplete.tla; see `maybe_try_complete_view`."""

from wheelproof_spec.base.codec.tables import read_words
from wheelproof_spec.engines.graph.comparing.projected import changes_of, only, pairs_of
from wheelproof_spec.engines.tlc.states.values import State, Value, make_function

_OF_THE_MODULE = read_words(__file__, "steps.toml", "maybe_try_complete_module")
_VARIABLES = ("lock", "state", "pending", "events", "answers", "expirations")


def project_maybe_try_complete(state: State) -> State:
    """Return of a state of the module what is compared."""
    steps = {thread: _step_of(pc) for thread, pc in pairs_of(state["pc"])}
    return {**only(state, _VARIABLES), "pc": make_function(steps.items())}


def label_of_maybe_try_complete(action: str, before: State, after: State) -> str | None:
    """Return thread and action; the thread is who changes its `pc`.

    Its step before is the action's name, unless it raises: then also an operator that has been
    replaced by another is called by the name of what it replaces.
    """
    del action
    for thread, old, new in changes_of("pc", before, after):
        raises = old == "TryComplete" and new == "UnlockAndRaise"
        return f"{thread}: {'TryCompleteRaises' if raises else _step_of(old)}"
    return None


def _step_of(pc: Value) -> Value:
    return _OF_THE_MODULE.get(pc, pc) if isinstance(pc, str) else pc
