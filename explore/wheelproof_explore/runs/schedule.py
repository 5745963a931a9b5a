"""Schedule strings: a run as one word that can be pasted into a test or a command.

`wp1-<program>-<steps>-<check>`: the version, the hash of the program, the thread of each step with
repetitions counted (`0x3.1.2:1` is thread 0 three times, thread 1, thread 2 choosing 1; `t` is
time), and a check sum. After the last step, its thread runs on as far as possible. If operations of
the program are left out, `w` and their numbers (`w1.4-`) come before the steps.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from wheelproof_explore.failures.problems import ScheduleRejectedError
from wheelproof_explore.program import Program
from wheelproof_explore.runtime.numbers import (
    THREAD_MASK,
    TIME,
    Actor,
    choice_of,
    choosing,
    thread_of,
)

_VERSION = "wp1"
_SHAPE = re.compile(r"(wp\d+)-([0-9a-f]{8})-(?:w([0-9.]+)-)?([0-9tx.:]*)-([0-9a-f]{8})")
_STEPS = re.compile(r"(?:(t)|(\d{1,5})(?::(\d{1,9}))?)(?:x(\d{1,7}))?")
_AGAIN = "run the program anew to get a schedule for it"


def encode(program: Program, actors: Sequence[Actor]) -> str:
    """Return the schedule string of a run."""
    parts: list[str] = []
    for actor, same in groupby(actors):
        count = sum(1 for _ in same)
        parts.append(_actor_text(actor) + (f"x{count}" if count > 1 else ""))
    without = ".".join(map(str, sorted(program.without)))
    left_out = f"w{without}-" if without else ""
    body = f"{_VERSION}-{program.digest()}-{left_out}{'.'.join(parts)}"
    return f"{body}-{_check_sum(body)}"


def decode(program: Program, text: str) -> tuple[Program, tuple[Actor, ...]]:
    """Return the part of `program` that a schedule string is for, and its steps.

    Raises ScheduleRejectedError if the string is damaged, of another version or another program.
    """
    digest, without, steps = _parts(text)
    if digest != program.digest():
        raise ScheduleRejectedError(
            f"it belongs to another program, or {program.name} has changed since", _AGAIN
        )
    numbers = frozenset(int(digits) for digits in without.split(".") if digits)
    return replace(program, without=numbers), tuple(_actors(steps))


def belongs_to(program: Program, text: str) -> bool:
    """Tell whether a string belongs to `program`; raises ScheduleRejectedError if it is damaged."""
    return _parts(text)[0] == program.digest()


def verify(text: str) -> None:
    """Raise ScheduleRejectedError if the text is damaged or no schedule string of this version."""
    _parts(text)


def _parts(text: str) -> tuple[str, str, str]:
    """Return the hash of the program, the operations left out, and the steps."""
    match = _SHAPE.fullmatch(text.strip())
    if match is None:
        raise ScheduleRejectedError(
            "this is no schedule string", "paste the whole word that a failing run printed"
        )
    version, digest, without, steps, check = match.groups()
    if version != _VERSION:
        raise ScheduleRejectedError(
            f"this is a schedule of version {version}, and {_VERSION} is understood", _AGAIN
        )
    if check != _check_sum(text.strip().rpartition("-")[0]):
        raise ScheduleRejectedError(
            "its check sum is wrong, so it has been damaged", "copy the whole word again"
        )
    return digest, without or "", steps


def _actors(steps: str) -> Iterator[Actor]:
    if not steps:
        return
    for part in steps.split("."):
        match = _STEPS.fullmatch(part)
        if match is None:
            raise ScheduleRejectedError(f"{part!r} is no step", "copy the whole word again")
        time, thread, choice, count = match.groups()
        actor = TIME if time else choosing(Actor(int(thread) & THREAD_MASK), int(choice or 0))
        for _ in range(int(count or 1)):
            yield actor


def _actor_text(actor: Actor) -> str:
    if actor == TIME:
        return "t"
    choice = choice_of(actor)
    return f"{thread_of(actor)}" + (f":{choice}" if choice else "")


def _check_sum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"
