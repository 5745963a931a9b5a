"""The verb `wheelproof mutate`: small changes of the reference, and which engine sees each."""

import argparse
import os
import random
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast

import wheelproof
from wheelproof_spec.app.detecting.child import command, digest_of_all
from wheelproof_spec.app.verbs import VERBS
from wheelproof_spec.app.verbs.declaring import Verbs, add_arguments
from wheelproof_spec.base.arguments import unknown
from wheelproof_spec.base.codec.tables import read_table
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.terminal import progress
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict, overall
from wheelproof_spec.engines.detect.cells import SEEN, Cell, Outcome
from wheelproof_spec.engines.detect.children import run_chains
from wheelproof_spec.engines.detect.mutants import Mutant, mutants_of

_COMPONENTS = {
    "wheelproof.timer.": "timer",
    "wheelproof.purgatory.": "purgatory",
    "wheelproof.replication.": "replication",
    "wheelproof.producer.buffer_pool": "buffer_pool",
    "wheelproof.producer.byte_buffer": "buffer_pool",
    "wheelproof.producer.pool": "buffer_pool",
    "wheelproof.producer.wait_time": "buffer_pool",
    "wheelproof.producer.": "accumulator",
}
"""Who is asked about the mutants of a module: the first that its name begins with.

The runtime of `wheelproof.sync` is replaced by most engines, and has tests of its own.
"""
CHAIN = (
    "driven",
    "model checker",
    "fuzz, one thread",
    "recorded",
    "fuzz, real threads",
    "fuzz, controlled threads",
    "state graph",
    "contracts",
    "tests",
)
"""The engines, in the order in which they look; what the tests alone see, no engine sees."""


def register(verbs: Verbs) -> None:
    """Declare the verb and its arguments."""
    parser = verbs.add("mutate", VERBS["mutate"], run, writes=("results",))
    add_arguments(parser, "mutate")


def run(arguments: argparse.Namespace) -> int:
    """Run the chains; it passes if whatever survives is in the ledger, with a reason."""
    seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
    mutants = _chosen(arguments, seed)
    if arguments.list:
        for mutant in mutants.values():
            print(f"{mutant.id}: line {mutant.line}: {mutant.becomes}")
        return 0
    if not arguments.quiet:
        print(f"{len(mutants)} mutants, seed {seed}", flush=True)
    digest = digest_of_all()
    chains = [[*_chain(mutant, arguments.seconds, digest)] for mutant in mutants]
    with progress(quiet=arguments.quiet, first_s=0) as line:
        outcomes = run_chains(
            chains,
            command,
            jobs=arguments.jobs or os.cpu_count() or 1,
            results=arguments.results,
            tell=lambda one, left: line.tell(f"{left} mutants left; {one.told()}"),
        )
    checks = [*_judged(mutants, outcomes)]
    verdict = overall(check.verdict for check in checks)
    summary = _summary(outcomes, checks)
    result = Result(
        verb="mutate",
        verdict=verdict,
        checks=checks,
        line=f"{verdict.value}: {summary}",
        text="\n".join(
            (*_lines(checks), *_killers(mutants, outcomes), f"{verdict.value}: {summary}")
        ),
        given={"seed": seed, "mutants": len(mutants), "seconds": arguments.seconds},
    )
    return publish(result, arguments)


def _chosen(arguments: argparse.Namespace, seed: int) -> Mapping[str, Mutant]:
    patterns: Sequence[str] = arguments.patterns or ("*",)
    root = Path(str(wheelproof.__file__)).parent
    found: dict[str, Mutant] = {}
    for path in sorted(root.rglob("*.py")):
        module = ".".join(path.relative_to(root.parent).with_suffix("").parts)
        if _component_of(module) is not None:
            for mutant in mutants_of(module, path.read_text(encoding="utf-8")):
                if any(fnmatchcase(mutant.id, pattern) for pattern in patterns):
                    found[mutant.id] = mutant
    if not found:
        raise UsageError(unknown("MUTANT", patterns[0], [*_COMPONENTS]))
    if arguments.all or arguments.patterns or arguments.sample >= len(found):
        return found
    drawn = {*random.Random(seed).sample([*found], arguments.sample)}
    return {name: mutant for name, mutant in found.items() if name in drawn}


def _component_of(name: str) -> str | None:
    found = (component for start, component in _COMPONENTS.items() if name.startswith(start))
    return next(found, None)


def _chain(mutant: str, seconds: int, digest: str) -> Iterator[Cell]:
    for engine in CHAIN:
        yield Cell(
            subject=mutant,
            component=_component_of(mutant) or "",
            engine=engine,
            seconds=seconds,
            seed=1,
            digest=digest,
        )


def _judged(
    mutants: Mapping[str, Mutant], outcomes: Iterable[Sequence[Outcome]]
) -> Iterator[CheckResult]:
    """Yield a check for each mutant: killed, or in the ledger, or a hole."""
    ledger = cast(Mapping[str, Mapping[str, str]], read_table(__file__, "survivors.toml"))
    for name, chain in zip(mutants, outcomes, strict=True):
        last = chain[-1]
        killed = last.found.end in SEEN
        why = ledger.get(name, {}).get("equivalent", "")
        verdict = Verdict.PASS if killed or why else Verdict.FAIL
        if killed:
            summary = f"killed by {last.cell.engine}, {last.found.end.value}"
        else:
            summary = f"equivalent: {why}" if why else "survives"
        yield CheckResult(
            name=name,
            group="mutate",
            verdict=verdict,
            seconds=sum(one.milliseconds for one in chain) / 1_000,
            summary=summary,
            details=f"line {mutants[name].line}: {mutants[name].becomes}",
        )


def _lines(checks: Iterable[CheckResult]) -> Iterator[str]:
    for check in checks:
        if "killed" not in check.summary or "by tests" in check.summary:
            yield f"{check.name}: {check.summary}\n    {check.details}"


def _killers(mutants: Mapping[str, Mutant], outcomes: Iterable[Sequence[Outcome]]) -> Iterator[str]:
    """Yield how many mutants of each operator there were, and who killed how many."""
    by_operator: dict[str, Counter[str]] = {}
    for mutant, chain in zip(mutants.values(), outcomes, strict=True):
        killer = chain[-1].cell.engine if chain[-1].found.end in SEEN else "nobody"
        by_operator.setdefault(mutant.operator, Counter())[killer] += 1
    for operator, killers in sorted(by_operator.items()):
        told = ", ".join(f"{engine} {count}" for engine, count in killers.most_common())
        yield f"{operator}: {killers.total()}: {told}"


def _summary(outcomes: Sequence[Sequence[Outcome]], checks: Sequence[CheckResult]) -> str:
    killed = [chain[-1] for chain in outcomes if chain[-1].found.end in SEEN]
    by_tests = sum(one.cell.engine == "tests" for one in killed)
    alive = sum(check.verdict is Verdict.FAIL for check in checks)
    equivalent = len(checks) - len(killed) - alive
    share = 100 * len(killed) / max(1, len(checks) - equivalent)
    return (
        f"{len(killed)} of {len(checks)} killed, {by_tests} of them by tests alone; "
        f"{equivalent} equivalent, {alive} survive ({share:.1f} %)"
    )
