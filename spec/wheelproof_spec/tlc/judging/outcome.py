"""The outcome of a model: verdict, reasons and everything that was measured."""

import shlex
from dataclasses import dataclass

from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict
from wheelproof_spec.tlc.judging.check import Judgement, trace_length
from wheelproof_spec.tlc.judging.explain import explain_text
from wheelproof_spec.tlc.manifest.model import Expectation, Kind, Model
from wheelproof_spec.tlc.running.launch import TlcRun

GROUP = "tlc"


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessOutcome:
    """Whether a witness was reached, and the number of states on a shortest path to it."""

    name: str
    verdict: Verdict
    trace_length: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOutcome:
    """The verdict on one model.

    `problems` are the reasons when it is no pass, `seconds` the wall time of the run,
    `graph_summary` is empty unless the state graph was dumped.
    """

    model: Model
    judgement: Judgement
    run: TlcRun
    seconds: float
    graph_summary: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the model and its witnesses together."""
        return self.judgement.verdict

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the verdict is no pass, one sentence each."""
        return self.judgement.problems

    @property
    def witnesses(self) -> tuple[WitnessOutcome, ...]:
        """The witnesses that the run looked for; a witness not reached fails a complete run."""
        reached = self.run.report.reached
        if not reached and self.run.report.statistics is None:
            return ()
        return tuple(
            WitnessOutcome(
                name=name,
                verdict=Verdict.PASS if name in reached else Verdict.FAIL,
                trace_length=reached.get(name),
            )
            for name in self.model.witnesses
        )

    @property
    def distinct(self) -> int | None:
        """The number of distinct states, None when TLC did not finish."""
        statistics = self.run.report.statistics
        return None if statistics is None else statistics.distinct

    @property
    def generated(self) -> int | None:
        """The number of states that TLC generated."""
        statistics = self.run.report.statistics
        return None if statistics is None else statistics.generated

    @property
    def depth(self) -> int | None:
        """The depth of the complete state graph, counted in states."""
        return self.run.report.depth

    @property
    def trace_length(self) -> int | None:
        """The number of states of the counterexample."""
        return trace_length(self.run.report)

    @property
    def counterexample_text(self) -> str:
        """The counterexample in terms of the model, empty without one."""
        counterexample = self.run.report.counterexample
        return "" if counterexample is None else explain_text(counterexample)

    def summary(self) -> str:
        """Return the outcome in one sentence."""
        if self.problems:
            return "; ".join(self.problems)
        if self.model.expect is not Expectation.PASS:
            states = "" if self.trace_length is None else f", {self.trace_length} states"
            return f"fails as it must: {self.model.expected_text()}{states}"
        if self.run.simulation is not None:
            return (
                f"nothing found in {self.run.simulation.behaviours:,} behaviours at random, "
                f"{self.run.report.simulated:,} states; others were not looked at"
            )
        reached = ", every witness reached" if self.witnesses else ""
        return f"{self.distinct} distinct states, depth {self.depth}{reached}"

    def story(self) -> str:
        """Return the reasons, the counterexample and the command that repeats the run."""
        parts = [*self.problems]
        if self.model.kind is not Kind.MODEL and self.verdict is Verdict.PASS:
            parts.append(self.model.summary)
        if self.counterexample_text:
            parts.append(self.counterexample_text)
        parts.append(f"repeat it with: {self.command()}")
        return "\n".join(parts)

    def command(self) -> str:
        """Return the command that repeats the run."""
        command = ["wheelproof", "tlc", self.model.name, "--explain"]
        if self.run.simulation is not None:
            drawn = self.run.simulation
            numbers = (drawn.behaviours, drawn.depth, drawn.seed)
            for option, number in zip(("--simulate", "--depth", "--seed"), numbers, strict=True):
                command += [option, str(number)]
        if not self.model.listed:
            command[2] = str(self.model.module_path)
            command += ["--config", self.model.cfg.name]
        elif self.model.manifest != (tla_directory() / "manifest.toml").resolve():
            command += ["--manifest", str(self.model.manifest)]
        return shlex.join(command)

    def check_result(self) -> CheckResult:
        """Return the outcome as one check of a report."""
        return CheckResult(
            name=self.model.name,
            group=GROUP,
            verdict=self.verdict,
            seconds=self.seconds,
            summary=self.summary(),
            details=self.story(),
        )
