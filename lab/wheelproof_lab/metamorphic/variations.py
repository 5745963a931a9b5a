"""Variations that make sense for every component."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from random import Random
from typing import cast

from wheelproof_lab.metamorphic.recording import NS_OF_MS, Op, Recording, without
from wheelproof_lab.metamorphic.relations import Metamorphic, Relation, Variation, Vary
from wheelproof_spec.base.calls import Interrupt, Tick
from wheelproof_spec.base.codec.shapes import names_on
from wheelproof_spec.base.codec.vocabulary import ABSENT, Nothing, Wire

_FAR_MS = 1_000_000


def general_variations(component: Metamorphic) -> tuple[Variation, ...]:
    """Return the variations of every history, in the form that fits a component."""
    same, allowed, weaker = Relation.SAME, Relation.ALLOWED, Relation.WEAKER
    table: tuple[tuple[str, Relation, Vary], ...] = (
        ("other names", same, lambda one, dice: _rename(one, dice, component.words)),
        ("all times shifted", same, _shift),
        ("a process for each call", same, _own_process),
        ("answers later", allowed, _later),
        ("calls earlier", allowed, _earlier),
        ("by a real clock", allowed, by_a_real_clock),
        ("without the end", weaker, _without_end),
        ("not known to be quiet", weaker, _not_quiet),
        ("without the tail", weaker, _without_tail),
        ("stopped before all was quiet", weaker, _stopped),
        ("without a clock", weaker, _without_clock),
        ("a coarser clock", weaker, _coarser),
        ("a time is left out", weaker, _no_time),
        ("only the order of each process", weaker, _by_process),
        ("an answer is lost", weaker, _lost_answer),
        ("a call without its answer", weaker, _open_call),
        ("a look is left out", weaker, lambda one, dice: _no_look(one, dice, component.looks)),
        ("a field is left out", weaker, lambda one, dice: _no_field(one, dice, component)),
        ("a claim is left out", weaker, lambda one, dice: _no_claim(one, dice, component)),
    )
    general = (Variation(name=name, relation=relation, vary=vary) for name, relation, vary in table)
    return (*general, *component.variations)


# The same behaviour in other words


def _rename(recording: Recording, dice: Random, words: frozenset[str]) -> Recording:
    names = sorted({name for op in recording.ops for name in (op.process, *_strings(op.value))})
    new = [f"n{number}" for number in range(len(names))]
    dice.shuffle(new)
    other = dict(zip(names, new, strict=True)) | {word: word for word in words}
    ops = [
        replace(op, process=other[op.process], value=_mapped(op.value, other.__getitem__))
        for op in recording.ops
    ]
    config = _mapped(recording.header.config, lambda name: other.get(name, name))
    header = replace(recording.header, config=config)
    return replace(recording, header=header).with_ops(ops)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str) and not isinstance(value, Enum):
        yield value
    elif isinstance(value, tuple):
        for item in cast(tuple[object, ...], value):
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in cast(dict[object, object], value).items():
            yield from _strings(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _strings(getattr(value, field.name))


def _mapped(value: object, new: Callable[[str], str]) -> object:
    if isinstance(value, str) and not isinstance(value, Enum):
        return new(value)
    if isinstance(value, tuple):
        return tuple(_mapped(item, new) for item in cast(tuple[object, ...], value))
    if isinstance(value, dict):
        items = cast(dict[object, object], value).items()
        return {_mapped(name, new): _mapped(item, new) for name, item in items}
    if is_dataclass(value) and not isinstance(value, type):
        changed: Mapping[str, object] = {
            field.name: _mapped(getattr(value, field.name), new) for field in fields(value)
        }
        return replace(value, **changed)
    return value


def _shift(recording: Recording, dice: Random) -> Recording | None:
    header = recording.header
    if header.clock == "monotonic_ns":
        shift_ns = dice.randrange(_FAR_MS) * NS_OF_MS
        return recording.with_ops(
            replace(op, time_ns=op.time_ns + shift_ns) if isinstance(op.time_ns, int) else op
            for op in recording.ops
        )
    if header.clock != "virtual" or "start_ms" not in names_on(type(header.config), Wire.RECORDED):
        return None
    tick_ms: int = getattr(header.config, "tick_ms", 1)
    shift_ms = dice.randrange(-_FAR_MS, _FAR_MS) * tick_ms
    config = _with(header.config, "start_ms", _start_ms(recording) + shift_ms)
    shifted = replace(recording, header=replace(header, config=config))
    return shifted.with_ops(
        replace(op, value=Tick(to_ms=op.value.to_ms + shift_ms))
        if isinstance(op.value, Tick)
        else op
        for op in recording.ops
    )


def _own_process(recording: Recording, dice: Random) -> Recording | None:
    """Give each call a process of its own; callbacks inside a call belong to it, too."""
    del dice
    if any(isinstance(op.value, Interrupt) for op in recording.ops):
        return None
    inside: dict[str, str] = {}
    ops: list[Op] = []
    for op in recording.ops:
        is_call = op.f not in recording.happens
        if is_call and op.type == "invoke":
            inside[op.process] = f"{op.process}.{op.index}"
        ops.append(replace(op, process=inside.get(op.process, op.process)))
        if is_call and op.type != "invoke":
            del inside[op.process]
    return recording.with_ops(ops)


# Behaviour that is allowed as well


def _later(recording: Recording, dice: Random) -> Recording | None:
    """Move answers later, as if the recorder had written them late."""
    ends = [place for place, op in enumerate(recording.ops) if _ends(recording, op)]
    if not ends:
        return None
    ops = list(recording.ops)
    for place in sorted(dice.sample(ends, min(len(ends), 3)), reverse=True):
        most = next(
            (
                later
                for later in range(place + 1, len(ops))
                if ops[later].process == ops[place].process
            ),
            len(ops),
        )
        ops.insert(dice.randrange(place, most), ops.pop(place))
    return recording.with_ops(ops)


def _earlier(recording: Recording, dice: Random) -> Recording | None:
    """Move calls earlier, as if they had begun late after the recorder wrote them."""
    begins = [
        place
        for place, op in enumerate(recording.ops)
        if op.type == "invoke" and op.f not in recording.happens
    ]
    if not begins or recording.header.clock == "monotonic_ns":
        return None
    ops = list(recording.ops)
    for place in sorted(dice.sample(begins, min(len(begins), 3))):
        least = next(
            (
                before + 1
                for before in reversed(range(place))
                if ops[before].process == ops[place].process
            ),
            0,
        )
        ops.insert(dice.randrange(least, place + 1), ops.pop(place))
    return recording.with_ops(ops)


def by_a_real_clock(recording: Recording, dice: Random) -> Recording | None:
    """Return the history as a recorder with a real clock, even a coarse one, would write it."""
    del dice
    if recording.header.clock != "virtual":
        return None
    now_ms = _start_ms(recording)
    timed: list[Op] = []
    ticks = 0
    for op in recording.ops:
        if isinstance(op.value, Tick):
            now_ms = max(now_ms, op.value.to_ms)
            ticks += 1
        elif op.f == Tick.name_on_the_wire():
            ticks -= 1
        elif ticks:
            # A call while the clock moves may have seen either time.
            return None
        else:
            timed.append(replace(op, time_ns=now_ms * NS_OF_MS))
    if now_ms < 0 or _start_ms(recording) < 0:
        return None
    header = replace(recording.header, clock="monotonic_ns")
    return replace(recording, header=header).with_ops(timed)


def _start_ms(recording: Recording) -> int:
    start: object = getattr(recording.header.config, "start_ms", 0)
    assert isinstance(start, int)
    return start


def _ends(recording: Recording, op: Op) -> bool:
    return op.type != "invoke" and op.f not in recording.happens


# Less is known


def _without_end(recording: Recording, dice: Random) -> Recording | None:
    del dice
    return None if recording.end is None else replace(recording, end=None)


def _not_quiet(recording: Recording, dice: Random) -> Recording | None:
    del dice
    return None if recording.end is None else recording.ended(quiet=False)


def _without_tail(recording: Recording, dice: Random) -> Recording | None:
    if not recording.ops:
        return None
    length = dice.randrange(1, len(recording.ops) + 1)
    return replace(recording, end=None).with_ops(recording.ops[:length])


def _stopped(recording: Recording, dice: Random) -> Recording | None:
    cut = _without_tail(recording, dice)
    return None if cut is None else cut.ended(quiet=False)


def _without_clock(recording: Recording, dice: Random) -> Recording | None:
    del dice
    if recording.header.clock == "none":
        return None
    header = replace(recording.header, clock="none", clock_resolution_ns=ABSENT)
    ops = [replace(op, time_ns=ABSENT) for op in recording.ops]
    return replace(recording, header=header).with_ops(ops)


def _coarser(recording: Recording, dice: Random) -> Recording | None:
    if recording.header.clock != "monotonic_ns":
        return None
    resolution_ns = dice.randrange(1, 100) * NS_OF_MS
    return replace(recording, header=replace(recording.header, clock_resolution_ns=resolution_ns))


def _no_time(recording: Recording, dice: Random) -> Recording | None:
    places = [place for place, op in enumerate(recording.ops) if op.time_ns is not ABSENT]
    if not places:
        return None
    gone = set(dice.sample(places, dice.randrange(1, len(places) + 1)))
    return recording.with_ops(
        replace(op, time_ns=ABSENT) if place in gone else op
        for place, op in enumerate(recording.ops)
    )


def _by_process(recording: Recording, dice: Random) -> Recording | None:
    """Return the history as lines of several recorders, merged in an unknown order."""
    del dice
    return replace(recording, header=replace(recording.header, order="process"))


def _lost_answer(recording: Recording, dice: Random) -> Recording | None:
    places = [
        place
        for place, op in enumerate(recording.ops)
        if _ends(recording, op) and op.type == "ok" and not any(_strings(op.value))
    ]
    if not places:
        return None
    place = dice.choice(places)
    ops = list(recording.ops)
    ops[place] = replace(ops[place], type="info", value=Nothing())
    return recording.with_ops(ops)


def _open_call(recording: Recording, dice: Random) -> Recording | None:
    last = {op.process: place for place, op in enumerate(recording.ops)}
    places = [place for place in last.values() if _ends(recording, recording.ops[place])]
    if not places:
        return None
    cut = without(recording, [dice.choice(places)])
    return cut if cut.end is None else cut.ended(quiet=False)


def _no_look(recording: Recording, dice: Random, looks: frozenset[str]) -> Recording | None:
    places = [places for places in recording.calls() if recording.ops[places[0]].f in looks]
    return without(recording, dice.choice(places)) if places else None


def _no_field(recording: Recording, dice: Random, component: Metamorphic) -> Recording | None:
    places = [
        (place, name)
        for place, op in enumerate(recording.ops)
        for name in _optional(op.value)
        if name not in component.meaningful
    ]
    if not places:
        return None
    place, name = dice.choice(places)
    everywhere = dice.random() < 0.5
    ops = [
        replace(op, value=_with(op.value, name, ABSENT))
        if (everywhere or at == place) and name in _optional(op.value)
        else op
        for at, op in enumerate(recording.ops)
    ]
    return recording.with_ops(ops)


def _no_claim(recording: Recording, dice: Random, component: Metamorphic) -> Recording | None:
    header = recording.header
    claims = [name for name in _optional(header.config) if name not in component.meaningful]
    if not claims:
        return None
    config = _with(header.config, dice.choice(claims), ABSENT)
    return replace(recording, header=replace(header, config=config))


def _optional(value: object) -> list[str]:
    """Return the optional fields that are present."""
    if not is_dataclass(value):
        return []
    return [
        field.name
        for field in fields(value)
        if field.default is ABSENT and getattr(value, field.name) is not ABSENT
    ]


def _with(value: object, name: str, new: object) -> object:
    assert is_dataclass(value)
    assert not isinstance(value, type)
    changed: dict[str, object] = {name: new}
    return replace(value, **changed)
