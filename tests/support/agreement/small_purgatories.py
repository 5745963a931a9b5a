"""Small random histories of a purgatory: each call takes its effects at random moments.

Good ones come from a machine that keeps the rules; a spoiled one has an answer changed, or a
completion added, dropped or moved, or comes from a machine that overlooks true predicates.
"""

import random
from collections.abc import Generator
from dataclasses import dataclass, field, replace

from support.agreement.small_histories import History, Line, history_of
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.component import Call
from wheelproof_spec.components.purgatory.component import (
    CancelForKey,
    Cancelled,
    CheckAndComplete,
    Checked,
    Completed,
    ForceComplete,
    OnComplete,
    OnExpiration,
    PurgatoryConfig,
    Satisfy,
    TryCompleteElseWatch,
)

KEYS = {"a": ("k",), "b": ("k", "j"), "c": ("j",)}
_TIMER = "timer"
_CONFIG = PurgatoryConfig(predicates="recorded", cancels="operation")


@dataclass(slots=True)
class _Purgatory:
    chance: random.Random
    careless: bool
    """Whether it may overlook that a predicate is true."""
    lines: list[Line] = field(default_factory=list[Line])
    handed_in: list[str] = field(default_factory=list[str])
    watched: list[str] = field(default_factory=list[str])
    true: set[str] = field(default_factory=set[str])
    done: set[str] = field(default_factory=set[str])
    expiring: list[str] = field(default_factory=list[str])

    def call(self, process: str) -> Generator[None]:
        """One call, from effect to effect."""
        asked = self._draw()
        f = asked.name_on_the_wire()
        self.lines.append(Line(process, "invoke", f, asked))
        yield
        answer: object = Nothing()
        match asked:
            case TryCompleteElseWatch(operation=name):
                completed = self._try(process, name)
                yield
                if not completed:
                    self.watched.append(name)
                    completed = self._try(process, name)
                answer = Completed(completed=completed)
            case Satisfy(operation=name):
                self.true.add(name)
            case ForceComplete(operation=name):
                answer = Completed(completed=self._complete(process, name))
            case CheckAndComplete(key=key):
                count = 0
                for name in self._of(key):
                    count += self._try(process, name)
                    yield
                answer = Checked(count=count)
            case CancelForKey(key=key):
                taken = [name for name in self._of(key) if name not in self.done]
                self.done.update(taken)
                answer = Cancelled(count=len(taken), cancelled=tuple(taken))
            case _:
                raise AssertionError(f)
        yield
        self.lines.append(Line(process, "ok", f, answer))

    def expire(self) -> None:
        """Whoever waits may expire at any time; and says so later."""
        if self.expiring and self.chance.random() < 0.5:
            name = self.expiring.pop(0)
            self.lines.append(Line(_TIMER, "invoke", "on_expiration", OnExpiration(operation=name)))
            return
        waiting = [name for name in self.watched if name not in self.done]
        if waiting and self.chance.random() < 0.06:
            name = self.chance.choice(waiting)
            self._complete(_TIMER, name)
            self.expiring.append(name)

    def _draw(self) -> Call:
        left = [name for name in KEYS if name not in self.handed_in]
        if left and (not self.handed_in or self.chance.random() < 0.5):
            name = left[0]
            self.handed_in.append(name)
            return TryCompleteElseWatch(operation=name, keys=KEYS[name], delay_ms=1)
        satisfied = Satisfy(operation=self.chance.choice(list(KEYS)))
        key = self.chance.choice("kkj")
        return self.chance.choice(
            (
                satisfied,
                satisfied,
                CheckAndComplete(key=key),
                CheckAndComplete(key=key),
                ForceComplete(operation=self.chance.choice(self.handed_in)),
                CancelForKey(key=key),
            )
        )

    def _of(self, key: str) -> list[str]:
        return [name for name in self.watched if key in KEYS[name]]

    def _try(self, process: str, name: str) -> bool:
        overlooked = self.careless and self.chance.random() < 0.5
        return name in self.true and not overlooked and self._complete(process, name)

    def _complete(self, process: str, name: str) -> bool:
        if name in self.done:
            return False
        self.done.add(name)
        self.lines.append(Line(process, "invoke", "on_complete", OnComplete(operation=name)))
        return True


def purgatory_history(seed: int, times: int = 1) -> History:
    """Return a history of a few overlapping calls on a purgatory; see `timer_history`."""
    chance = random.Random(seed)
    spoiled = chance.random() < 0.5 and times == 1
    purgatory = _Purgatory(chance, careless=spoiled and chance.random() < 0.4)
    calls: dict[str, Generator[None]] = {}
    left = times * chance.randrange(3, 9)
    while left or calls or purgatory.expiring:
        purgatory.expire()
        process = chance.choice("pqr" if left else list(calls) or ["p"])
        if process not in calls:
            if not left:
                continue
            left -= 1
            calls[process] = purgatory.call(process)
        if next(calls[process], _TIMER) == _TIMER:
            del calls[process]
    lines = purgatory.lines
    if spoiled and not purgatory.careless:
        _spoil(lines, chance)
    return history_of("purgatory", _CONFIG, lines, quiet=chance.random() < 0.7)


def _spoil(lines: list[Line], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    completions = [place for place, one in enumerate(lines) if one.f == "on_complete"]
    match chance.randrange(5):
        case 0 if completions:
            del lines[chance.choice(completions)]
        case 1 if completions:
            lines.insert(at, replace(lines[chance.choice(completions)], process=_TIMER))
        case 2 if completions:
            line = lines.pop(chance.choice(completions))
            lines.insert(min(at, len(lines)), replace(line, process=_TIMER))
        case _:
            for place in range(at, len(lines)):
                lines[place] = _lie(lines[place], chance)
                if lines[place].type == "ok":
                    return


def _lie(line: Line, chance: random.Random) -> Line:
    match line.value:
        case Completed(completed=completed):
            return replace(line, value=Completed(completed=not completed))
        case Checked(count=int(count)):
            return replace(line, value=Checked(count=count + 1 if count == 0 else count - 1))
        case Cancelled(cancelled=tuple(names)):
            names = names[1:] if names else (chance.choice(list(KEYS)),)
            return replace(line, value=Cancelled(count=len(names), cancelled=names))
        case _:
            return line
