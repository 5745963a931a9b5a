"""The verb `doctor`: what is missing on this machine, for which verb, and how to get it."""

import argparse
from dataclasses import dataclass

from wheelproof_spec.app.program import carries
from wheelproof_spec.base.needs import EXTRAS, JAR_REMEDY, JAR_SERVES, JAVA_SERVES, java_remedy
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict, overall


@dataclass(frozen=True, slots=True)
class _Need:
    """A need of some verbs: what was found of it, and how to get it if it is missing."""

    name: str
    serves: tuple[str, ...]
    found: str
    remedy: str
    is_there: bool

    def line(self) -> str:
        if self.is_there:
            return f"ok       {self.name}: {self.found}"
        return f"missing  {self.name}: {self.found}; without it: no {', '.join(self.serves)}\n" + (
            f"         {self.remedy}"
        )

    def check(self) -> CheckResult:
        return CheckResult(
            name=self.name,
            group="doctor",
            verdict=Verdict.PASS if self.is_there else Verdict.INCONCLUSIVE,
            summary=self.found,
            details="" if self.is_there else self.remedy,
        )


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    carries(parser, run)


def run(arguments: argparse.Namespace) -> int:
    """Check the machine; a missing need is exit code 3."""
    needs = _needs()
    missing = [need.name for need in needs if not need.is_there]
    verdict = overall(need.check().verdict for need in needs)
    line = f"missing: {', '.join(missing)}" if missing else "nothing is missing"
    result = Result(
        verb="doctor",
        verdict=verdict,
        checks=[need.check() for need in needs],
        line=line,
        text="\n".join([*(need.line() for need in needs), line]),
        code=ExitCode.INCONCLUSIVE if missing else None,
    )
    return publish(result, arguments)


def _needs() -> list[_Need]:
    from wheelproof_spec.app.installed import java_version, module_version, tlc_version

    nothing_more = "check, record, schema and vectors need no more"
    needs = [_Need("Python and wheelproof itself", (), nothing_more, "", True)]
    for extra in EXTRAS:
        versions = {name: module_version(name) for name in extra.modules}
        found = ", ".join(f"{name} {version or '-'}" for name, version in versions.items())
        there = all(versions.values())
        needs.append(_Need(f"the extra {extra.name}", extra.serves, found, extra.remedy, there))
    tlc, java = tlc_version(), java_version()
    found = tlc or "no tla2tools.jar"
    needs.append(_Need("TLC", JAR_SERVES, found, JAR_REMEDY, tlc is not None))
    found = java.text if java else "no java on the PATH or in JAVA_HOME"
    for oldest, serves in JAVA_SERVES.items():
        there = java is not None and (java.major is None or java.major >= oldest)
        needs.append(_Need(f"Java {oldest} or newer", serves, found, java_remedy(oldest), there))
    return needs
