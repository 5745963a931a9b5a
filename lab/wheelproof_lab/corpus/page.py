"""The page docs/real-code/corpus.md: what looks for each defect of released code, and finds it."""

import sys
from dataclasses import dataclass
from functools import partial
from statistics import median

from wheelproof_lab.corpus.defects import DEFECTS, Defect
from wheelproof_lab.corpus.runs import (
    FRONTRUN,
    Explored,
    explored,
    found_by_frontrun,
    found_by_stress,
)
from wheelproof_lab.publish.markdown import markdown, renew
from wheelproof_spec.base.results.verdicts import Verdict

PAGE = "docs/real-code/corpus.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A defect, and what looked for it; `frontrun` is None where it cannot be asked."""

    file: str
    defect: Defect
    broken: Explored
    mended: Explored | None
    stress: int
    frontrun: int | None

    def row(self) -> str:
        """Return the row of the table."""
        defect, broken = self.defect, self.broken
        where = f"{defect.package} {defect.broken}"
        reported = defect.reported or "not reported"
        command = " ".join((f"{self.file}.py:{defect.name}", *defect.options))
        mended = f"{defect.mended} passes" if self.mended else defect.why_not_mended
        cells = (
            where,
            f"{defect.what} ({reported})",
            f"`{command}`",
            f"{broken.run:,}",
            f"{broken.seconds:.1f}",
            _said(self.stress),
            "-" if self.frontrun is None else _said(self.frontrun),
            mended,
        )
        return f"| {' | '.join(cells)} |"


def _said(number: int) -> str:
    return f"{number:,}" if number else "no"


def renew_page() -> int:
    """Look for all defects and write the page; return the exit code."""
    chosen = [(file, defect) for file, defects in DEFECTS.items() for defect in defects]
    found: list[Found] = []
    for number, (file, defect) in enumerate(chosen, 1):
        print(f"{number} of {len(chosen)}: {defect.name}", file=sys.stderr)
        found.append(look_for(file, defect))
    return renew(PAGE, partial(_page, found))


def look_for(file: str, defect: Defect) -> Found:
    """Look for a defect in every way; raises AssertionError if the model checker is wrong."""
    broken, mended = judged(file, defect)
    threads = file != "tasks"
    return Found(
        file=file,
        defect=defect,
        broken=broken,
        mended=mended,
        stress=found_by_stress(file, defect, broken.seconds),
        frontrun=found_by_frontrun(file, defect, broken.seconds) if threads else None,
    )


def judged(file: str, defect: Defect) -> tuple[Explored, Explored | None]:
    """Explore the broken release, which has to fail, and the mended one, which has to pass."""
    broken = explored(file, defect, defect.broken)
    assert broken.verdict is Verdict.FAIL, f"{defect.name} {defect.broken}: {broken.said}"
    mended = explored(file, defect, defect.mended) if defect.mended else None
    if mended is not None:
        assert mended.verdict is Verdict.PASS, f"{defect.name} {defect.mended}: {mended.said}"
    return broken, mended


def _page(found: list[Found]) -> str:
    threads = [one for one in found if one.frontrun is not None]
    return markdown(
        "corpus",
        rows=[one.row() for one in found],
        count=len(found),
        packages=len({one.defect.package for one in found}),
        mended=sum(one.mended is not None for one in found),
        median=f"{median(one.broken.seconds for one in found):.2f}",
        slowest=f"{max(one.broken.seconds for one in found):.1f}",
        stress=sum(one.stress > 0 for one in found),
        threads=len(threads),
        frontrun=sum(bool(one.frontrun) for one in threads),
        release=FRONTRUN,
        python=".".join(map(str, sys.version_info[:3])),
    )
