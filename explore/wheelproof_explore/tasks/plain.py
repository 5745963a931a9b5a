"""Programs that are written against `threading` and need not mention this project."""

from collections.abc import Callable, Coroutine, Sequence
from contextvars import copy_context
from dataclasses import replace
from functools import partial, wraps
from types import MethodType
from typing import TypeGuard, cast

from wheelproof_explore.patched.threads import become_main
from wheelproof_explore.program import Program, Scenario
from wheelproof_explore.tasks.loop import run


def threading_program(
    name: str, given: object, instrument: Sequence[str] = (), *, steps: bool = False
) -> Program | None:
    """Return `given` as a program with patched `threading`; None if it cannot be one.

    A function that declares or uses a Scenario sets up a run; any other function is the main thread
    of a run.
    """
    if isinstance(given, Program):
        program = given
    elif _sets_up(given):
        program = Program(name=name, summary="", build=given)
    elif _is_action(given):
        program = Program(name=name, summary="", build=_main(given))
    else:
        return None
    seen = tuple(instrument) or program.instrument
    steps = steps or program.accesses_are_steps
    return replace(
        program, name=name, patch_threading=True, instrument=seen, accesses_are_steps=steps
    )


def _sets_up(given: object) -> TypeGuard[Callable[[], Scenario]]:
    function = given
    while isinstance(function, partial):
        function = function.func
    result: object = getattr(function, "__annotations__", {}).get("return")
    names: object = getattr(getattr(function, "__code__", None), "co_names", ())
    said = result in (Scenario, "Scenario") or (isinstance(names, tuple) and "Scenario" in names)
    return callable(given) and said


def _is_action(given: object) -> TypeGuard[Callable[[], object]]:
    return callable(given) and not isinstance(given, type)


def _call(
    action: Callable[..., object],
) -> tuple[Callable[..., object], list[object], dict[str, object]]:
    """Return what is called and what it is given, in which locks can be replaced."""
    given, named = list[object](), dict[str, object]()
    while isinstance(action, partial | MethodType):
        if isinstance(action, partial):
            given[:0], named = action.args, {**action.keywords, **named}
            action = action.func
        else:
            given.insert(0, action.__self__)
            action = cast("Callable[..., object]", action.__func__)
    return action, given, named


def _main(action: Callable[[], object]) -> Callable[[], Scenario]:
    # `wraps` leads to the source of the function, which identifies this program.
    function, given, named = _call(action)

    @wraps(function)
    def build() -> Scenario:
        # The main thread has the context in which the program's modules were imported.
        context = copy_context()

        def main() -> None:
            become_main()
            result = context.run(function, *given, **named)
            if isinstance(result, Scenario):
                raise TypeError("it returns a Scenario: say so, `-> Scenario`")
            if isinstance(result, Coroutine):
                context.run(run, cast("Coroutine[object, object, object]", result))

        return Scenario(threads={"main": main})

    return build
