"""What is compared of the states and steps of SystemTimer.tla; see `system_timer_view`."""

from wheelproof_spec.engines.graph.comparing.projected import only
from wheelproof_spec.engines.tlc.states import ModelValue, State, Value, entries, make_function

IDLE = -1
"""The key of a bucket that waits for nothing."""

_ASKING = ("QueueForRead", "QueueForWrite")
_FATES = ("waiting", "submitted")


def project_system_timer(state: State) -> State:
    """Return of a state of the module what is compared."""
    waiting = {name: fate == "waiting" for name, fate in _pairs(state["state"])}
    nobody = isinstance(state["writer"], ModelValue)
    levels = [dict(_pairs(level)) for _, level in _pairs(state["wheel"])]
    return {
        **only(state, ("now", "readers", "queued", "admitted", "closed")),
        "writer": "" if nobody else state["writer"],
        "shut": state["executor"] == "shut",
        "state": make_function(
            (name, fate if fate in _FATES else "unbound") for name, fate in _pairs(state["state"])
        ),
        "deadline": make_function(
            (name, deadline if waiting[name] else 0) for name, deadline in _pairs(state["deadline"])
        ),
        "clock": levels[0]["clock"],
        "wheel": make_function(_used_buckets(levels, with_clocks=nobody)),
        "queue": frozenset(_queued(item) for _, item in _pairs(state["queue"])),
    }


def label_of_system_timer(action: str, before: State, after: State) -> str | None:
    """Return thread and action; who asks for a lock in vain does what it asks for."""
    if action == "Tick":
        return action
    steps = dict(_pairs(before["pc"]))
    if action in _ASKING:
        (asking,) = _members(after["queued"]) - _members(before["queued"])
        return f"{asking}: {steps[asking]}"
    for thread, following in _pairs(after["pc"]):
        if steps[thread] != following:
            return f"{thread}: {action}"
    return None


def _used_buckets(
    levels: list[dict[Value, Value]], *, with_clocks: bool
) -> list[tuple[Value, Value]]:
    used: list[tuple[Value, Value]] = []
    for number, level in enumerate(levels):
        clock = (level["clock"],) if with_clocks else ()
        for index, bucket in _pairs(level["buckets"]):
            inside = dict(_pairs(bucket))
            if inside["tasks"] or inside["key"] != IDLE:
                used.append(((number, index), (inside["key"], *clock, inside["tasks"])))
    return used


def _queued(item: Value) -> Value:
    parts = dict(_pairs(item))
    place = parts["bucket"]
    assert isinstance(place, tuple)
    return (parts["key"], *place)


def _members(value: Value) -> frozenset[Value]:
    assert isinstance(value, frozenset)
    return value


def _pairs(value: Value) -> tuple[tuple[Value, Value], ...]:
    pairs = entries(value)
    assert pairs is not None
    return pairs
