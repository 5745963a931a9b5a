"""Proving the contracts of the arithmetic over all paths, with CrossHair.

A contract is one postcondition of one function, under all its preconditions. CrossHair runs the
function on symbolic integers and asks an SMT solver about every path: the answer is a proof for all
integers, a counterexample, or neither. Neither is no proof, and is never reported as one.
"""

import importlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING

from wheelproof_spec.base.needs import missing_package
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict

if TYPE_CHECKING:
    from crosshair.core import ConditionCheckable
    from crosshair.statespace import AnalysisMessage

MODULES = (
    "wheelproof.timer.arithmetic",
    "wheelproof_lab.prove.contracts.timer.placing",
    "wheelproof_lab.prove.contracts.timer.cascading",
    "wheelproof_lab.prove.contracts.timer.levels",
    "wheelproof.producer.pool_arithmetic",
    "wheelproof.producer.accumulator.readiness",
)
"""The modules whose functions carry contracts: the arithmetic, then the theorems about it."""

GROUP = "contracts"
SECONDS_A_CONTRACT = 60.0
"""The limit for one contract, in seconds of processor time."""

SECONDS_A_PATH = 30.0
"""The limit for one path of a contract; each question to the solver gets half of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One postcondition: `number` counts the postconditions of `function` from 1."""

    module: str
    function: str
    number: int
    postcondition: str

    @property
    def name(self) -> str:
        """The contract's name in reports and test ids, as in ``arithmetic.virtual_id/1``."""
        return f"{self.module.rpartition('.')[2]}.{self.function}/{self.number}"


def find_contracts(modules: Iterable[str] = MODULES) -> tuple[Contract, ...]:
    """Return every contract of `modules`, in the order of the source.

    Raises MissingToolError without CrossHair, ValueError for a function without a contract or with
    a contract that cannot be parsed: neither may be skipped silently.
    """
    return tuple(
        Contract(
            module=module,
            function=function,
            number=number,
            postcondition=checkable.conditions.post[0].expr_source,
        )
        for module in modules
        for function in _function_names(module)
        for number, checkable in enumerate(_checkables(module, function, SECONDS_A_CONTRACT), 1)
    )


def prove(
    contract: Contract,
    *,
    seconds: float = SECONDS_A_CONTRACT,
    mutants: Mapping[str, Callable[..., object]] | None = None,
) -> CheckResult:
    """Try to prove `contract` within `seconds` of processor time.

    PASS means: confirmed over all paths. FAIL means: refuted, with the counterexample in `summary`.
    INCONCLUSIVE means: neither, or no input meets the preconditions.

    `mutants` stand in for functions of the arithmetic, by name: for the contract's own function and
    for those that it calls. Its preconditions and postcondition keep their meaning.
    """
    started = time.perf_counter()
    checkable = _checkables(contract.module, contract.function, seconds)[contract.number - 1]
    if mutants is not None:
        checkable.conditions = replace(
            checkable.conditions,
            fn=_mutated(_function(contract.module, contract.function), mutants),
        )
    messages = tuple(checkable.analyze())
    verdict, summary = _judge(messages, seconds)
    return CheckResult(
        name=contract.name,
        group=GROUP,
        verdict=verdict,
        seconds=time.perf_counter() - started,
        summary=summary,
        details=(
            f"post: {contract.postcondition}\n"
            "repeat: crosshair check --analysis_kind=PEP316 --report_all "
            f"--per_condition_timeout={seconds:g} --per_path_timeout={SECONDS_A_PATH:g} "
            f"{contract.module}.{contract.function}"
        ),
    )


def prove_all(
    *,
    seconds: float = SECONDS_A_CONTRACT,
    on_result: Callable[[CheckResult], None] | None = None,
) -> list[CheckResult]:
    """Try to prove every contract, each within `seconds`; call `on_result` with each result.

    Raises MissingToolError without CrossHair.
    """
    results: list[CheckResult] = []
    for contract in find_contracts():
        result = prove(contract, seconds=seconds)
        results.append(result)
        if on_result is not None:
            on_result(result)
    return results


def _judge(messages: Sequence["AnalysisMessage"], seconds: float) -> tuple[Verdict, str]:
    from crosshair.statespace import MessageType

    states = {message.state for message in messages}
    if states == {MessageType.CONFIRMED}:
        return Verdict.PASS, "confirmed over all paths"
    if states & {MessageType.POST_FAIL, MessageType.POST_ERR, MessageType.EXEC_ERR}:
        return Verdict.FAIL, "refuted: " + "; ".join(message.message for message in messages)
    if MessageType.PRE_UNSAT in states:
        return Verdict.INCONCLUSIVE, "no input was found that meets the preconditions"
    return Verdict.INCONCLUSIVE, f"not confirmed within {seconds:g} s"


def _function_names(module: str) -> list[str]:
    return [
        name
        for name, value in vars(importlib.import_module(module)).items()
        if isinstance(value, FunctionType) and value.__module__ == module
    ]


def _function(module: str, name: str) -> FunctionType:
    value: object = getattr(importlib.import_module(module), name)
    if not isinstance(value, FunctionType):
        raise TypeError(f"{module}.{name} is no function")
    return value


def _checkables(module: str, function: str, seconds: float) -> list["ConditionCheckable"]:
    try:
        # This import registers the built-in types with CrossHair.
        importlib.import_module("crosshair.core_and_libs")
        from crosshair.core import ConditionCheckable, analyze_any
        from crosshair.fnutil import FunctionInfo
        from crosshair.options import AnalysisKind, AnalysisOptionSet
    except ModuleNotFoundError as error:
        raise (missing_package(error) or error) from error
    options = AnalysisOptionSet(
        analysis_kind=(AnalysisKind.PEP316,),
        report_all=True,
        per_condition_timeout=seconds,
        per_path_timeout=min(seconds, SECONDS_A_PATH),
    )
    found = analyze_any(
        FunctionInfo.from_module(importlib.import_module(module), function), options
    )
    checkables: list[ConditionCheckable] = []
    for checkable in found:
        if not isinstance(checkable, ConditionCheckable):
            raise ValueError(f"{module}.{function}: its contract cannot be parsed")
        checkables.append(checkable)
    if not checkables:
        raise ValueError(f"{module}.{function} has no contract")
    return checkables


def _mutated(
    function: FunctionType, mutants: Mapping[str, Callable[..., object]]
) -> Callable[..., object]:
    if function.__name__ in mutants:
        return mutants[function.__name__]
    return FunctionType(function.__code__, {**function.__globals__, **mutants}, function.__name__)
