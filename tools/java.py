"""The search for a Java that runs TLC and Maven, and its installation."""

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.checkout import Checkout, base_environment, writable_home
from tools.errors import SetupError
from tools.processes import run_quiet
from tools.stamps import fingerprint, write_stamp
from tools.system_packages import Need, advice, choose_manager, try_install

OLDEST_RELEASE = 17

_TABLE: Mapping[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("java.toml").read_text(encoding="utf-8")
)
REQUIRED_MODULES = frozenset(_TABLE["modules"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """A Java installation: where it is and its feature release, such as 17."""

    home: Path
    release: int


def parse_settings(text: str) -> Java | None:
    """Return the Java in the output of ``java -XshowSettings:properties -version``, or None."""
    home = re.search(r"^\s*java\.home = (.+)$", text, re.MULTILINE)
    release = re.search(r"^\s*java\.specification\.version = (?:1\.)?(\d+)\s*$", text, re.MULTILINE)
    if home is None or release is None:
        return None
    return Java(home=Path(home[1].strip()), release=int(release[1]))


def missing_modules(listing: str) -> list[str]:
    """Return the required modules that the output of ``java --list-modules`` lacks, sorted."""
    present = {line.strip().partition("@")[0] for line in listing.splitlines()}
    return sorted(REQUIRED_MODULES - present)


def ensure_java(checkout: Checkout) -> Java:
    """Return a usable Java; install one if none is found and that is possible.

    The result is stored and used as long as JAVA_HOME, PATH and the program stay the same.
    Raises `SetupError` with the command to type.
    """
    remembered = _recall(checkout)
    if remembered is not None:
        return remembered
    found, reasons = _search(checkout)
    if found is None:
        try_install(Need.JAVA, checkout.root)
        found, reasons = _search(checkout)
    if found is None:
        why = f" ({'; '.join(reasons)})" if reasons else ""
        remedy = advice(Need.JAVA, choose_manager(Need.JAVA))
        raise SetupError(f"no JDK of release {OLDEST_RELEASE} or newer was found{why}; {remedy}")
    _remember(checkout, found)
    return found


def candidates(environment: Mapping[str, str], usual_homes: Iterable[Path]) -> Iterator[Path]:
    """Yield the programs that may be Java, in order of preference, each only once."""
    named = environment.get("JAVA_HOME", "")
    homes = [Path(named)] if named else []
    folders = [home / "bin" for home in homes]
    folders += [Path(entry) for entry in environment.get("PATH", "").split(os.pathsep) if entry]
    folders += [home / "bin" for home in usual_homes]
    seen: set[Path] = set()
    for program in (folder / "java" for folder in folders):
        if os.access(program, os.X_OK) and program.resolve() not in seen:
            seen.add(program.resolve())
            yield program


def _usual_homes() -> Iterator[Path]:
    for pattern in _TABLE["folders"]:
        yield from sorted(Path("/").glob(pattern.removeprefix("/")), reverse=True)
    home = writable_home()
    for pattern in _TABLE["folders_at_home"] if home is not None else ():
        yield from sorted((home or Path()).glob(pattern), reverse=True)


def _search(checkout: Checkout) -> tuple[Java | None, list[str]]:
    """Return the first usable Java, or the reasons why the programs found are not usable."""
    reasons: list[str] = []
    for program in candidates(os.environ, _usual_homes()):
        java = parse_settings(_ask(checkout, program, "-XshowSettings:properties", "-version"))
        problem = "does not start" if java is None else _problem(checkout, java)
        if java is not None and problem is None:
            return java, []
        reasons.append(f"{program} {problem}")
    return None, reasons


def _problem(checkout: Checkout, java: Java) -> str | None:
    if java.release < OLDEST_RELEASE:
        return f"is release {java.release}"
    if not (java.home / "bin" / "javac").exists():
        return "has no javac"
    missing = missing_modules(_ask(checkout, java.home / "bin" / "java", "--list-modules"))
    return f"lacks the modules {', '.join(missing)}" if missing else None


def _ask(checkout: Checkout, program: Path, *options: str) -> str:
    command = (str(program), *options)
    try:
        return run_quiet(command, directory=checkout.root, environment=base_environment()).output
    except OSError as error:
        return str(error)


def _memory(checkout: Checkout) -> Path:
    return checkout.state / "java"


def _recall(checkout: Checkout) -> Java | None:
    try:
        key, home, release = _memory(checkout).read_text().splitlines()
        java = Java(home=Path(home), release=int(release))
        return java if key == _key(java) else None
    except (OSError, ValueError):
        return None


def _remember(checkout: Checkout, java: Java) -> None:
    write_stamp(_memory(checkout), f"{_key(java)}\n{java.home}\n{java.release}\n")


def _key(java: Java) -> str:
    changed = (java.home / "bin" / "java").stat().st_mtime_ns
    environment = (os.environ.get(name, "") for name in ("JAVA_HOME", "PATH"))
    return fingerprint(*environment, str(java.home), str(changed))
