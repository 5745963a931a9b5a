"""The verb `metamorphic`: tests the judges of histories by variations."""

import argparse
import os
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from wheelproof_spec.app.program import carries
from wheelproof_spec.base.arguments import bounded
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict, overall
from wheelproof_spec.components.registry import COMPONENTS, definition_of, profiles

if TYPE_CHECKING:
    from wheelproof_lab.metamorphic.campaign import Counts, Disagreement
    from wheelproof_lab.metamorphic.recording import Recording

_PROGRESS_S = 10
_MOST_SHOWN = 5
_MOST_OF_A_CASE = 400
"""The most answers of a driven case that are given a fault."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument(
        "components",
        nargs="*",
        metavar="COMPONENT",
        help=f"whose judge is tested: {', '.join(COMPONENTS)} (default: all)",
    )
    parser.add_argument(
        "--histories",
        type=bounded(1),
        default=2000,
        metavar="N",
        help="how many histories are judged, at least, of each component and profile "
        "(default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="draw what the run of this seed drew")
    parser.add_argument("--profile", choices=sorted(profiles()), help="vary for this profile alone")
    parser.add_argument(
        "--jobs",
        type=bounded(1),
        default=os.cpu_count() or 1,
        metavar="N",
        help="how many processes share the work (default: one for each processor)",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        default=Path("build/metamorphic"),
        metavar="DIR",
        help="write each disagreement to a file in this folder (default: %(default)s)",
    )
    parser.add_argument(
        "--recorded",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="vary the histories in these files, whoever has recorded them, each one once",
    )
    parser.add_argument(
        "--replay",
        type=Path,
        nargs="+",
        default=[],
        metavar="PATH",
        help="judge kept disagreements again: files, or folders of them",
    )
    parser.add_argument(
        "--figures", type=Path, metavar="FILE", help="write the figures of docs/clauses"
    )
    carries(parser, run, reads=("recorded", "replay"), writes=("keep", "figures"))


def run(arguments: argparse.Namespace) -> int:
    """Run the verb; a disagreement is a failure."""
    if arguments.replay:
        return _replay(arguments)
    from wheelproof_lab.metamorphic.campaign import Counts
    from wheelproof_lab.metamorphic.campaigns import require_components

    components = require_components(arguments.components)
    seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
    if not arguments.quiet:
        print(f"varying histories, seed {seed}, {arguments.jobs} processes", flush=True)
    results: list[CheckResult] = []
    figures: dict[str, dict[str, object]] = {}
    interrupted = False
    for component, profile, parts in _work(components, seed, arguments):
        started = time.monotonic()
        total = Counts()
        try:
            for counts in parts:
                total.add(counts)
        except KeyboardInterrupt:
            interrupted = True
        result = _check(component, profile, total, time.monotonic() - started, arguments)
        results.append(result)
        figures.setdefault(component, {})[profile] = _figures(total)
        if not arguments.quiet:
            print(f"{result.name}: {result.verdict.value}, {result.summary}", flush=True)
            if result.details:
                print(result.details)
        if interrupted:
            break
    verdict = overall(result.verdict for result in results)
    given = {"seed": seed, "histories": arguments.histories, "profile": arguments.profile}
    if arguments.figures is not None:
        _write_figures(arguments.figures, seed, figures)
    return publish(
        Result(
            verb="metamorphic",
            verdict=verdict,
            checks=results,
            line=verdict.value,
            text="interrupted: what was judged so far is above" if interrupted else "",
            given={**given, "components": list(components)},
            document={"figures": figures},
            repeat=_repeat(arguments, components, seed),
            code=ExitCode.INTERRUPTED if interrupted and verdict is not Verdict.FAIL else None,
        ),
        arguments,
    )


def _work(
    components: tuple[str, ...], seed: int, arguments: argparse.Namespace
) -> "Iterator[tuple[str, str, Iterator[Counts]]]":
    """Yield each component and profile, with the counts of its parts."""
    if not arguments.recorded:
        for component, profile in _pairs(components, arguments.profile):
            yield component, profile, _parts(component, profile, seed, arguments)
        return
    from wheelproof_lab.metamorphic.campaigns import run_recorded
    from wheelproof_lab.metamorphic.corpus import recorded_runs

    # Each history is varied once, so one history is enough.
    arguments.histories = 1
    runs: dict[tuple[str, str], list[Recording]] = {}
    for path in arguments.recorded:
        for recording in recorded_runs(path):
            header = recording.header
            first = definition_of(header.component).profiles[0]
            profile = header.profile if isinstance(header.profile, str) else first
            runs.setdefault((header.component, profile), []).append(recording)
    for component, profile in _pairs(components, arguments.profile):
        varied = runs.get((component, profile), [])
        if varied:
            yield component, profile, (run_recorded(one, profile, seed) for one in varied)


def _pairs(components: tuple[str, ...], profile: str | None) -> list[tuple[str, str]]:
    found = [
        (component, known)
        for component in components
        for known in definition_of(component).profiles
        if profile in (None, known)
    ]
    if not found:
        raise UsageError(f"none of {', '.join(components)} has the profile {profile!r}")
    return found


def _parts(
    component: str, profile: str, seed: int, arguments: argparse.Namespace
) -> "Iterator[Counts]":
    """Yield the counts of parts until enough histories are judged; print the progress."""
    from queue import SimpleQueue

    from wheelproof_lab.metamorphic.campaigns import parts_of, run_driven, run_part
    from wheelproof_lab.processes import pool_of

    parts = parts_of(component, (profile,), seed)
    shown: SimpleQueue[Counts | BaseException] = SimpleQueue()
    done, told, running = 0, time.monotonic(), 1
    with pool_of(arguments.jobs) as pool:

        def submit(work: "Callable[..., Counts]", *given: object) -> None:
            pool.apply_async(work, given, callback=shown.put, error_callback=shown.put)

        submit(run_driven, next(parts), min(arguments.histories, _MOST_OF_A_CASE))
        while running:
            while done < arguments.histories and running <= arguments.jobs:
                submit(run_part, next(parts))
                running += 1
            counts = shown.get()
            if isinstance(counts, BaseException):
                raise counts
            running -= 1
            done += counts.histories
            yield counts
            if time.monotonic() - told > _PROGRESS_S and not arguments.quiet:
                told = time.monotonic()
                print(f"  {component}, {profile}: {done:,} histories", flush=True)


def _check(
    component: str, profile: str, total: "Counts", seconds: float, arguments: argparse.Namespace
) -> CheckResult:
    from wheelproof_lab.metamorphic.campaign import unbroken
    from wheelproof_lab.metamorphic.campaigns import CAMPAIGNS

    disagreements = total.disagreements
    # No clause is broken in histories that somebody else has recorded.
    left = [] if arguments.recorded else unbroken(CAMPAIGNS[component], profile, total)
    verdict = Verdict.PASS if total.histories >= arguments.histories else Verdict.INCONCLUSIVE
    if disagreements or left:
        verdict = Verdict.FAIL
    broken, found = total.injected.total(), total.found.total()
    return CheckResult(
        name=f"{component}, {profile}",
        group="metamorphic",
        verdict=verdict,
        seconds=seconds,
        summary=f"{total.histories:,} histories, {found:,} of {broken:,} broken clauses found, "
        f"{total.answers:,} answers given a fault, "
        f"{len(disagreements):,} disagreements, {seconds:.1f} s",
        details="\n".join(
            (
                *(f"  {clause}: no history was given a fault that breaks it" for clause in left),
                *_stories(disagreements, arguments.keep),
            )
        ),
    )


def _stories(disagreements: "list[Disagreement]", folder: Path) -> Iterator[str]:
    from wheelproof_lab.metamorphic.corpus import kept
    from wheelproof_spec.base.results.reports import write_text

    for number, found in enumerate(disagreements):
        name, text = kept(found, number)
        write_text(folder / name, text)
        if number < _MOST_SHOWN:
            yield f"  {found.variation}: {found.relation.value}"
            yield f"  verdicts  {found.verdicts[0]}; then {found.verdicts[1]}"
            for title, recording in (("before", found.before), ("after", found.after)):
                yield f"  {title}:"
                yield from (f"    {line.decode().rstrip()}" for line in recording.lines())
            yield f"  repeat    python -m wheelproof_lab metamorphic --replay {folder / name}"


def _figures(total: "Counts") -> dict[str, object]:
    return {
        "histories": total.histories,
        "disagreements": len(total.disagreements),
        "answers": total.answers,
        "named": dict(sorted(total.named.items())),
        "variations": dict(sorted(total.variations.items())),
        "clauses": {
            clause: [times, total.found[clause]] for clause, times in sorted(total.injected.items())
        },
    }


def _write_figures(path: Path, seed: int, figures: dict[str, dict[str, object]]) -> None:
    """Write the figures of the campaign; other components and profiles keep theirs in the file."""
    from wheelproof_lab.publish.clauses import read_figures
    from wheelproof_spec.base.results.reports import write_json

    before = read_figures(path)["components"] if path.exists() else {}
    merged = {
        name: {**before.get(name, {}), **figures.get(name, {})} for name in {**before, **figures}
    }
    write_json(path, {"seed": seed, "components": merged})


def _repeat(arguments: argparse.Namespace, components: tuple[str, ...], seed: int) -> str:
    profile = "" if arguments.profile is None else f" --profile {arguments.profile}"
    return (
        f"python -m wheelproof_lab metamorphic {' '.join(components)} "
        f"--histories {arguments.histories} --seed {seed}{profile} --jobs {arguments.jobs}"
    )


def _replay(arguments: argparse.Namespace) -> int:
    from wheelproof_lab.metamorphic.corpus import files_of, replayed

    checks: list[CheckResult] = []
    for path in files_of(arguments.replay):
        agree, words, known = replayed(path)
        right = agree is (known is None)
        summary = words if known is None else f"{words}; known: {known}"
        checks.append(
            CheckResult(
                name=str(path),
                group="metamorphic",
                verdict=Verdict.PASS if right else Verdict.FAIL,
                summary=summary,
            )
        )
    verdict = overall(check.verdict for check in checks)
    lines = [f"{check.name}: {check.verdict.value}, {check.summary}" for check in checks]
    return publish(
        Result(
            verb="metamorphic",
            verdict=verdict,
            checks=checks,
            line=verdict.value,
            text="\n".join([*lines, verdict.value]),
            given={"replay": [str(path) for path in arguments.replay]},
        ),
        arguments,
    )
