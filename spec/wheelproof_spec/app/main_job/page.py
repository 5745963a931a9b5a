"""The page of the main job: one HTML file that needs nothing else."""

from importlib.metadata import version

from wheelproof_spec.app.main_job.sections import JobReport
from wheelproof_spec.app.pages.environment import page_environment


def render_page(report: JobReport, finished: str) -> str:
    """Return the page as HTML; `finished` is the date to show."""
    environment = page_environment()
    template = environment.get_template("report.html.jinja")
    return template.render(report=report, finished=finished, version=version("wheelproof"))
