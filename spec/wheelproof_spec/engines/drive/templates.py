"""Adapters to start from, for whoever has no checkout: `wheelproof conform --template NAME`."""

import argparse
from collections.abc import Sequence

from wheelproof_spec.base.resources import template_directory
from wheelproof_spec.engines.drive.usual import TEMPLATES


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
