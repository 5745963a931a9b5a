"""When an adapter is built again, and the proxy that Maven is told of."""

from collections.abc import Generator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools import maven
from tools.checkout import Checkout
from tools.errors import SetupError
from tools.java import Java
from tools.processes import Job, Outcome

_JAVA = Java(home=Path("/opt/java"), release=17)


class _Maven:
    """Stands for the program: notes its calls and ends with `exit_code`."""

    def __init__(self) -> None:
        self.exit_code = self.alone = 0
        self.commands: list[list[str]] = []

    def __call__(
        self, jobs: list[Job], *, limit: int, directory: Path, environment: dict[str, str]
    ) -> Generator[Outcome]:
        assert environment["JAVA_HOME"] == str(_JAVA.home)
        for job in jobs:
            assert (directory / job.command[-1]).is_file()
            self.commands.append(list(job.command))
            code = self.exit_code if limit > 1 else self.alone
            yield Outcome(job=job, exit_code=code, output="A\n\nERROR\n", seconds=0)


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> _Maven:
    program = _Maven()
    monkeypatch.setattr(maven, "run_together", program)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    return program


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    adapter = tmp_path / "adapters" / "some-java"
    (adapter / "src").mkdir(parents=True)
    (adapter / "src" / "A.java").write_text("class A {}")
    (adapter / "pom.xml").write_text("<project/>")
    (tmp_path / "adapters" / "in-python").mkdir()
    return adapter


def test_an_adapter_is_built_once_until_its_sources_or_java_change(
    adapter: Path, program: _Maven
) -> None:
    checkout = Checkout(root=adapter.parent.parent)
    assert maven.unbuilt_adapters(checkout, _JAVA) == [adapter]
    maven.build(checkout, [adapter], Path("mvn"), _JAVA)
    assert len(program.commands) == 1
    assert program.commands[0][-3:] == ["package", "-f", "adapters/some-java/pom.xml"]
    assert maven.unbuilt_adapters(checkout, _JAVA) == []
    assert maven.unbuilt_adapters(checkout, Java(home=_JAVA.home, release=25)) == [adapter]
    (adapter / "src" / "A.java").write_text("class A { }")
    assert maven.unbuilt_adapters(checkout, _JAVA) == [adapter]


def test_an_adapter_is_built_again_when_what_adapters_share_changes(
    adapter: Path, program: _Maven
) -> None:
    shared = adapter.parent / "shared-java" / "src" / "B.java"
    shared.parent.mkdir(parents=True)
    shared.write_text("class B {}")
    checkout = Checkout(root=adapter.parent.parent)
    maven.build(checkout, [adapter], Path("mvn"), _JAVA)
    assert maven.unbuilt_adapters(checkout, _JAVA) == []
    shared.write_text("class B { }")
    assert maven.unbuilt_adapters(checkout, _JAVA) == [adapter]
    assert len(program.commands) == 1


def test_a_failed_build_says_why_and_is_not_taken_for_good(adapter: Path, program: _Maven) -> None:
    checkout = Checkout(root=adapter.parent.parent)
    maven.build(checkout, [adapter], Path("mvn"), _JAVA)
    program.exit_code = 1
    with pytest.raises(SetupError, match="adapters/some-java could not be built") as caught:
        maven.build(checkout, [adapter], Path("mvn"), _JAVA)
    assert caught.value.details == "A\nERROR"
    assert maven.unbuilt_adapters(checkout, _JAVA) == [adapter]


def test_what_fails_beside_others_is_tried_again_alone(
    adapter: Path, program: _Maven, capsys: pytest.CaptureFixture[str]
) -> None:
    second = adapter.with_name("other-java")
    second.mkdir()
    (second / "pom.xml").write_text("<project/>")
    checkout = Checkout(root=adapter.parent.parent)
    program.exit_code = 1
    maven.build(checkout, [adapter, second], Path("mvn"), _JAVA)
    assert maven.unbuilt_adapters(checkout, _JAVA) == []
    assert len(program.commands) == 4
    assert "built adapters/some-java, 0 s" in capsys.readouterr().out
    program.alone = 1
    with pytest.raises(SetupError, match="some-java could not be built"):
        maven.build(checkout, [adapter, second], Path("mvn"), _JAVA)


def test_without_a_home_the_artifacts_stay_in_the_checkout(
    adapter: Path, program: _Maven, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(adapter / "absent"))
    checkout = Checkout(root=adapter.parent.parent)
    maven.build(checkout, [adapter], Path("mvn"), _JAVA)
    option = f"-Dmaven.repo.local={checkout.root / 'build' / 'maven-repository'}"
    assert option in program.commands[0]


def test_a_home_that_java_does_not_know_is_honoured(
    adapter: Path, program: _Maven, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / ".m2").mkdir(parents=True)
    (home / ".m2" / "settings.xml").write_text("<settings/>")
    monkeypatch.setenv("HOME", str(home))
    maven.build(Checkout(root=adapter.parent.parent), [adapter], Path("mvn"), _JAVA)
    assert f"-Dmaven.repo.local={home / '.m2' / 'repository'}" in program.commands[0]
    assert str(home / ".m2" / "settings.xml") in program.commands[0]


def test_the_proxy_of_the_environment_reaches_maven() -> None:
    settings = ElementTree.fromstring(
        maven.proxy_settings("http://me:a%26b@proxy.example:3128", "localhost, .example.org")
    )
    proxies = settings.findall("proxies/proxy")
    assert [proxy.findtext("protocol") for proxy in proxies] == ["http", "https"]
    for proxy in proxies:
        assert proxy.findtext("host") == "proxy.example"
        assert proxy.findtext("port") == "3128"
        assert proxy.findtext("username") == "me"
        assert proxy.findtext("password") == "a&b"
        assert proxy.findtext("nonProxyHosts") == "localhost|*.example.org"


def test_a_proxy_without_scheme_and_credentials() -> None:
    settings = ElementTree.fromstring(maven.proxy_settings("proxy.example", ""))
    proxy = settings.find("proxies/proxy")
    assert proxy is not None
    assert proxy.findtext("host") == "proxy.example"
    assert proxy.find("username") is None
    assert proxy.find("nonProxyHosts") is None


def test_a_maven_that_does_not_work_counts_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def try_install(need: object, directory: Path) -> None:
        del directory
        asked.append(need)

    monkeypatch.setattr(maven, "try_install", try_install)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "mvn"
    program.write_text("#!/bin/sh\necho JAVA_HOME is wrong\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("MAVEN_HOME", str(tmp_path))
    with pytest.raises(SetupError, match=r"mvn is there and does not work: .*JAVA_HOME is wrong; "):
        maven.ensure_maven(Checkout(root=tmp_path), _JAVA)
    assert len(asked) == 1
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    assert maven.ensure_maven(Checkout(root=tmp_path), _JAVA) == program
