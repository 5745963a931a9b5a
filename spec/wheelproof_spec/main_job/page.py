"""The page of the main job: one HTML file that needs nothing else."""

from importlib.metadata import version

from jinja2 import Environment, PackageLoader, StrictUndefined

from wheelproof_spec.main_job.sections import JobReport


def render_page(report: JobReport, finished: str) -> str:
    """Return the page as HTML; `finished` is the date to show."""
    environment = Environment(
        loader=PackageLoader("wheelproof_spec.main_job"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("report.html.jinja")
    return template.render(report=report, finished=finished, version=version("wheelproof"))
