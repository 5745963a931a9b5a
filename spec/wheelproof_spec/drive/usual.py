"""The defaults of a conformance run, and the templates of adapters.

Cheap to import, for the help of `wheelproof conform`.
"""

import argparse
from collections.abc import Sequence

from wheelproof_spec.base.resources import template_directory

CASES = 1_000
SEED = 1
TIMEOUT_S = 20.0
"""How long a driver may take for an answer, in seconds."""
MEMORY_MB = 2_048
"""How much memory the driver's processes may hold, in MiB."""
MOST_JOBS = 4
"""The most processes of a driver that may work at once: each of these has cases ahead."""
TEMPLATES = {
    "python": "adapter.py",
    "go": "adapter.go",
    "java": "Adapter.java",
    "javascript": "adapter.js",
    "rust": "adapter.rs",
    "recorder": "recorder.py",
}
"""The file of each template, by its name on the command line."""


class PrintTemplate(argparse.Action):
    """Prints a template and ends the program, as `--version` prints the version."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        """Print the template named `values`; raises MissingToolError if it is not installed."""
        del namespace, option_string
        path = template_directory() / TEMPLATES[str(values)]
        print(path.read_text(encoding="utf-8"), end="")
        parser.exit()
