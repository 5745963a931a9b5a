"""What exploring a random program of constructs says, beside what all of its orders show."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from types import ModuleType
from typing import cast

from support import seeds
from support.explore.bytecode import bytecode_outcomes, making_anew
from support.explore.construct_programs import ConstructProgram
from support.explore.turns import turn_outcomes
from wheelproof_explore import explore
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.library import Accesses
from wheelproof_explore.result import Exploration
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.worlds.constructs.programs import SHARED, loaded

_RUNS = 3_000
_ORDERS = seeds.runs(2_000, hunted=40_000)
_MANY = 6
"""More stops of threads than what one of these programs needs to show what it can show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """`problem` is what must not be, empty if there is nothing; `sure` tells of a pass or fail."""

    problem: str
    sure: bool


def compare(program: ConstructProgram, *, accesses: Accesses, stops: int) -> Comparison:
    """Explore a program, and run it in every order.

    A thread that could go on is stopped at most `stops` times. A pass has to have shown all that
    the orders show, and nothing else; no program here fails, but for a data race.
    """
    with loaded(program.text) as module:
        if program.is_coroutine:
            return _compare(program, _Tasks(module), accesses, stops)
        return _compare(program, _Threads(module), accesses, stops)


class _Threads:
    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self.program = cast("Callable[[], str]", vars(module)["program"])

    def orders(self, stops: int) -> tuple[frozenset[str], bool]:
        truth = bytecode_outcomes(self._module, stops, _ORDERS)
        return truth.outcomes, truth.whole

    def noting(self, shown: set[str]) -> Callable[[], object]:
        def observed() -> None:
            shown.add(self.program())

        return observed


class _Tasks:
    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self.program = cast("Callable[[], Coroutine[object, object, str]]", vars(module)["program"])

    def orders(self, _stops: int) -> tuple[frozenset[str], bool]:
        latest: list[str] = []
        anew = making_anew(self._module)

        async def main() -> None:
            latest.append(await anew()())

        def outcome() -> str:
            return latest.pop() if latest else "no end"

        turns = turn_outcomes(main, outcome, _ORDERS, lazy=True)
        return frozenset(str(shown) for _, shown in turns or ()), turns is not None

    def noting(self, shown: set[str]) -> Callable[[], object]:
        async def observed() -> None:
            shown.add(await self.program())

        return observed


def _compare(
    program: ConstructProgram, way: _Threads | _Tasks, accesses: Accesses, stops: int
) -> Comparison:
    shown: set[str] = set()
    try:
        explored = explore(
            way.noting(shown),
            instrument=[way.program.__module__, SHARED],
            accesses=accesses,
            max_runs=_RUNS,
        )
    except ProgramRejectedError:
        return Comparison(problem="", sure=False)
    verdict = explored.verdict()
    problem = ""
    if verdict is Verdict.FAIL:
        problem = _wrong_failure(program, explored, accesses)
    elif verdict is Verdict.PASS:
        problem = _difference(way, shown, stops)
    said = f"{', '.join(program.names)}: {problem}" if problem else ""
    return Comparison(problem=said, sure=verdict is not Verdict.INCONCLUSIVE)


def _wrong_failure(program: ConstructProgram, explored: Exploration, accesses: Accesses) -> str:
    may_race = accesses == "races" and not (program.locked or program.is_coroutine)
    return "" if may_race and "data race" in explored.summary() else explored.summary()


def _difference(way: _Threads | _Tasks, shown: set[str], stops: int) -> str:
    orders, whole = way.orders(stops)
    if orders - shown:
        return f"it passes, and does not show {sorted(orders - shown)}"
    if whole and shown - orders:
        # Perhaps that needs more stops.
        orders, whole = way.orders(_MANY)
        if whole and shown - orders:
            return f"no order shows {sorted(shown - orders)}"
    return ""
