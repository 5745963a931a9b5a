"""Commands of the drivers that the tests start."""

import shlex
import sys
from pathlib import Path

from support.checkout import ROOT

REFERENCE = shlex.join([sys.executable, "-m", "wheelproof_spec.app.reference_driver"])
HEAPQ = shlex.join([sys.executable, str(ROOT / "adapters" / "python-heapq" / "driver.py")])


def bad_driver(behaviour: str, *arguments: str) -> str:
    """Return the command of a driver that misbehaves."""
    script = Path(__file__).with_name("bad_driver.py")
    return shlex.join([sys.executable, str(script), behaviour, *arguments])


def burst_driver(component: str, behaviour: str) -> str:
    """Return the command of a driver of a component whose bursts behave as named."""
    script = Path(__file__).with_name("burst_component.py")
    return shlex.join([sys.executable, str(script), component, behaviour])
