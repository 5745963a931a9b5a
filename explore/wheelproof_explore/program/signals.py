"""Signals: KeyboardInterrupt between two bytecodes of one thread, at a place that is chosen.

CPython handles a signal where a function begins, where a call of C code has returned, a class's
included, and where a call of C code waits. The handler may raise there. So a call of a component
can end at each of these places, and the component has to be right all the same.

def appends() -> Scenario:
    signal = Signal("shop", places=80)
    return Scenario(threads={"a": signal.during(append), "b": drain}, check=check)

The place is chosen first: a choice among `places` numbers. A profile function counts the places
that the thread comes to, and raises at the one with the number. A run that comes to fewer places is
cut off. So every place is tried in every interleaving, and none of them is a step of its own.

What is left out: the next round of a loop that calls nothing, methods that Python calls by itself,
a generator that goes on, since one that is closed looks the same, and a wait that is under way. A
lock and a cell are single steps, so a signal comes before one of them or, where a call may have an
effect and raise all the same, behind it.
"""

import dis
import sys
from collections.abc import Callable
from enum import Enum, auto
from functools import cache
from types import CodeType, FrameType

from wheelproof_explore.program.inside import assume, controlled
from wheelproof_explore.runtime.model import ModelThread
from wheelproof_explore.runtime.thread_steps import MayFail

_MODELS = "wheelproof_explore.runtime."
_DOOR = "wheelproof.sync."
"""What makes locks and cells, and is asked for the runtime by models too: single steps."""
_BEHIND = frozenset(("__exit__", "release"))
"""Operations that C code makes: nothing is handled as they begin, and they have happened."""
_BOTH = frozenset(("notify", "notify_all", "wait"))
"""Operations that may have happened or not when they raise."""
_OF_CLASSES = frozenset(("__init__", "__new__", "__exit__", "__call__"))
"""What C code calls on behalf of a call: when it returns, that call has yet to return."""
_CALLING = ("CALL", "PRECALL", "BEFORE_WITH", "WITH_EXCEPT_START")


class Signal:
    """A signal that reaches one thread of a run, or none; make it in the function that sets it up.

    It comes in the code of `package`, where the thread comes to fewer than `places` places. Raises
    RuntimeError outside a program that is being explored.
    """

    def __init__(self, package: str, *, places: int) -> None:
        self._runtime = controlled()
        self._package = f"{package}."
        self._places = places
        self._kinds: dict[CodeType, _Kind] = {}
        self._left = 0
        self._thread: ModelThread | None = None
        self.place = ""
        """Where it came; empty until it has come."""

    def during(self, action: Callable[[], object]) -> Callable[[], None]:
        """Return an action that ends early in some runs, by a signal at one of its places.

        It raises AssertionError if the signal does not end it, or if it has more places.
        """

        def interrupted() -> None:
            numbers = range(1, self._places)
            words = ["no signal", *(f"a signal at place {number}" for number in numbers)]
            chosen = self._runtime.perform(MayFail(words))
            if not chosen:
                action()
                return
            self._raise_in(action, chosen)
            assume(bool(self.place))
            self._runtime.perform(MayFail([f"the signal came: {self.place}"]))
            assert chosen < self._places - 1, f"the call has {chosen} places or more"

        return interrupted

    def _raise_in(self, action: Callable[[], object], number: int) -> None:
        self._left = number
        self._thread = self._runtime.current
        before = sys.getprofile()
        sys.setprofile(self._look)
        try:
            action()
        except KeyboardInterrupt:
            if not self.place:
                raise
            return
        finally:
            sys.setprofile(before)
            self._thread = None
        assert not self.place, f"the signal at {self.place} was swallowed"

    def _look(self, frame: FrameType, event: str, argument: object) -> None:
        """Raise at the place; the profile function of the thread."""
        del argument
        thread = self._thread
        if event == "c_call" or thread is None or self._runtime.current is not thread:
            return
        if thread.aborted or not self._is_place(frame, event):
            return
        self._left -= 1
        if self._left == 0:
            self._thread = None
            self.place = f"{event} in line {frame.f_lineno} of {frame.f_code.co_qualname}"
            raise KeyboardInterrupt(self.place)

    def _is_place(self, frame: FrameType, event: str) -> bool:
        """Tell whether the interpreter handles signals at this event of the package."""
        kind = self._kind(frame)
        if kind is _Kind.ELSEWHERE or event == "c_exception":
            return False
        inside = kind is _Kind.INSIDE
        if event == "call" and _instruction(frame.f_code, frame.f_lasti) == "YIELD_VALUE":
            return False
        if event == "c_return" or (inside and event == "call"):
            return inside
        caller = frame.f_back
        if caller is None or self._kind(caller) is not _Kind.INSIDE:
            return False
        name, instruction = frame.f_code.co_name, _instruction(caller.f_code, caller.f_lasti)
        if inside:
            # Where Python calls Python, nothing is handled after the return.
            by_c = name in _OF_CLASSES and instruction.startswith("CALL")
            return by_c or instruction == "CALL_FUNCTION_EX"
        if not instruction.startswith(_CALLING):
            return False
        return name not in _BEHIND if event == "call" else name in _BEHIND or name in _BOTH

    def _kind(self, frame: FrameType) -> "_Kind":
        code = frame.f_code
        kind = self._kinds.get(code)
        if kind is None:
            module = f"{frame.f_globals.get('__name__', '')}."
            kind = _Kind.ELSEWHERE
            if module.startswith(_MODELS):
                kind = _Kind.MODEL
            elif module.startswith(self._package) and not module.startswith(_DOOR):
                kind = _Kind.INSIDE
            self._kinds[code] = kind
        return kind


class _Kind(Enum):
    """Where code belongs: to the package, to the models of `sync`, or elsewhere."""

    INSIDE = auto()
    MODEL = auto()
    ELSEWHERE = auto()


@cache
def _instruction(code: CodeType, offset: int) -> str:
    """Return the name of the instruction, which is behind the caches of its own."""
    while dis.opname[code.co_code[offset]] == "CACHE":
        offset -= 2
    return dis.opname[code.co_code[offset]]
