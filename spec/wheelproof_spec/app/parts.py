"""The parts of the components for the engines that need more than the standard library."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches

from wheelproof_spec.base.drawing import CaseView
from wheelproof_spec.base.errors import InputRejectedError, UsageError
from wheelproof_spec.components.registry import Part, Parts
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


_PROGRAMS = Parts[Program]("programs", "PROGRAMS")
_FAILING_PROGRAMS = Parts[Program]("programs", "FAILING")
_GRAPH_PROGRAMS = Parts[Program]("programs", "GRAPH_PROGRAMS")
_FAILING_GRAPH_PROGRAMS = Parts[Program]("programs", "FAILING_GRAPH_PROGRAMS")
_PAIRS = Parts[Program]("programs", "PAIRS")
_COMPARISONS = Parts[GraphModel]("graph.catalog", "COMPARISONS")
_PROOFS = Parts[Proof]("proofs.catalog", "PROOFS")

comparisons = _COMPARISONS.all
"""Return every comparison of code and TLA+ module."""
comparisons_of = _COMPARISONS.all_of
"""Return the comparisons of a component's code with its modules."""
proofs = _PROOFS.all
"""Return every proof for any number of threads."""
proofs_of = _PROOFS.all_of
"""Return the proofs of a component."""
machines = Part[AnyMachine]("fuzz.machine", "MACHINE", Machine).by_component
"""Return the machines of `wheelproof fuzz`, by name."""
loads = Part[MakeLoad]("recording.load", "load").by_component
"""Return the work under which the reference is recorded, by component."""
view_of = Part[MakeView]("view", "VIEW").of
"""Return the view that draws the cases of a component, or None."""


def passing_programs() -> tuple[Program, ...]:
    """Return every program that has to pass, first the programs of no component."""
    return (*PASSING, *_PROGRAMS.all())


def failing_programs() -> tuple[Program, ...]:
    """Return every program that has to fail: classic mistakes, and known bugs put back."""
    return (*FAILING, *_FAILING_PROGRAMS.all())


def graph_programs() -> tuple[Program, ...]:
    """Return every program that has to pass, and that only graph mode can judge."""
    return (*FOR_EVER, *_GRAPH_PROGRAMS.all())


def failing_graph_programs() -> tuple[Program, ...]:
    """Return every program that has to fail, and that only graph mode can judge."""
    return (*FOR_EVER_BUGS, *_FAILING_GRAPH_PROGRAMS.all())


def programs_of(component: str, kind: str) -> tuple[Program, ...]:
    """Return programs of a component: PROGRAMS and PAIRS have to pass, FAILING have to fail."""
    return Parts[Program]("programs", kind).all_of(component)


def find_program(
    name: str, *, threading: bool = False, instrument: Sequence[str] = (), steps: bool = False
) -> Program:
    """Return the program of this name, or the object that `module:attribute` names.

    With `threading`, that object may be any function; see `threading_program`.

    Raises UsageError for an unknown name, and InputRejectedError for a module that cannot be
    imported or has no such program.
    """
    if ":" in name:
        return _imported(name, threading=threading, instrument=instrument, steps=steps)
    if threading:
        raise UsageError(f"--threading is for code of your own, module:attribute, not {name!r}")
    known = (*passing_programs(), *failing_programs(), *graph_programs(), *failing_graph_programs())
    programs = {program.name: program for program in (*known, *_PAIRS.all())}
    if name not in programs:
        near = get_close_matches(name, programs, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        raise UsageError(
            f"no program {name!r}; {meant}wheelproof explore --list names all; your own is named "
            "module:attribute"
        )
    return programs[name]


def served_components() -> list[ServedComponent]:
    """Return the reference's components, ready to be served as a driver."""
    serves = Part[Callable[[], ServedComponent]]("reference", "serve").by_component()
    return [serve() for serve in serves.values()]


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
    # A repeated run finds the program under this name.
    return replace(program, name=name)
