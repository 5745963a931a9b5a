"""Running the adapters that are shipped."""

import shlex
import sys
from pathlib import Path

from support.checkout import ROOT
from wheelproof_spec.components import registry
from wheelproof_spec.drive import conformance
from wheelproof_spec.drive.plan import ConformancePlan
from wheelproof_spec.drive.result import ConformanceResult

ADAPTERS = ROOT / "adapters"
HEAPQ = ADAPTERS / "python-heapq" / "driver.py"
KAFKA = ADAPTERS / "kafka-java"
NETTY = ADAPTERS / "netty-java"


def python(script: Path) -> str:
    """Return the command that starts `script`, isolated from this project."""
    return shlex.join([sys.executable, "-I", str(script)])


def conform(
    driver: str,
    cases: int,
    skip: Path | None = None,
    profile: str | None = None,
    component: str = "timer",
    *,
    must_fail: bool = False,
) -> ConformanceResult:
    """Drive a component of `driver`, under its usual profile if no other is named."""
    plan = ConformancePlan(
        driver=driver, profile=profile, cases=cases, seed=1, skip=skip, must_fail=must_fail
    )
    return conformance.conform(registry.suites()[component], plan)
