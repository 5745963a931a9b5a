"""What is compared of the states and steps of SystemTimer.tla; see `system_timer`."""

from wheelproof_spec.graphs.projected import only
from wheelproof_spec.tlc.values import State, Value, entries, make_function

IDLE = -1
"""The key of a bucket that waits for nothing."""


def project_system_timer(state: State) -> State:
    """Return of a state of the module what is compared."""
    waiting = {name: one == "waiting" for name, one in _pairs(state["state"])}
    return {
        **only(state, ("now", "readers", "returned", "state")),
        "deadline": make_function(
            (name, one if waiting[name] else 0) for name, one in _pairs(state["deadline"])
        ),
        "wheel": make_function(_used_buckets(state["wheel"])),
        "queue": frozenset(_queued(one) for _, one in _pairs(state["queue"])),
    }


def label_of_system_timer(action: str, before: State, after: State) -> str | None:
    """Return thread and action; an insertion that links nothing is no action of its own."""
    if action == "Tick":
        return action
    if action == "Insert" and before["wheel"] == after["wheel"]:
        return None
    for (thread, step), (_, following) in zip(
        _pairs(before["pc"]), _pairs(after["pc"]), strict=True
    ):
        if step != following:
            return f"{thread}: {action}"
    return None


def _used_buckets(wheel: Value) -> list[tuple[Value, Value]]:
    used: list[tuple[Value, Value]] = []
    for number, level in _pairs(wheel):
        assert isinstance(number, int)
        parts = dict(_pairs(level))
        for index, bucket in _pairs(parts["buckets"]):
            inside = dict(_pairs(bucket))
            if inside["tasks"] or inside["key"] != IDLE:
                place = (number - 1, index)
                used.append((place, (inside["key"], parts["clock"], inside["tasks"])))
    return used


def _queued(one: Value) -> Value:
    parts = dict(_pairs(one))
    place = parts["bucket"]
    assert isinstance(place, tuple)
    return (parts["key"], *place)


def _pairs(value: Value) -> tuple[tuple[Value, Value], ...]:
    pairs = entries(value)
    assert pairs is not None
    return pairs
