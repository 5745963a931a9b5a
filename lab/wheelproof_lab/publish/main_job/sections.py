"""The results of the main job, as data for the screen, and as one HTML file."""

from dataclasses import dataclass

from wheelproof_spec.app.pages.environment import html
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict, overall


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the job: the subject that it checked, and the results.

    `edge` names the side of the square that it checks. A section without results did not run;
    `note` says why. `page` is the page with its details, beside the report.
    """

    title: str
    edge: str
    subject: str
    results: tuple[CheckResult, ...]
    note: str = ""
    page: str = ""

    @property
    def passed(self) -> int:
        """The number of its checks that pass."""
        return sum(result.verdict is Verdict.PASS for result in self.results)

    def failures_first(self) -> list[CheckResult]:
        """Return its checks, first those that do not pass."""
        return sorted(self.results, key=lambda result: result.verdict is Verdict.PASS)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the section, None if it did not run."""
        return overall(result.verdict for result in self.results) if self.results else None

    @property
    def seconds(self) -> float:
        """The sum of the wall times of its checks, in seconds."""
        return sum(result.seconds for result in self.results)

    def summary(self) -> str:
        """Return the section in one line."""
        if not self.results:
            return f"did not run: {self.note}"
        return f"{self.verdict}, {self.passed} of {len(self.results)} checks pass; {self.subject}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobReport:
    """The whole job; `machine` says where it ran, `seed` repeats its random choices."""

    sections: tuple[Section, ...]
    machine: str
    seed: int
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """The verdict of all sections that ran."""
        verdicts = (section.verdict for section in self.sections)
        return overall(verdict for verdict in verdicts if verdict is not None)

    @property
    def checks(self) -> int:
        """The number of checks."""
        return sum(len(section.results) for section in self.sections)

    def failures_first(self) -> list[Section]:
        """Return the sections: those that do not pass, those that did not run, the rest."""
        return sorted(
            self.sections, key=lambda one: (one.verdict is None) + 2 * (one.verdict is Verdict.PASS)
        )

    def surprises(self) -> list[tuple[Section, CheckResult]]:
        """Return the checks that do not pass, with their sections."""
        return [
            (section, result)
            for section in self.sections
            for result in section.results
            if result.verdict is not Verdict.PASS
        ]


def render_page(report: JobReport, finished: str) -> str:
    """Return the page as HTML; `finished` is the date to show."""
    return html("report", "wheelproof_lab.publish", report=report, finished=finished)
