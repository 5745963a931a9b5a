"""The settings of a conformance run, and the case that they may name."""

import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.component import Request
from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.base.port import Asked
from wheelproof_spec.base.strict_json import MalformedError, text
from wheelproof_spec.drive.driver.counting import starts_a_case
from wheelproof_spec.drive.driver.messages import parse_request
from wheelproof_spec.drive.driver.process import USUAL_LIMITS, DriverLimits
from wheelproof_spec.drive.usual import CASES, SEED

FUZZED_CASES = "fuzzed cases"
"""The name under which the fuzzed cases are reported."""
OVERLAPPING = "overlapping calls"
"""The name under which the bursts are reported."""
VECTORS = "published vectors"
"""The name under which the vectors are reported."""
STANDARD_INPUT = Path("-")
"""The name of the case whose lines come from standard input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformancePlan:
    """What to run: the driver's command, the profile, the number of cases, the first seed.

    `profile` None means the one that the driver declares, or else the component's first one.
    `skip` names a file of known limits, see `read_known_limits`; with `must_fail` each limit must
    still be needed. `vectors` are the files of vectors that are run first.
    With `infer` the profile is the strongest one that the implementation is found to keep.
    With `first_failure` the run ends at the first failure, which is not shrunk.
    With `case` the calls of that file are all that is driven, and nothing is shrunk.
    `jobs` processes of the driver work at once, which changes nothing but the time.
    """

    driver: str
    profile: str | None = None
    cases: int = CASES
    seed: int = SEED
    limits: DriverLimits = USUAL_LIMITS
    skip: Path | None = None
    must_fail: bool = False
    vectors: tuple[Path, ...] = ()
    infer: bool = False
    first_failure: bool = False
    case: Path | None = None
    jobs: int = 1

    def repeat(self, component: str, profile: str) -> str:
        """Return the command that repeats the run."""
        words = self._words(component, profile)
        if self.case is not None:
            return shlex.join([*words, "--case", str(self.case)])
        words += ["--cases", str(self.cases), "--seed", str(self.seed)]
        if self.must_fail:
            words.append("--must-fail")
        for path in self.vectors:
            words += ["--vectors", str(path)]
        return shlex.join(words)

    def repeat_case(self, component: str, profile: str, lines: Sequence[str]) -> str:
        """Return the command that repeats the case whose requests are `lines`."""
        requests = shlex.join(("printf", r"%s\n", *lines))
        words = shlex.join([*self._words(component, profile), "--case", str(STANDARD_INPUT)])
        return f"{requests} | {words}"

    def _words(self, component: str, profile: str) -> list[str]:
        words = ["wheelproof", "conform", "--driver", self.driver]
        words += ["--component", component, "--profile", profile]
        if self.skip is not None:
            words += ["--skip", str(self.skip)]
        return words


def read_case(path: Path, wire: DrivenWire[Request, object]) -> tuple[Asked[Request], ...]:
    """Return the calls of a case; the ids of its requests do not matter, empty lines are left out.

    Raises InputRejectedError, also for a case that does not begin with a reset.
    """
    remedy = "give the requests of one case, a line each, as a failure shows them"
    calls: list[Asked[Request]] = []
    for number, line in enumerate(_lines(path, remedy), start=1):
        if not line.strip():
            continue
        try:
            _, operation, content = parse_request(line.strip())
            caller = text(content, "caller") if "caller" in content else ""
            content = {name: value for name, value in content.items() if name != "caller"}
            call = wire.parse_call(operation, content)
        except MalformedError as error:
            raise InputRejectedError(str(path), number, f"the line {error}", remedy) from error
        if not calls and not starts_a_case(call):
            problem = "the case does not begin with a reset"
            raise InputRejectedError(str(path), number, problem, remedy)
        calls.append(Asked(call, caller))
    if not calls:
        raise InputRejectedError(str(path), None, "there is no request", remedy)
    return tuple(calls)


def _lines(path: Path, remedy: str) -> Iterable[bytes]:
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read().splitlines()
    try:
        return path.read_bytes().splitlines()
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise InputRejectedError(str(path), None, problem, remedy) from error
