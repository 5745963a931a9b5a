"""A group of processes: what it uses, and its end.

A program under test is started as the leader of a session of its own, so that all that it starts
can be found and ended with it.
"""

import os
import signal
import subprocess
from pathlib import Path

_PROCESSES = Path("/proc")
_MEBIBYTE = 1024 * 1024


def memory_mb(group: int) -> int:
    """Return the resident memory of the group in MiB; 0 where the system does not tell."""
    if not _PROCESSES.is_dir():
        return 0
    page_size = os.sysconf("SC_PAGE_SIZE")
    pages = sum(_resident_pages(process, group) for process in _PROCESSES.glob("[0-9]*"))
    return pages * page_size // _MEBIBYTE


def end(process: "subprocess.Popen[bytes]", grace_s: float) -> None:
    """End the whole group of `process`, by force after `grace_s` seconds."""
    try:
        _send(process.pid, signal.SIGTERM)
        process.wait(grace_s)
    except subprocess.TimeoutExpired:
        pass
    finally:
        # Also after a clean end of the leader: it may have left others behind.
        _send(process.pid, signal.SIGKILL)
        process.wait()


def _send(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        # Nobody is left, or (on macOS) nobody but a process that has ended already.
        return


def _resident_pages(process: Path, group: int) -> int:
    try:
        # The program's name stands in brackets and may contain anything, brackets included.
        fields = (process / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0
    return int(fields[21]) if int(fields[2]) == group else 0
