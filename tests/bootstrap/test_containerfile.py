"""The Containerfile: pinned, without rights, and of commands that there are."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from support.checkout import ROOT

FILE = ROOT / "Containerfile"
_PINNED = re.compile(r"[\w.-]+(?:/[\w.-]+)+:3\.(?P<minor>\d+)\.\d+-[a-z-]+(@sha256:[0-9a-f]{64})?")
"""An image by its registry, with a version of Python to the last number."""
_OURS = ("useradd", "apt-get", "rm", "make")
"""The commands that it may run: those of the base image, and what it has installed."""


def _instructions(text: str) -> list[tuple[str, str]]:
    """Return each instruction with its words; comments are no part of them."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    words = [line.split(maxsplit=1) for line in joined.splitlines() if line.strip()]
    return [(first.upper(), " ".join(rest[0].split())) for first, *rest in words]


def _problems(text: str) -> list[str]:
    """Return what is wrong with a Containerfile."""
    found: list[str] = []
    instructions = _instructions(text)
    images = [rest for name, rest in instructions if name == "FROM"]
    pinned = [_PINNED.fullmatch(image) for image in images]
    if not images or not all(one and int(one["minor"]) >= 11 for one in pinned):
        found.append(f"the base image is not pinned, or too old: {images}")
    names = [name for name, _ in instructions]
    users = [rest for name, rest in instructions if name == "USER"]
    if not users or users[-1].split(":")[0] in ("root", "0"):
        found.append("the job runs as root")
    elif "COPY" in names and names.index("USER") > names.index("COPY"):
        found.append("what is copied belongs to root")
    commands = [part for name, rest in instructions if name == "RUN" for part in rest.split("&&")]
    commands += [" ".join(json.loads(rest)) for name, rest in instructions if name == "CMD"]
    targets = re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[
        0
    ].split()
    for command in commands:
        program, *words = command.split()
        if program not in _OURS:
            found.append(f"nobody has installed {program}")
        elif program == "make" and not set(words) <= set(targets):
            found.append(f"the Makefile has no target of {command.strip()!r}")
    if names[-1:] != ["CMD"]:
        found.append("it does not say at the end what it runs")
    return found


def test_the_containerfile_is_pinned_and_runs_as_a_user_what_there_is() -> None:
    assert _problems(FILE.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("python:3.11.9-slim-bookworm", "python:latest", "not pinned"),
        ("python:3.11.9-", "python:3.10.9-", "too old"),
        ("USER wheelproof\n", "", "runs as root"),
        ("USER wheelproof\n", "USER root\n", "runs as root"),
        ('"run"]', '"runs"]', "no target"),
        ("make setup", "yarn install", "nobody has installed yarn"),
        ('CMD ["make", "run"]\n', "", "at the end"),
    ],
)
def test_what_is_wrong_is_found(old: str, new: str, problem: str) -> None:
    text = FILE.read_text(encoding="utf-8")
    assert old in text
    assert problem in " ".join(_problems(text.replace(old, new)))


def test_it_installs_the_packages_that_a_set_up_would() -> None:
    packages = tomllib.loads((ROOT / "tools" / "packages.toml").read_text(encoding="utf-8"))
    text = FILE.read_text(encoding="utf-8")
    for need in ("JAVA", "MAVEN"):
        best = packages["apt-get"][need][0].format(java=17)
        assert f" {best} " in text


def test_what_a_machine_made_for_itself_stays_outside() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {".venv*", "build", "out"} <= set(ignored)


@pytest.mark.slow
@pytest.mark.long
def test_a_builder_builds_it(tmp_path: Path) -> None:
    builder = _builder()
    if builder is None:
        pytest.skip("there is no podman, and no docker that answers: the file was linted alone")
    command = [builder, "build", "--file", str(FILE), "--tag", "wheelproof-test", str(ROOT)]
    log = tmp_path / "log"
    with log.open("wb") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, log.read_text(encoding="utf-8", errors="replace")[-2_000:]


def _builder() -> str | None:
    """Return a program that builds images here, and not one that is only installed."""
    for name in ("podman", "docker"):
        program = shutil.which(name, path=os.environ.get("PATH"))
        if program is not None:
            answer = subprocess.run([program, "info"], capture_output=True, check=False)
            if answer.returncode == 0:
                return program
    return None
