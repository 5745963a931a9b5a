"""The verb `run`: the main job, which `make run` starts."""

import argparse
import secrets
from datetime import UTC, datetime
from pathlib import Path

from wheelproof_lab.publish.main_job.job import DEMO_RUNS, run_job
from wheelproof_lab.publish.main_job.sections import JobReport, render_page
from wheelproof_spec.app.program import runs
from wheelproof_spec.base.results.reports import result_document, write_json, write_text
from wheelproof_spec.base.results.verdicts import exit_code


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("out"),
        metavar="DIR",
        help="the folder of the report (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="repeat the run of this seed")
    parser.add_argument(
        "--demo-runs",
        type=int,
        default=DEMO_RUNS,
        metavar="N",
        help="about how many runs the demo of the pipeline records (default: %(default)s)",
    )
    runs(parser, run, writes=("out",))


def run(arguments: argparse.Namespace) -> int:
    """Run the job, write its page, print the summary, and return the exit code of the verdict."""
    seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
    report = run_job(
        seed,
        arguments.out,
        lambda sentence: print(f"-- {sentence}", flush=True),
        arguments.demo_runs,
    )
    _write(report, arguments.out)
    _print_summary(report, arguments.out)
    return exit_code(report.verdict)


def _write(report: JobReport, folder: Path) -> None:
    finished = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    write_text(folder / "report.html", render_page(report, finished))
    write_json(
        folder / "report.json",
        {
            "schema": "wheelproof.main-job/1",
            "verdict": report.verdict.value,
            "machine": report.machine,
            "seed": report.seed,
            "seconds": round(report.seconds, 1),
            "sections": [
                {
                    "title": section.title,
                    "subject": section.subject,
                    "note": section.note,
                    "results": [result_document(result) for result in section.results],
                }
                for section in report.sections
            ],
        },
    )


def _print_summary(report: JobReport, folder: Path) -> None:
    print()
    for section in report.sections:
        print(f"{section.title}\n    {section.summary()}")
    print(f"\n{report.verdict.value} in {report.seconds:.0f} s on {report.machine}")
    print(f"report: {folder / 'report.html'}")
