"""The tables in the READMEs of the TLA+ folders, made from modules, manifest and docstrings."""

from wheelproof_spec.engines.tlc.readmes.citations import Citation, citations
from wheelproof_spec.engines.tlc.readmes.module import Module, read_module
from wheelproof_spec.engines.tlc.readmes.tables import Suite, load_suite, without_lines

__all__ = [
    "Citation",
    "Module",
    "Suite",
    "citations",
    "load_suite",
    "read_module",
    "without_lines",
]
