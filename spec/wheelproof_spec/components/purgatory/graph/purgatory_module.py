"""What is compared of the states and steps of Purgatory.tla; see `purgatory_view`."""

from wheelproof_spec.base.codec.tables import read_words
from wheelproof_spec.engines.graph.comparing.projected import changes_of, only, pairs_of
from wheelproof_spec.engines.tlc.states.values import ModelValue, State, Value, make_function

_VARIABLES = (
    "lock", "state", "timer", "started", "estimated", "holds", "answers", "expirations",
)  # fmt: skip
_STEPS = read_words(__file__, "steps.toml", "purgatory_module")


def project_purgatory(state: State) -> State:
    """Return of a state of the module what is compared."""
    contents = dict(pairs_of(state["content"]))
    lists = {
        key: held if isinstance(held, ModelValue) else contents[held]
        for key, held in pairs_of(state["watchersOf"])
    }
    return {**only(state, _VARIABLES), "lists": make_function(lists.items())}


def label_of_purgatory(action: str, before: State, after: State) -> str | None:
    """Return thread and action; the thread is who changes its place or what it has left to do.

    Its step before is the action's name, as the code has it: then also an operator that has been
    replaced by another is called by the name of what it replaces.
    """
    del action
    for variable in ("pc", "todo", "doomed"):
        for thread, _, _ in changes_of(variable, before, after):
            return f"{thread}: {_step_of(thread, before)}"
    return None


def _step_of(thread: Value, state: State) -> Value:
    pc = dict(pairs_of(state["pc"]))[thread]
    assert isinstance(pc, str)
    if pc == "PurgeRemove":
        return "Remove" if dict(pairs_of(state["doomed"]))[thread] else "TestEmpty"
    return _STEPS.get(pc, pc)
