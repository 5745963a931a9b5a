"""What a run of models shows: its progress, the table, the document, numbers for the manifest."""

from wheelproof_spec.engines.tlc.reporting.document import run_document
from wheelproof_spec.engines.tlc.reporting.pin import pin_lines
from wheelproof_spec.engines.tlc.reporting.progress import progress_observer
from wheelproof_spec.engines.tlc.reporting.table import closing_line, make_console, print_run

__all__ = [
    "closing_line",
    "make_console",
    "pin_lines",
    "print_run",
    "progress_observer",
    "run_document",
]
