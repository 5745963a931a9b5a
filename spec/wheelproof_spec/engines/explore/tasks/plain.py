"""Programs that are written against `threading`: no word of this project need be in them."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import wraps
from typing import TypeGuard, cast

from wheelproof_spec.engines.explore.program import Program, Scenario
from wheelproof_spec.engines.explore.tasks.loop import run


def threading_program(
    name: str, given: object, instrument: Sequence[str] = (), *, steps: bool = False
) -> Program | None:
    """Return what is given as a program in which `threading` is patched; None if it is neither.

    A function that says that it returns a Scenario sets a run up; any other one is what the main
    thread of a run does.
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
    result: object = getattr(given, "__annotations__", {}).get("return")
    names: object = getattr(getattr(given, "__code__", None), "co_names", ())
    said = result in (Scenario, "Scenario") or (isinstance(names, tuple) and "Scenario" in names)
    return callable(given) and said


def _is_action(given: object) -> TypeGuard[Callable[[], object]]:
    return callable(given)


def _main(action: Callable[[], object]) -> Callable[[], Scenario]:
    # The source of the action tells this program from others.
    @wraps(action)
    def build() -> Scenario:
        def main() -> None:
            result = action()
            if isinstance(result, Scenario):
                raise TypeError("it returns a Scenario: say so, `-> Scenario`")
            if isinstance(result, Coroutine):
                run(cast("Coroutine[object, object, object]", result))

        return Scenario(threads={"main": main})

    return build
