"""Exploring a program: anew, until all is seen that its runs showed to be needed."""

import importlib
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace

from wheelproof_explore.estimate import Progress
from wheelproof_explore.instrument.accesses import NewlySharedError, Seeing
from wheelproof_explore.instrument.loading import import_packages
from wheelproof_explore.options import DEFAULT_OPTIONS, Engine, Options
from wheelproof_explore.patched.environment import Environment
from wheelproof_explore.patched.patching import patched_threading
from wheelproof_explore.patched.threads import RosterNeededError
from wheelproof_explore.program import Program
from wheelproof_explore.result import Exploration
from wheelproof_explore.runs.guard import require_assertions
from wheelproof_explore.runs.schedule import decode
from wheelproof_explore.session import NewModuleError, Session


def explore(
    program: Program,
    options: Options = DEFAULT_OPTIONS,
    progress: Callable[[Progress], None] | None = None,
) -> Exploration:
    """Explore `program`; `progress` is called after two seconds, and then at intervals.

    Raises ProgramRejectedError or ScheduleRejectedError for what cannot be explored. Ctrl-C ends
    the exploration early: its result is inconclusive, unless a failure was found before.
    """
    require_assertions(program.name)
    import_packages(program.name, program.instrument)
    seeing = Seeing(steps=program.accesses_are_steps)
    # With several jobs, each process patches for itself.
    patched = program.patch_threading and options.jobs == 1
    environment = Environment(program.faults)
    with environment.named(), patched_threading() if patched else nullcontext():
        if options.engine is Engine.REPLAY:
            if seeing.steps:
                # This exploration finds out which accesses are steps.
                _explore_anew(program, Options(), None, seeing, environment)
            program, _ = decode(program, options.schedule)
        return _explore_anew(program, options, progress, seeing, environment)


def _explore_anew(
    program: Program,
    options: Options,
    progress: Callable[[Progress], None] | None,
    seeing: Seeing,
    environment: Environment,
) -> Exploration:
    """Explore, and begin again whenever a run changes what is to be patched or rewritten."""
    roster, begin = False, time.monotonic()
    while True:
        left = options
        if options.max_seconds is not None:
            spent = time.monotonic() - begin
            left = replace(options, max_seconds=max(options.max_seconds - spent, 0.0))
        try:
            return _explore(program, left, progress, seeing, environment, roster=roster)
        except RosterNeededError:
            roster = True
        except NewlySharedError:
            # `seeing` knows from now on what is to be rewritten.
            continue
        except NewModuleError as error:
            _import_anew(error.names)
            seeing.late += error.names


def _explore(
    program: Program,
    options: Options,
    progress: Callable[[Progress], None] | None,
    seeing: Seeing,
    environment: Environment,
    *,
    roster: bool,
) -> Exploration:
    session = Session(program, options, progress, seeing, environment, roster=roster)
    begin = time.monotonic()
    if options.jobs > 1:
        session.explore_side_by_side()
    with session.contexts():
        session.explore()
    return session.result(time.monotonic() - begin)


def _import_anew(names: Sequence[str]) -> None:
    """Import modules once more, which a run has imported, used and perhaps changed."""
    for name in names:
        del sys.modules[name]
    for name in names:
        importlib.import_module(name)
