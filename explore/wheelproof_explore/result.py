"""The result of an exploration, and the one place that turns it into a verdict."""

from dataclasses import asdict, dataclass, fields

from wheelproof_explore.counterexamples.counterexample import FailingInterleaving
from wheelproof_explore.counterexamples.recording import RunRecording
from wheelproof_explore.verdicts import Verdict

CERTIFYING_ENGINE = "optimal"
INTERRUPTED = "interrupted"
"""Why an exploration was stopped, if Ctrl-C did it."""
CERTIFICATE_SCHEMA = "wheelproof.certificate/1"
_NOT_TOLD = ("complete", "recording")
"""Fields that a certificate does not have: other fields tell them, or a page shows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """The result of exploring one program with one engine.

    `stopped` is the reason why the engine ended early, None if it did not; `complete` tells
    whether the engine runs every class if it is not stopped. `gap` is the reason why the runs show
    nothing, empty if they show something; `faults` are the calls that may fail; `unseen` is what
    was not looked at, empty if the checker saw all that the program names. `digest` depends on the
    classes alone. `recording` is the failing run, or without one an example, in which each thread
    runs as far as it can.
    """

    program: str
    program_digest: str
    primitives_digest: str
    engine: str
    substrate: str
    seed: int | None
    runs: int
    classes: int
    blocked_runs: int
    failing_runs: int
    deadlocks: int
    depth: int
    seconds: float
    cut_runs: int
    digest: str
    complete: bool
    stopped: str | None
    gap: str
    faults: tuple[str, ...]
    unseen: str
    counterexample: FailingInterleaving | None
    recording: RunRecording | None

    def verdict(self) -> Verdict:
        """Return the verdict; only the certifying engine can pass, the others are test oracles."""
        if self.counterexample is not None:
            return Verdict.FAIL
        certified = self.engine == CERTIFYING_ENGINE and self.complete
        if certified and self.stopped is None and not self.gap:
            return Verdict.PASS
        return Verdict.INCONCLUSIVE

    def summary(self) -> str:
        """Return the result in one sentence."""
        if self.counterexample is not None:
            return f"{self.counterexample.failure.sentence()} (run {self.runs})"
        rate = f"{self.runs / self.seconds:,.0f} runs/s" if self.seconds else ""
        if self.stopped is not None:
            return f"{self.stopped} after {self.runs:,} runs, no failure among them ({rate})"
        if self.gap:
            return f"{self.gap} ({self.classes:,} classes)"
        if self.complete:
            cut = f", {self.cut_runs:,} runs cut by an assumption" if self.cut_runs else ""
            unseen = f"; not looked at: {self.unseen}" if self.unseen else ""
            faults = f"; each single fault of {' and '.join(self.faults)}" if self.faults else ""
            most = f"at most {self.depth} steps"
            return f"all {self.classes:,} classes, {most}{faults}{cut}{unseen} ({rate})"
        return f"no failure in {self.runs:,} sampled runs of {self.classes:,} classes ({rate})"

    def details(self) -> str:
        """Return the counterexample, if there is one."""
        found = self.counterexample
        if found is None:
            return ""
        return "\n".join(found.told(found.command()))

    def document(self) -> dict[str, object]:
        """Return the result as JSON values: the certificate, or the counterexample."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in _NOT_TOLD:
            del told[name]
        return {
            "schema": CERTIFICATE_SCHEMA,
            **told,
            "verdict": self.verdict().value,
            "summary": self.summary(),
            "seconds": round(self.seconds, 3),
            "counterexample": _counterexample_document(self.counterexample),
        }


def _counterexample_document(found: FailingInterleaving | None) -> dict[str, object] | None:
    if found is None:
        return None
    return {
        "kind": found.failure.kind.value,
        "thread": found.failure.thread,
        "message": found.failure.message,
        "waits": [asdict(wait) for wait in found.failure.waits],
        "threads": list(found.threads),
        "steps": [
            {"thread": step.thread, "text": step.text, "line": step.line} for step in found.steps
        ],
        "deviations": [
            {"step": step, "instead_of": usual, "thread": chosen}
            for step, usual, chosen in found.deviations
        ],
        "left_out": [{"thread": thread, "operation": place} for thread, place in found.left_out],
        "line": found.line(),
        "schedule": found.schedule,
    }
