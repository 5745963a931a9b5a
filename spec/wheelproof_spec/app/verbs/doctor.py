"""The verb `doctor`: what is not installed on this machine, for which verb, and how to get it."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from wheelproof_spec.app.program import carries
from wheelproof_spec.base.needs import EXTRAS, JAR_REMEDY, JAR_SERVES, JAVA_SERVES, java_remedy
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict, overall


class _State(StrEnum):
    """Whether a need is there. It is missing if what is installed cannot work without it."""

    OK = "ok"
    OPTIONAL = "optional"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class _Need:
    """A need of some verbs: what was found of it, and how to get it if it is not there."""

    name: str
    serves: tuple[str, ...]
    found: str
    remedy: str
    state: _State

    def line(self) -> str:
        line = f"{self.state:<8} {self.name}: {self.found}"
        if self.state is _State.OK:
            return line
        return f"{line}; needed by {', '.join(self.serves)}\n         {self.remedy}"

    def check(self) -> CheckResult:
        missing = self.state is _State.MISSING
        return CheckResult(
            name=self.name,
            group="doctor",
            verdict=Verdict.INCONCLUSIVE if missing else Verdict.PASS,
            summary=self.found,
            details="" if self.state is _State.OK else self.remedy,
        )


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    carries(parser, run)


def run(arguments: argparse.Namespace) -> int:
    """Check the machine; exit code 3 if something that is installed cannot work."""
    needs = _needs()
    line = _summary(needs)
    result = Result(
        verb="doctor",
        verdict=overall(need.check().verdict for need in needs),
        checks=[need.check() for need in needs],
        line=line,
        text="\n".join([*(need.line() for need in needs), line]),
    )
    return publish(result, arguments)


def _summary(needs: Sequence[_Need]) -> str:
    missing, optional = (
        ", ".join(need.name for need in needs if need.state is state)
        for state in (_State.MISSING, _State.OPTIONAL)
    )
    if missing:
        return f"missing: {missing}"
    return f"nothing is missing; optional: {optional}" if optional else "nothing is missing"


def _needs() -> list[_Need]:
    from wheelproof_spec.app.installed import (
        java_version,
        module_version,
        program_version,
        tlc_version,
    )

    nothing_more = f"{program_version()}; check, record, schema and vectors need no more"
    needs = [_Need("the program itself", (), nothing_more, "", _State.OK)]
    for extra in EXTRAS:
        versions = {name: module_version(name) for name in extra.modules}
        found = ", ".join(f"{name} {version or '-'}" for name, version in versions.items())
        state = _state(there=all(versions.values()), wanted=any(versions.values()))
        needs.append(_Need(f"the extra {extra.name}", extra.serves, found, extra.remedy, state))
    tlc, java = tlc_version(), java_version()
    found = tlc or "no tla2tools.jar"
    state = _state(there=tlc is not None, wanted=False)
    needs.append(_Need("TLC", JAR_SERVES, found, JAR_REMEDY, state))
    found = java.text if java else "no java on the PATH or in JAVA_HOME"
    for oldest, (package, serves) in JAVA_SERVES.items():
        there = java is not None and (java.major is None or java.major >= oldest)
        state = _state(there=there, wanted=module_version(package) is not None)
        needs.append(_Need(f"Java {oldest} or newer", serves, found, java_remedy(oldest), state))
    return needs


def _state(*, there: bool, wanted: bool) -> _State:
    if there:
        return _State.OK
    return _State.MISSING if wanted else _State.OPTIONAL
