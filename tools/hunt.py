"""The hunt: the campaigns of the tests, again and again, each time with a fresh seed.

A campaign is a test function that draws at random. The tests run it with a fixed seed, so that they
always say the same; here it gets a seed that nobody has tried, and often a larger size.
"""

import os
import random
import re
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path

from tools.checkout import Checkout
from tools.errors import SetupError
from tools.processes import Job, Outcome, last_lines, run_quiet, run_together
from tools.pythons import FOLDERS

MARKS = "campaign or hunt or hypothesis"
SEEDS = 2**32
"""The number of seeds; Python's own for hashes must be smaller."""
_NO_TESTS = 5
_LINES_OF_A_FAILURE = 40
_NAMED = re.compile(r"^(?:FAILED|ERROR) (\S+?::.+?)(?: - .*)?$", re.MULTILINE)


def hunt(
    checkout: Checkout,
    environment: Mapping[str, str],
    minutes: float,
    seeds: Iterator[int] | None = None,
    pythons: Sequence[Path] = (),
) -> int:
    """Run campaigns until the time is over; return 1 if one of them has found something, else 0.

    The hunt also ends with the last of `seeds`; without them it draws its own. A campaign that has
    to pass on every Python runs on one of `pythons` or on the checkout's own.

    A seed is printed before its campaign runs. A failure is printed with the command that repeats
    it. What still runs when the time is over is ended, and counts as nothing.
    """
    until = time.monotonic() + 60 * minutes
    campaigns = campaigns_of(checkout, environment)
    print(f"hunting for {minutes:g} minutes: {len(campaigns)} campaigns in rounds", flush=True)
    outcomes = run_together(
        _rounds(campaigns, (checkout.python, *pythons), seeds or _fresh(), until),
        limit=os.cpu_count() or 1,
        directory=checkout.root,
        environment=environment,
        until=until,
    )
    found: list[str] = []
    ended = 0
    with closing(outcomes):
        for outcome in outcomes:
            ended += 1
            if outcome.exit_code in (0, _NO_TESTS):
                print(f"pass  {outcome.seconds:5.1f} s  {outcome.job.name}", flush=True)
                continue
            found.append(repeat_of(outcome))
            print(last_lines(outcome.output, _LINES_OF_A_FAILURE))
            print(f"FAIL  {outcome.seconds:5.1f} s  {outcome.job.name}")
            print(f"  repeat    {found[-1]}", flush=True)
    print(f"{ended} campaigns have run, {len(found)} have found something")
    for command in found:
        print(f"  repeat    {command}")
    return int(bool(found))


def campaigns_of(checkout: Checkout, environment: Mapping[str, str]) -> list[str]:
    """Return the test functions that are campaigns; raise `SetupError` if there are none."""
    words = (str(checkout.python), "-m", "pytest", "--collect-only", "-q", "-m", MARKS)
    collected = run_quiet(words, directory=checkout.root, environment=environment)
    lines = collected.output.splitlines() if collected.exit_code == 0 else []
    names = dict.fromkeys(line.partition("[")[0] for line in lines if "::" in line)
    if not names:
        raise SetupError("no campaign was found", last_lines(collected.output))
    return list(names)


def command_of(python: Path, campaign: str, seed: int) -> Sequence[str]:
    """Return the command that runs a campaign, or one test of it, with a seed."""
    settings = (f"WHEELPROOF_SEED={seed}", f"PYTHONHASHSEED={seed}")
    chosen = ("-m", MARKS, f"--hypothesis-seed={seed}")
    return ("env", *settings, str(python), "-m", "pytest", "-q", "-x", *chosen, campaign)


def repeat_of(outcome: Outcome) -> str:
    """Return the command that repeats a failure: of the test that failed, if pytest names it."""
    named = _NAMED.search(outcome.output)
    campaign = outcome.job.command[-1]
    return shlex.join([*outcome.job.command[:-1], named[1] if named else campaign])


def _fresh() -> Iterator[int]:
    while True:
        yield random.SystemRandom().randrange(SEEDS)


def _rounds(
    campaigns: Sequence[str], pythons: Sequence[Path], seeds: Iterator[int], until: float
) -> Iterator[Job]:
    """Yield campaigns, all of them in each round, in another order each time."""
    for number in count(1):
        for campaign in random.SystemRandom().sample(campaigns, len(campaigns)):
            seed = next(seeds, None)
            if seed is None or time.monotonic() >= until:
                return
            everywhere = campaign.startswith(FOLDERS)
            python = pythons[seed % len(pythons)] if everywhere else pythons[0]
            on = "" if python == pythons[0] else f" on {python.parent.parent.name}"
            print(f"round {number}, seed {seed}: {campaign}{on}", flush=True)
            name = f"seed {seed}: {campaign}{on}"
            yield Job(name=name, command=command_of(python, campaign, seed))
