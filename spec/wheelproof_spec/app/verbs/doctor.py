"""The verb `doctor`: what is missing on this machine, for which verb, and how to get it."""

import argparse
from dataclasses import dataclass

from wheelproof_spec.app.verbs.declaring import Verbs
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict, overall

_TLC_JAVA = 11
_SPARK_JAVA = 17


@dataclass(frozen=True, slots=True, kw_only=True)
class _Need:
    """Something that verbs need: what was found of it, and how to get what is missing."""

    name: str
    serves: tuple[str, ...]
    found: str
    is_there: bool
    remedy: str

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


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    verbs.own("doctor", run)


def run(arguments: argparse.Namespace) -> int:
    """Look at the machine; something that is missing is exit code 3."""
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
    from wheelproof_spec.app.installed import EXTRAS, java_version, module_version, tlc_version

    needs = [
        _Need(
            name="Python and wheelproof itself",
            serves=(),
            found="check, record, schema and vectors need no more",
            is_there=True,
            remedy="",
        )
    ]
    for extra in EXTRAS:
        versions = {name: module_version(name) for name in extra.modules}
        needs.append(
            _Need(
                name=f"the extra {extra.name}",
                serves=extra.serves,
                found=", ".join(f"{name} {version or '-'}" for name, version in versions.items()),
                is_there=all(versions.values()),
                remedy=extra.remedy,
            )
        )
    tlc, java = tlc_version(), java_version()
    needs.append(
        _Need(
            name="TLC",
            serves=("tlc", "graph", "check --tlc", "vectors generate"),
            found=tlc or "no tla2tools.jar",
            is_there=tlc is not None,
            remedy="install 'wheelproof[tlc]', or name a tla2tools.jar in WHEELPROOF_TLC_JAR",
        )
    )
    for oldest, serves in ((_TLC_JAVA, ("tlc", "graph")), (_SPARK_JAVA, ("pipeline",))):
        needs.append(
            _Need(
                name=f"Java {oldest} or newer",
                serves=serves,
                found=java.text if java else "no java on the PATH or in JAVA_HOME",
                is_there=java is not None and (java.major is None or java.major >= oldest),
                remedy=f"install Java {oldest} or newer, or set JAVA_HOME to it",
            )
        )
    return needs
