"""A signal at each place where the interpreter handles one: what a fault explorer of one thread is.

CPython handles a signal where a function begins, where a call of C code has returned, a class's
included (and where a loop jumps back, which is left out: the loops of the reference call
something). It handles none where a function of Python returns to its caller. `with` calls
`__enter__` by itself, and no signal is handled between the end of that call and the block.

A profile function stands at exactly these places, so it can raise what the handler of a signal
would, at the place where it would.
"""

import dis
import gc
import sys
from collections.abc import Callable, Generator
from types import CodeType, FrameType
from typing import TypeVar

T = TypeVar("T")


def each_interruption(block: Callable[[], object]) -> Generator[str]:
    """Run `block` with KeyboardInterrupt at its first place, then at its second, and so on.

    Yields each place after the run that it ended, so that the caller can look at what is left. The
    last run, which nothing interrupts, yields "nowhere". An interruption that the block does not
    pass on fails.
    """
    place = ""
    number = 0
    while place != "nowhere":
        number += 1
        place = _interrupt(block, number)
        yield place


def each_interrupted_call(
    make: Callable[[], T], call: Callable[[T], Callable[[], object]]
) -> Generator[tuple[str, T]]:
    """Make a bench and interrupt a call on it, at the first place of the call, then at the second.

    `call` returns what is called, so that nothing around it counts. Yields each place and the bench
    as the interruption has left it; last of all "nowhere", as `each_interruption` does.
    """
    place = ""
    number = 0
    while place != "nowhere":
        number += 1
        bench = make()
        place = _interrupt(call(bench), number)
        yield place, bench


def _interrupt(block: Callable[[], object], number: int) -> str:
    fault = _Fault(number)
    before = sys.getprofile()
    # No finalizer of something else runs in the block, where it would be interrupted.
    gc.disable()
    sys.setprofile(fault)
    try:
        block()
    except KeyboardInterrupt:
        assert fault.place is not None, "a KeyboardInterrupt of somebody else's"
        return fault.place
    finally:
        sys.setprofile(before)
        gc.enable()
    assert fault.place is None, f"the interruption at {fault.place} was swallowed"
    return "nowhere"


class _Fault:
    """The profile function that raises at the place with a number, counted from 1."""

    def __init__(self, number: int) -> None:
        self._left = number
        self.place: str | None = None

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        del argument
        code = frame.f_code
        if code is each_interruption.__code__ or code is _interrupt.__code__:
            return
        if not _is_handled(frame, event):
            return
        self._left -= 1
        if self._left == 0:
            self.place = f"{event} in line {frame.f_lineno} of {code.co_qualname}"
            raise KeyboardInterrupt


def _is_handled(frame: FrameType, event: str) -> bool:
    """Tell whether the interpreter handles signals at this event."""
    if event in ("call", "c_return"):
        return True
    if event != "return" or frame.f_back is None:
        return False
    if frame.f_back.f_code is _interrupt.__code__:
        # The call is over: what is raised now is raised in the caller.
        return False
    # Where `with` or an attribute calls a function, nothing is handled after its return; nor where
    # Python calls Python, but for what C code calls on behalf of a call.
    instruction = _instruction(frame.f_back.f_code, frame.f_back.f_lasti)
    by_c = frame.f_code.co_name in ("__init__", "__new__", "__exit__", "__call__")
    return instruction == "CALL_FUNCTION_EX" or (by_c and instruction.startswith("CALL"))


def _instruction(code: CodeType, offset: int) -> str:
    while dis.opname[code.co_code[offset]] == "CACHE":
        offset -= 2
    return dis.opname[code.co_code[offset]]
