"""The defaults of a conformance run, and the templates of adapters.

Cheap to import, for the help of `wheelproof conform`.
"""

from wheelproof_spec.base.resources import template_directory

CASES = 1_000
SEED = 1
TIMEOUT_S = 20.0
"""How long a driver may take for an answer, in seconds."""
MEMORY_MB = 2_048
"""How much memory the driver's processes may hold, in MiB."""
MOST_JOBS = 4
"""The most processes of a driver that may work at once: each of these has cases ahead."""
LANGUAGES = {"python": "py", "go": "go", "java": "java", "rust": "rs", "typescript": "ts"}
"""The languages in which there are adapters to start from, and how their files end."""
RECORDER = "recorder"
"""The template of a recorder, in Python and for a timer alone."""


def template(name: str, component: str) -> str:
    """Return the adapter to start from in the language `name`, or the recorder.

    An adapter is one file: what all components share, and below it what is there of the component,
    without the paragraph by which each file finds the others in the folder. Raises MissingToolError
    if it is not installed.
    """
    folder = template_directory()
    if name == RECORDER:
        return (folder / "recorder.py").read_text(encoding="utf-8")
    ending = LANGUAGES[name]
    shared = (folder / name / f"adapter.{ending}").read_text(encoding="utf-8")
    paths = sorted((folder / name).glob(f"my_{component}*.{ending}"))
    mine = [path.read_text(encoding="utf-8").partition("\n\n")[2] for path in paths]
    return "\n".join((shared, *mine))
