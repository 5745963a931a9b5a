"""What the components bring for the engines that need more than the standard library."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TypeGuard

from wheelproof_spec.base.drawing import CaseView
from wheelproof_spec.base.errors import InputRejectedError, UsageError
from wheelproof_spec.components import registry
from wheelproof_spec.engines.drive.driver.serve import ServedComponent
from wheelproof_spec.engines.explore.program import Program
from wheelproof_spec.engines.explore.programs.catalog import (
    FAILING,
    FOR_EVER,
    FOR_EVER_BUGS,
    PASSING,
)
from wheelproof_spec.engines.explore.tasks.plain import threading_program
from wheelproof_spec.engines.fuzz.machine import AnyMachine, Machine
from wheelproof_spec.engines.graph.comparing.comparisons import GraphModel
from wheelproof_spec.engines.history.recording.callers import Callers
from wheelproof_spec.engines.history.recording.load import Load
from wheelproof_spec.engines.prove.system import Proof

MakeLoad = Callable[[Callers], Load]
MakeView = Callable[[str], CaseView]


def passing_programs() -> tuple[Program, ...]:
    """Return every program that has to pass, those of no component first."""
    found = registry.parts("programs", "PROGRAMS", _are_programs)
    return (*PASSING, *(program for _, programs in found for program in programs))


def failing_programs() -> tuple[Program, ...]:
    """Return every program that has to fail: classic mistakes, and known bugs brought back."""
    found = registry.parts("programs", "FAILING", _are_programs)
    return (*FAILING, *(program for _, programs in found for program in programs))


def graph_programs() -> tuple[Program, ...]:
    """Return every program that has to pass in graph mode, which alone can judge it."""
    found = registry.parts("programs", "GRAPH_PROGRAMS", _are_programs)
    return (*FOR_EVER, *(program for _, programs in found for program in programs))


def failing_graph_programs() -> tuple[Program, ...]:
    """Return every program that has to fail in graph mode, which alone can judge it."""
    found = registry.parts("programs", "FAILING_GRAPH_PROGRAMS", _are_programs)
    return (*FOR_EVER_BUGS, *(program for _, programs in found for program in programs))


def find_program(
    name: str, *, threading: bool = False, instrument: Sequence[str] = (), steps: bool = False
) -> Program:
    """Return the program of this name, or the object that `module:attribute` names.

    With `threading`, that may be any function; see `threading_program`.

    Raises UsageError, which names the programs there are, and InputRejectedError for a module that
    cannot be imported or has no such program.
    """
    if ":" in name:
        return _imported(name, threading=threading, instrument=instrument, steps=steps)
    if threading:
        raise UsageError(f"--threading is for code of your own, module:attribute, not {name!r}")
    known = (*passing_programs(), *failing_programs(), *graph_programs(), *failing_graph_programs())
    known += tuple(
        pair for component in registry.COMPONENTS for pair in programs_of(component, "PAIRS")
    )
    programs = {program.name: program for program in known}
    if name not in programs:
        near = get_close_matches(name, programs, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        raise UsageError(
            f"no program {name!r}; {meant}wheelproof explore --list names all; your own is named "
            "module:attribute"
        )
    return programs[name]


def programs_of(component: str, kind: str) -> tuple[Program, ...]:
    """Return programs of a component: PROGRAMS and PAIRS have to pass, FAILING have to fail."""
    return registry.part_of(component, "programs", kind, _are_programs) or ()


def comparisons() -> tuple[GraphModel, ...]:
    """Return every comparison of code and TLA+ module."""
    return tuple(model for component in registry.COMPONENTS for model in comparisons_of(component))


def comparisons_of(component: str) -> tuple[GraphModel, ...]:
    """Return the comparisons of a component's code with its modules."""
    return registry.part_of(component, "graph.catalog", "COMPARISONS", _are_comparisons) or ()


def proofs() -> tuple[Proof, ...]:
    """Return every proof for any number of threads."""
    return tuple(proof for component in registry.COMPONENTS for proof in proofs_of(component))


def proofs_of(component: str) -> tuple[Proof, ...]:
    """Return the proofs of a component."""
    return registry.part_of(component, "proofs.catalog", "PROOFS", _are_proofs) or ()


def machines() -> dict[str, AnyMachine]:
    """Return the machines of `wheelproof fuzz`, by name."""
    return dict(registry.parts("fuzz.machine", "MACHINE", _is_machine))


def loads() -> dict[str, MakeLoad]:
    """Return the work under which the reference is recorded, by component."""
    return dict(registry.parts("recording.load", "load", _makes_loads))


def view_of(component: str) -> MakeView | None:
    """Return what draws the cases of a component, if anything does."""
    return registry.part_of(component, "view", "VIEW", _makes_views)


def served_components() -> list[ServedComponent]:
    """Return the reference's components, ready to be served as a driver."""
    return [serve() for _, serve in registry.parts("reference", "serve", _serves)]


def _imported(name: str, *, threading: bool, instrument: Sequence[str], steps: bool) -> Program:
    module, _, attribute = name.partition(":")
    kind = "function" if threading else "Program"
    remedy = f"name an importable module and a {kind} in it, as module:attribute"
    try:
        program: object = getattr(importlib.import_module(module), attribute, None)
        if threading:
            program = threading_program(name, program, instrument, steps=steps)
    except (Exception, SystemExit, GeneratorExit) as error:
        raise InputRejectedError(name, None, f"{type(error).__name__}: {error}", remedy) from error
    if not isinstance(program, Program):
        raise InputRejectedError(name, None, f"{attribute!r} is no {kind}", remedy)
    # Under this name it is found again, by whoever repeats a run.
    return replace(program, name=name)


def _are_programs(value: object) -> TypeGuard[tuple[Program, ...]]:
    return isinstance(value, tuple)


def _are_comparisons(value: object) -> TypeGuard[tuple[GraphModel, ...]]:
    return isinstance(value, tuple)


def _are_proofs(value: object) -> TypeGuard[tuple[Proof, ...]]:
    return isinstance(value, tuple)


def _is_machine(value: object) -> TypeGuard[AnyMachine]:
    return isinstance(value, Machine)


def _makes_loads(value: object) -> TypeGuard[MakeLoad]:
    return callable(value)


def _makes_views(value: object) -> TypeGuard[MakeView]:
    return callable(value)


def _serves(value: object) -> TypeGuard[Callable[[], ServedComponent]]:
    return callable(value)
