"""Which package manager is asked, and what the user is told to type."""

from pathlib import Path

import pytest

from support.checkout import ROOT
from tools import system_packages
from tools.system_packages import MANAGERS, Need, advice, choose_manager


@pytest.mark.parametrize("program", [manager.program for manager in MANAGERS])
def test_the_manager_that_is_present_is_chosen(program: str) -> None:
    manager = choose_manager(Need.JAVA, {program: program}.get)
    assert manager is not None
    assert manager.program == program


def test_no_manager_no_choice() -> None:
    assert choose_manager(Need.JAVA, {"port": "port"}.get) is None
    assert advice(Need.MAVEN, None) == "install Maven with your system's package manager"


def test_only_a_manager_that_has_a_package_is_chosen() -> None:
    assert choose_manager(Need.VENV, {"brew": "brew"}.get) is None
    both = choose_manager(Need.VENV, {"brew": "brew", "apt-get": "apt-get"}.get)
    assert both is not None
    assert both.program == "apt-get"


def test_advice_is_what_one_types() -> None:
    apt = advice(Need.JAVA, choose_manager(Need.JAVA, {"apt-get": "apt-get"}.get))
    brew = choose_manager(Need.MAVEN, {"brew": "brew"}.get)
    assert apt.startswith("type: sudo apt-get install openjdk-21-jdk-headless (or openjdk-17-")
    assert advice(Need.MAVEN, brew) == "type: brew install maven"


@pytest.mark.parametrize("ci", [True, False])
def test_a_browser_is_installed_in_ci_alone(monkeypatch: pytest.MonkeyPatch, *, ci: bool) -> None:
    asked: list[Need] = []
    monkeypatch.setenv("CI", "true" if ci else "")
    monkeypatch.setattr(system_packages, "find_browser", lambda: None)

    def try_install(need: Need, directory: Path) -> None:
        del directory
        asked.append(need)

    monkeypatch.setattr(system_packages, "try_install", try_install)
    system_packages.ensure_browser(ROOT)
    assert asked == ([Need.BROWSER] if ci else [])
