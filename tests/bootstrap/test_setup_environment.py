"""The virtual environment's stamps, and the environment variables of the jobs."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools import python_environment
from tools.checkout import Checkout, base_environment, job_environment, writable_home
from tools.errors import SetupError
from tools.processes import Job, Outcome

_LOCK = "one=={} --hash=sha256:" + "0" * 64 + "\n"


class _Programs:
    """Stands for Python and pip: notes the calls; the one whose words contain `failing` fails."""

    def __init__(self, checkout: Checkout) -> None:
        self._checkout = checkout
        self.failing = "nothing"
        self.interrupted = False
        self.steps: list[str] = []

    def __call__(
        self, command: Sequence[str], *, directory: Path, environment: dict[str, str]
    ) -> Outcome:
        assert directory == self._checkout.root
        assert environment["PIP_USER"] == "0"
        step = next(
            word for word in ("venv", "--require-hashes", "--editable", "-c") if word in command
        )
        self.steps.append(step)
        if step == "venv":
            self._checkout.python.parent.mkdir(parents=True)
            self._checkout.python.write_text("")
        failed = step == self.failing
        if failed and self.interrupted:
            raise KeyboardInterrupt
        job = Job(name=step, command=command)
        return Outcome(job=job, exit_code=int(failed), output="collecting\nno network\n", seconds=0)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    checkout = Checkout(root=tmp_path)
    checkout.requirements.write_text(_LOCK.format("1.0"))
    checkout.project_file.write_text("[project]\n")
    return checkout


@pytest.fixture
def programs(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> _Programs:
    programs = _Programs(checkout)
    monkeypatch.setattr(python_environment, "run_quiet", programs)
    return programs


def test_it_is_made_once(checkout: Checkout, programs: _Programs) -> None:
    assert not python_environment.is_ready(checkout)
    python_environment.prepare(checkout)
    assert programs.steps == ["venv", "--require-hashes", "--editable", "-c"]
    assert python_environment.is_ready(checkout)


def test_a_changed_lock_makes_it_anew(checkout: Checkout, programs: _Programs) -> None:
    python_environment.prepare(checkout)
    leftover = checkout.virtual_environment / "leftover"
    leftover.write_text("")
    checkout.requirements.write_text(_LOCK.format("1.1"))
    assert not python_environment.is_ready(checkout)
    python_environment.prepare(checkout)
    assert not leftover.exists()
    assert python_environment.is_ready(checkout)
    assert len(programs.steps) == 8


def test_changed_metadata_installs_only_the_project(
    checkout: Checkout, programs: _Programs
) -> None:
    python_environment.prepare(checkout)
    checkout.project_file.write_text("[project]\nname = 'x'\n")
    assert not python_environment.is_ready(checkout)
    python_environment.prepare(checkout)
    assert programs.steps[4:] == ["--editable", "-c"]
    assert python_environment.is_ready(checkout)


def test_a_link_to_the_environment_of_another_checkout_leaves_that_as_it_is(
    checkout: Checkout, programs: _Programs
) -> None:
    python_environment.prepare(checkout)
    theirs = checkout.root / "theirs"
    checkout.virtual_environment.rename(theirs)
    before = sorted(path.name for path in theirs.iterdir())
    checkout.virtual_environment.symlink_to(theirs)
    checkout.requirements.write_text(_LOCK.format("1.1"))
    python_environment.prepare(checkout)
    assert sorted(path.name for path in theirs.iterdir()) == before
    assert not checkout.virtual_environment.is_symlink()
    assert len(programs.steps) == 8


def test_a_missing_interpreter_is_noticed(checkout: Checkout, programs: _Programs) -> None:
    python_environment.prepare(checkout)
    checkout.python.unlink()
    assert not python_environment.is_ready(checkout)
    python_environment.prepare(checkout)
    assert programs.steps[4:] == ["venv", "--require-hashes", "--editable", "-c"]


@pytest.mark.parametrize("step", ["venv", "--require-hashes", "--editable", "-c"])
def test_a_failure_is_one_sentence_and_nothing_is_taken_for_good(
    checkout: Checkout, programs: _Programs, step: str
) -> None:
    programs.failing = step
    with pytest.raises(SetupError) as caught:
        python_environment.prepare(checkout)
    assert "\n" not in str(caught.value)
    assert caught.value.details == "collecting\nno network"
    assert not python_environment.is_ready(checkout)


def test_an_interrupted_set_up_is_begun_anew(checkout: Checkout, programs: _Programs) -> None:
    programs.failing = "--require-hashes"
    programs.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        python_environment.prepare(checkout)
    assert not python_environment.is_ready(checkout)
    programs.failing = "nothing"
    python_environment.prepare(checkout)
    assert programs.steps[2:] == ["venv", "--require-hashes", "--editable", "-c"]


def test_settings_of_the_user_pass_and_misleading_ones_do_not() -> None:
    source = {
        "PIP_INDEX_URL": "registry",
        "HTTPS_PROXY": "proxy",
        "SSL_CERT_FILE": "certificates",
        "PIP_USER": "1",
        "PYTHONPATH": "elsewhere",
        "PYRIGHT_PYTHON_FORCE_VERSION": "latest",
    }
    environment = base_environment(source)
    assert {name: environment[name] for name in source if name in environment} == {
        "PIP_INDEX_URL": "registry",
        "HTTPS_PROXY": "proxy",
        "SSL_CERT_FILE": "certificates",
        "PIP_USER": "0",
    }


def test_jobs_find_the_environment_and_java_first(checkout: Checkout) -> None:
    environment = job_environment(checkout, Path("/opt/java"), {"PATH": "/usr/bin"})
    folders = environment["PATH"].split(os.pathsep)
    assert folders == [str(checkout.root / ".venv" / "bin"), "/opt/java/bin", "/usr/bin"]
    assert environment["JAVA_HOME"] == "/opt/java"


def test_a_home_that_is_absent_or_unnamed_is_none(tmp_path: Path) -> None:
    assert writable_home({"HOME": str(tmp_path)}) == tmp_path.resolve()
    assert writable_home({"HOME": str(tmp_path / "absent")}) is None
    assert writable_home({"HOME": ""}) is None
    assert writable_home({}) is None
