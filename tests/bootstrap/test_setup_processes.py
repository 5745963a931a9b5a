"""Child processes: what they printed, how they ended, and that none is left behind."""

import os
import select
from collections.abc import Sequence
from pathlib import Path

from tools.processes import Job, last_lines, run_quiet, run_together

_PATIENCE_SECONDS = 60


def _shell(script: str, *arguments: str) -> Sequence[str]:
    return ("sh", "-c", script, "sh", *arguments)


def test_output_and_exit_code_are_returned(tmp_path: Path) -> None:
    script = "pwd; echo $KEY >&2; exit 3"
    environment = {"PATH": os.defpath, "KEY": "value"}
    outcome = run_quiet(_shell(script), directory=tmp_path, environment=environment)
    assert outcome.exit_code == 3
    assert outcome.output.splitlines() == [str(tmp_path), "value"]


def test_a_child_killed_by_a_signal_ends_as_in_a_shell(tmp_path: Path) -> None:
    outcome = run_quiet(_shell("kill -9 $$"), directory=tmp_path, environment=dict(os.environ))
    assert outcome.exit_code == 137


def test_all_jobs_run_and_each_is_reported(tmp_path: Path) -> None:
    jobs = [Job(name=str(code), command=_shell(f"exit {code}")) for code in range(5)]
    outcomes = run_together(jobs, limit=2, directory=tmp_path, environment=dict(os.environ))
    assert {one.job.name: one.exit_code for one in outcomes} == {str(n): n for n in range(5)}


def test_jobs_that_are_given_up_leave_no_process(tmp_path: Path) -> None:
    held, started = tmp_path / "held", tmp_path / "started"
    os.mkfifo(held)
    reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    # A child in the background does not hear SIGINT; both hold the pipe for as long as they live.
    endless = 'exec 9>"$1"; tail -f /dev/null & : >"$2"; wait'
    ready = 'until [ -e "$2" ]; do :; done'
    jobs = [
        Job(name="endless", command=_shell(endless, str(held), str(started))),
        Job(name="ready", command=_shell(ready, str(held), str(started))),
    ]
    outcomes = run_together(jobs, limit=2, directory=tmp_path, environment=dict(os.environ))
    try:
        assert next(outcomes).job.name == "ready"
        outcomes.close()
        assert select.select([reader], [], [], _PATIENCE_SECONDS)[0] == [reader]
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)


def test_last_lines_drops_blank_ones() -> None:
    assert last_lines("a\n\nb\n \nc\n", 2) == "b\nc"
    assert last_lines("") == ""
