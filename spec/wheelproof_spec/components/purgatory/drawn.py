"""Random cases of a purgatory. No call depends on an answer."""

import random
from collections.abc import Iterator, Sequence
from itertools import permutations

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import CaseSpace, DrawnCase, DrawnStep
from wheelproof_spec.components.purgatory.component import (
    AskGauges,
    CancelForKey,
    CheckAndComplete,
    ForceComplete,
    PurgatoryCall,
    PurgatoryCapability,
    PurgatoryConfig,
    SetCondition,
    TryCompleteElseWatch,
)
from wheelproof_spec.drive.drawn_cases import draw_case

KEYS = tuple("xyz")
"""A few keys, so that operations share them."""

_RARELY = 4
"""One of this many drawn cancels is made: after a cancel few operations wait."""
_OPEN = 3
"""The number of conditions that are not set; a new condition replaces one that is set."""

_MOST_DELAY_MS = 60
_MOST_JUMP_MS = 20
_KEY_LISTS = tuple(keys for count in (1, 2, 3) for keys in permutations(KEYS, count))
_CONDITION_LISTS = tuple(
    some for count in (1, 1, 2, 0) for some in permutations(range(_OPEN + 1), count)
)
"""Indices of open conditions; the last index is the condition that was set last."""
_MANY = 50
_CONFIG = (4, 4, 51, 4)
_KINDS = {
    "watch": (_MOST_DELAY_MS + 1, len(_KEY_LISTS), len(_CONDITION_LISTS)),
    "complete": (_OPEN, len(KEYS)),
    "set_condition": (_OPEN,),
    "check": (len(KEYS),),
    "force": (_MANY,),
    "advance": (_MOST_JUMP_MS + 1,),
    "ask_gauges": (),
    "cancel": (len(KEYS), _RARELY),
}


class PurgatoryCases(CaseSpace[PurgatoryCall]):
    """Random cases: hand-ins, triggers, forces and cancels; at the end all operations expire."""

    def __init__(self, tally: Tally) -> None:
        cancels = not tally.skips(PurgatoryCapability.CANCEL_FOR_KEY)
        self._kinds = {kind: below for kind, below in _KINDS.items() if cancels or kind != "cancel"}

    def draw(self, chance: random.Random) -> DrawnCase:
        """Return a random case; see `CaseSpace.draw`."""
        return draw_case(chance, _CONFIG, self._kinds)

    def calls(self, case: DrawnCase) -> Sequence[PurgatoryCall]:
        """Return the calls of a case; see `CaseSpace.calls`."""
        tick, size, start_ms, purge_interval = case.config
        config = PurgatoryConfig(
            tick_ms=1 + tick, wheel_size=2 + size, start_ms=start_ms, purge_interval=purge_interval
        )
        return tuple(_calls(config, case.steps))


def _calls(config: PurgatoryConfig, steps: Sequence[DrawnStep]) -> Iterator[PurgatoryCall]:
    now_ms = last_due_ms = config.start_ms
    handed_in: list[str] = []
    conditions = [f"c{number}" for number in range(_OPEN + 1)]
    named = len(conditions)
    yield Reset(config=config)
    for kind, numbers in steps:
        match kind, numbers:
            case "watch", (delay_ms, among, places):
                handed_in.append(f"op{len(handed_in) + 1}")
                last_due_ms = max(last_due_ms, now_ms + delay_ms)
                yield TryCompleteElseWatch(
                    operation=handed_in[-1],
                    delay_ms=delay_ms,
                    keys=_KEY_LISTS[among],
                    conditions=tuple(conditions[place] for place in _CONDITION_LISTS[places]),
                )
            case "set_condition" | "complete", (place, *keys):
                conditions[_OPEN], conditions[place] = conditions[place], f"c{named}"
                named += 1
                yield SetCondition(condition=conditions[_OPEN])
                yield from (CheckAndComplete(key=KEYS[key]) for key in keys)
            case "check", (key,):
                yield CheckAndComplete(key=KEYS[key])
            case "force", (number,) if handed_in:
                yield ForceComplete(operation=handed_in[number % len(handed_in)])
            case "cancel", (key, 0):
                yield CancelForKey(key=KEYS[key])
            case "advance", (jump_ms,):
                now_ms += jump_ms
                yield Advance(to_ms=now_ms)
            case "ask_gauges", ():
                yield AskGauges()
            case _:
                pass
    # At the end every time-out expires and every key is checked: nothing is left.
    yield Advance(to_ms=max(now_ms, last_due_ms))
    yield from (CheckAndComplete(key=key) for key in KEYS)
    yield AskGauges()
