"""The settings of a conformance run."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spec.drive.driver.process import USUAL_LIMITS, DriverLimits
from wheelproof_spec.drive.usual import CASES, SEED

FUZZED_CASES = "fuzzed cases"
"""The name under which the fuzzed cases are reported."""
VECTORS = "published vectors"
"""The name under which the vectors are reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformancePlan:
    """What to run: the driver's command, the profile, the number of cases, the first seed.

    `profile` None means the one that the driver declares, or else the component's first one.
    `skip` names a file of known limits, see `read_known_limits`; with `must_fail` each limit must
    still be needed. `vectors` are the files of vectors that are run first.
    With `infer` the profile is the strongest one that the implementation is found to keep.
    With `first_failure` the run ends at the first failure, which is not shrunk.
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

    def repeat(self, component: str, profile: str) -> str:
        """Return the command that repeats the run."""
        words = ["wheelproof", "conform", "--driver", self.driver]
        words += ["--component", component, "--profile", profile]
        words += ["--cases", str(self.cases), "--seed", str(self.seed)]
        if self.skip is not None:
            words += ["--skip", str(self.skip)]
        if self.must_fail:
            words.append("--must-fail")
        for path in self.vectors:
            words += ["--vectors", str(path)]
        return shlex.join(words)
