"""What is compared of the states and steps of SystemTimer.tla; see `system_timer_view`."""

from wheelproof_spec.engines.graph.comparing.projected import changes_of, only, pairs_of
from wheelproof_spec.engines.tlc.states.values import ModelValue, State, Value, make_function

IDLE = -1
"""The key of a bucket that waits for nothing."""

_ASKING = ("QueueForRead", "QueueForWrite")
_FATES = ("waiting", "submitted")


def project_system_timer(state: State) -> State:
    """Return of a state of the module what is compared."""
    waiting = {name: fate == "waiting" for name, fate in pairs_of(state["state"])}
    nobody = isinstance(state["writer"], ModelValue)
    levels = [dict(pairs_of(level)) for _, level in pairs_of(state["wheel"])]
    return {
        **only(state, ("now", "readers", "queued", "admitted", "closed")),
        "writer": "" if nobody else state["writer"],
        "shut": state["executor"] == "shut",
        "state": make_function(
            (name, fate if fate in _FATES else "unbound") for name, fate in pairs_of(state["state"])
        ),
        "deadline": make_function(
            (name, deadline if waiting[name] else 0)
            for name, deadline in pairs_of(state["deadline"])
        ),
        "clock": levels[0]["clock"],
        "wheel": make_function(_used_buckets(levels, with_clocks=nobody)),
        "queue": frozenset(_queued(item) for _, item in pairs_of(state["queue"])),
    }


def label_of_system_timer(action: str, before: State, after: State) -> str | None:
    """Return thread and action; who asks for a lock in vain does what it asks for."""
    if action == "Tick":
        return action
    steps = dict(pairs_of(before["pc"]))
    if action in _ASKING:
        (asking,) = _members(after["queued"]) - _members(before["queued"])
        return f"{asking}: {steps[asking]}"
    for thread, _, _ in changes_of("pc", before, after):
        return f"{thread}: {action}"
    return None


def _used_buckets(
    levels: list[dict[Value, Value]], *, with_clocks: bool
) -> list[tuple[Value, Value]]:
    used: list[tuple[Value, Value]] = []
    for number, level in enumerate(levels):
        clock = (level["clock"],) if with_clocks else ()
        for index, bucket in pairs_of(level["buckets"]):
            inside = dict(pairs_of(bucket))
            if inside["tasks"] or inside["key"] != IDLE:
                used.append(((number, index), (inside["key"], *clock, inside["tasks"])))
    return used


def _queued(item: Value) -> Value:
    parts = dict(pairs_of(item))
    place = parts["bucket"]
    assert isinstance(place, tuple)
    return (parts["key"], *place)


def _members(value: Value) -> frozenset[Value]:
    assert isinstance(value, frozenset)
    return value
