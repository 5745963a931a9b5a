"""The machine of the measurements: a figure means nothing without it."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

_CPU_INFO = Path("/proc/cpuinfo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine; `load` is the mean number of runnable programs over the last minute."""

    cpu: str
    cores: int
    python: str
    system: str
    load: float


def this_machine() -> Machine:
    """Describe the machine that this runs on."""
    return Machine(
        cpu=_cpu(),
        cores=os.cpu_count() or 1,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        system=platform.platform(),
        load=round(os.getloadavg()[0], 2),
    )


def _cpu() -> str:
    if _CPU_INFO.is_file():
        for line in _CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
