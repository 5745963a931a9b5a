"""What is published: built, well described, and at work in an empty environment."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from packaging.metadata import Metadata
from trove_classifiers import classifiers

from hatch_build import described
from support.checkout import ROOT
from wheelproof_spec.base.needs import EXTRAS
from wheelproof_spec.drive.usual import template

_PRODUCTS = ("wheelproof", "wheelproof_explore", "wheelproof_spec", "wheelproof_spark")
"""What a wheel holds: no laboratory, no tests, no tools."""
_LABORATORY = re.compile(
    r"required_checkout\(|import wheelproof_lab|from wheelproof_lab|bring_back"
)
"""What only a clone can do, or only the laboratory does."""
_USE_THE_ORACLE = """
from importlib.metadata import distributions

from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.components.timer.model import HeapTimer
from wheelproof_spec.base.resources import tla_directory

timer = HeapTimer(tick_ms=10, start_ms=0, contract=KAFKA)
timer.add("a", 29)
assert timer.advance(20, ran=["a"]) is None
violation = timer.advance(20, ran=["a"])
assert violation is not None
print(violation.rule)
print(*sorted(one.metadata["Name"] for one in distributions()))
print((tla_directory() / "manifest.toml").read_text().splitlines()[0])
"""


def _run(command: Sequence[str | Path], home: Path) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=home,
        env=_environment(home),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _environment(home: Path) -> Mapping[str, str]:
    return {"HOME": str(home), "PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"}


def _build(source: Path, folder: Path, *targets: str) -> Path:
    """Build what the targets name into the folder, and return the wheel."""
    _run([sys.executable, "-m", "hatchling", "build", *targets, "-d", folder], source)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    _build(ROOT, folder)
    return folder


@pytest.mark.slow
def test_the_source_distribution_makes_the_same_wheel(built: Path, tmp_path: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    again = _build(next(tmp_path.glob("wheelproof-*")), tmp_path / "again", "-t", "wheel")
    assert _contents(again) == _contents(next(built.glob("*.whl")))


@pytest.mark.slow
def test_the_wheel_has_good_metadata_types_and_data(built: Path) -> None:
    contents = _contents(next(built.glob("*.whl")))
    (text,) = (content for name, content in contents.items() if name.endswith("/METADATA"))
    # This is what an index looks at before it takes a file.
    metadata = Metadata.from_email(text)
    assert metadata.description_content_type == "text/markdown"
    # An index has no files beside README, and the project has no public address yet.
    assert metadata.description is not None
    assert metadata.description.startswith("# wheelproof")
    assert re.findall(r"\]\((?!http|#)", metadata.description) == []
    assert metadata.project_urls is None
    assert set(metadata.classifiers or ()) <= classifiers
    extras = {extra.name for extra in EXTRAS}
    assert set(metadata.provides_extra or ()) == extras
    for package in _PRODUCTS:
        assert f"{package}/py.typed" in contents
    tops = {name.partition("/")[0] for name in contents}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(_PRODUCTS)
    assert "wheelproof_spec/_data/vectors/timer-corners.jsonl" in contents
    assert "wheelproof_spec/_data/step.html" in contents
    assert "wheelproof_spec/app/pages/templates/check.html.jinja" in contents


def test_links_of_the_description_lead_into_the_repository_if_it_is_known() -> None:
    text = "![seen](docs/a.svg) [read](docs/a.md#b) [out](https://kafka.example/x) [here](#more)"
    outside = "[out](https://kafka.example/x) [here](#more)"
    assert described(text, "") == f" read {outside}"
    forge = "https://forge.example/us/it"
    seen = f"![seen]({forge}/raw/main/docs/a.svg) [read]({forge}/blob/main/docs/a.md#b)"
    assert described(text, forge) == f"{seen} {outside}"


@pytest.mark.slow
def test_the_wheel_has_nothing_of_the_laboratory(built: Path) -> None:
    contents = _contents(next(built.glob("*.whl")))
    modules = {name: text.decode() for name, text in contents.items() if name.endswith(".py")}
    assert len(modules) > 300
    found = [name for name, text in modules.items() if _LABORATORY.search(text)]
    assert found == []
    # The door names the laboratory to look for it; the others name it in a text, or as a package
    # that is never patched.
    named = [name for name, text in modules.items() if "wheelproof_lab" in text]
    assert sorted(named) == [
        "wheelproof_explore/patched/search.py",
        "wheelproof_spec/app/laboratory.py",
        "wheelproof_spec/app/program.py",
        "wheelproof_spec/drive/vector_files.py",
    ]


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(built: Path, tmp_path: Path) -> None:
    empty, wheel = tmp_path / "empty", next(built.glob("*.whl"))
    venv.create(empty, with_pip=False)
    python = empty / "bin" / "python"
    install = ("install", "--no-index", "--no-deps", "--no-compile", wheel)
    _run([sys.executable, "-m", "pip", "--python", python, *install], tmp_path)

    usage = _run([empty / "bin" / "wheelproof", "--help"], tmp_path)
    assert usage.startswith("usage: wheelproof")
    vectors = _run([empty / "bin" / "wheelproof", "vectors", "verify"], tmp_path)
    assert "PASS" in vectors
    # Whoever has the package alone can judge a timer: docs/judge-your-implementation.md.
    conform = (empty / "bin" / "wheelproof", "conform")
    adapter = tmp_path / "adapter.py"
    adapter.write_text(_run([*conform, "--template", "python"], tmp_path), encoding="utf-8")
    driver = ("--driver", shlex.join([str(python), str(adapter)]), "--cases", "10")
    assert "PASS: timer of my-timer" in _run([*conform, *driver], tmp_path)

    # What is in the laboratory says how to get a clone.
    for words in (["explore", "bug/test-then-submit"], ["fuzz", "timer", "--bug", "KAFKA-2226"]):
        refused = subprocess.run(
            [empty / "bin" / "wheelproof", *words],
            cwd=tmp_path,
            env=_environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )
        assert refused.returncode == 2, refused.stderr
        assert "make setup" in refused.stderr or "pip install" in refused.stderr

    rule, installed, manifest = _run([python, "-I", "-c", _USE_THE_ORACLE], tmp_path).splitlines()
    assert rule == "Timer.RunsAtMostOncePerAdd"
    assert installed == "wheelproof"
    assert manifest


@pytest.mark.slow
def test_the_first_example_of_the_readme_works_once_installed(built: Path, tmp_path: Path) -> None:
    """What README types first, typed in a fresh environment: greenlet and our wheel, no more."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"^```console\n\$ (wheelproof explore .+)\n(.+)\n", text, re.MULTILINE)
    assert shown is not None
    command, first_line = shown[1], shown[2]
    fresh = tmp_path / "fresh"
    venv.create(fresh, with_pip=False)
    greenlet = importlib.util.find_spec("greenlet")
    assert greenlet is not None
    packages = Path(str(greenlet.origin)).parents[1]
    installed = next(fresh.glob("lib/python3*/site-packages"))
    for part in [*packages.glob("greenlet*")]:
        shutil.copytree(part, installed / part.name)
    wheel = next(built.glob("*.whl"))
    install = ("install", "--no-index", "--no-deps", "--no-compile", wheel)
    _run([sys.executable, "-m", "pip", "--python", fresh / "bin" / "python", *install], tmp_path)
    done = subprocess.run(
        [fresh / "bin" / "wheelproof", *shlex.split(command)[1:]],
        cwd=tmp_path,
        env=_environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == first_line


@pytest.mark.slow
def test_the_lines_of_the_readme_that_judge_work_once_installed(
    built: Path, tmp_path: Path
) -> None:
    """The second use: an adapter is printed and driven, in a fresh environment."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(
        r"^pip install \.\n(wheelproof conform .+)\n(wheelproof .+)\n", text, re.MULTILINE
    )
    assert shown is not None
    fresh = tmp_path / "fresh"
    venv.create(fresh, with_pip=False)
    install = ("install", "--no-index", "--no-deps", "--no-compile", next(built.glob("*.whl")))
    _run([sys.executable, "-m", "pip", "--python", fresh / "bin" / "python", *install], tmp_path)
    environment = {**_environment(tmp_path), "PATH": f"{fresh / 'bin'}:{os.defpath}"}
    done = [
        subprocess.run(
            ["sh", "-ec", command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        for command in shown.groups()
    ]
    assert [(one.returncode, one.stderr) for one in done] == [(0, ""), (1, "")]
    assert "Timer.NeverBeforeItIsDue is broken" in done[1].stdout


WORKFLOW = ROOT / "docs" / "examples" / "wheelproof.yml"
ROUNDED = "// self.tick_ms * self.tick_ms"


@pytest.mark.slow
@pytest.mark.long
def test_the_workflow_of_a_port_runs_in_an_empty_environment(built: Path, tmp_path: Path) -> None:
    """The steps run as they are in the file; the one that drives fails if the timer is late."""
    text = WORKFLOW.read_text(encoding="utf-8")
    install, drive, check = re.findall(r"^      - run: (.+)$", text, re.MULTILINE)
    given = dict(re.findall(r"^  ([A-Z]+): (.+)$", text, re.MULTILINE))
    assert set(given) == {"WHEELPROOF", "DRIVER", "PROFILE"}
    venv.create(tmp_path / "venv", with_pip=True)
    adapter = tmp_path / "wheelproof" / "adapter.py"
    adapter.parent.mkdir()
    adapter.write_text(template("python", "timer"), encoding="utf-8")
    recorder = template("recorder", "timer")
    (adapter.parent / "recorder.py").write_text(recorder, encoding="utf-8")
    path = f"{tmp_path / 'venv' / 'bin'}:{os.defpath}"
    environment = {**_environment(tmp_path), **given, "PATH": path}
    environment["WHEELPROOF"] = str(next(built.glob("*.whl")))

    def code(step: str) -> int:
        words = ["sh", "-ec", step]
        return subprocess.run(words, cwd=tmp_path, env=environment, check=False).returncode

    assert [code(install), code(drive), code(check)] == [0, 0, 0]
    right, report = adapter.read_text(encoding="utf-8"), tmp_path / "wheelproof.xml"
    assert "<failure" not in report.read_text(encoding="utf-8")
    assert ROUNDED in right
    adapter.write_text(right.replace(ROUNDED, f"{ROUNDED} + 1"), encoding="utf-8")
    assert code(drive) == 1
    assert "<failure" in report.read_text(encoding="utf-8")
