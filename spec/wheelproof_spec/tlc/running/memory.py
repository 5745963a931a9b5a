"""How many models can run on this computer at the same time."""

import os
from collections.abc import Iterable
from pathlib import Path

MEBIBYTE = 1024 * 1024
_OVERHEAD_OF_JVM = 256 * MEBIBYTE
_SHARE = 0.8
_UNLIMITED = "max"
_CGROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")


def available_memory() -> int:
    """Return the free memory in bytes, within the limit of a container."""
    return min(_free_in_cgroup(), _free_on_machine())


def job_count(heap_bytes: int, cores: int, memory: int) -> int:
    """Return how many JVMs with `heap_bytes` each can run side by side; at least one."""
    return max(1, min(cores, int(memory * _SHARE) // (heap_bytes + _OVERHEAD_OF_JVM)))


def usable_cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _free_on_machine() -> int:
    for line in _read_lines(_MEMINFO):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _free_in_cgroup() -> int:
    limit = next(iter(_read_lines(_CGROUP / "memory.max")), _UNLIMITED)
    used = next(iter(_read_lines(_CGROUP / "memory.current")), "0")
    return int(limit) - int(used) if limit != _UNLIMITED else _free_on_machine()


def _read_lines(path: Path) -> Iterable[str]:
    try:
        return path.read_text(encoding="ascii").splitlines()
    except OSError:
        return []
