"""The state graph of a module for values of its constants, as dumped by TLC.

The cfg, and a module that defines the constants, are generated for the run. So the configuration is
written in one place only, from which the code's side is built as well.
"""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.tlc.manifest.cfg import parse_cfg
from wheelproof_spec.tlc.manifest.loader import library
from wheelproof_spec.tlc.manifest.model import Expectation, Kind, Model, Tier
from wheelproof_spec.tlc.running.launch import LIMITS, RunOptions, Toolchain, run_tlc
from wheelproof_spec.tlc.running.process import Ending, ProcessPool
from wheelproof_spec.tlc.states.graph import StateGraph, read_graph
from wheelproof_spec.tlc.states.values import ModelValue, Value, show

_ROOT = "WheelproofGraph"


@dataclass(frozen=True, slots=True, kw_only=True)
class TlcConfiguration:
    """A module with values for its constants.

    `specification` is the formula; `overrides` replace operators of the module by others of it;
    `folder` has the module, unless it is one of the project's own.
    """

    module: str
    constants: Mapping[str, Value]
    specification: str = "Spec"
    overrides: Mapping[str, str] | None = None
    folder: Path | None = None


class TlcGraphError(WheelproofSpecError):
    """The error that TLC did not explore the whole graph."""


def tlc_graph(toolchain: Toolchain, configuration: TlcConfiguration) -> StateGraph:
    """Return the graph; raises TlcGraphError if TLC could not explore it."""
    with tempfile.TemporaryDirectory(prefix="wheelproof-graph-") as name:
        folder = Path(name)
        model = _model(folder, configuration)
        dump = folder / "graph.dot"
        options = RunOptions(limits=LIMITS[Tier.SMALL], dump=dump)
        run = run_tlc(toolchain, ProcessPool(), model, options)
        if run.ending is not Ending.EXITED or run.exit_code != 0:
            said = "; ".join(run.report.errors) or f"exit code {run.exit_code}"
            raise TlcGraphError(f"TLC found no graph of {configuration.module}: {said}")
        return read_graph(dump)


def _model(folder: Path, configuration: TlcConfiguration) -> Model:
    if configuration.folder is not None:
        for source in configuration.folder.glob("*.tla"):
            shutil.copy(source, folder)
    module = folder / f"{_ROOT}.tla"
    module.write_text("\n".join(_module_lines(configuration)) + "\n", encoding="utf-8")
    manifest = tla_directory() / "manifest.toml"
    return Model(
        name=_ROOT,
        module=_ROOT,
        specifies=configuration.module,
        tier=Tier.SMALL,
        kind=Kind.MODEL,
        expect=Expectation.PASS,
        summary="",
        module_path=module,
        cfg=parse_cfg(f"{_ROOT}.cfg", "\n".join(_cfg_lines(configuration)) + "\n"),
        manifest=manifest,
        library=library(manifest),
        check_deadlock=False,
    )


def _module_lines(configuration: TlcConfiguration) -> Sequence[str]:
    return [
        f"---- MODULE {_ROOT} ----",
        f"EXTENDS {configuration.module}, TLC",
        *(
            f"Graph{name} == {show(value)}"
            for name, value in configuration.constants.items()
            if not isinstance(value, ModelValue)
        ),
        "====",
    ]


def _cfg_lines(configuration: TlcConfiguration) -> Sequence[str]:
    return [
        f"SPECIFICATION {configuration.specification}",
        "CONSTANTS",
        *(
            f"    {name} = {value.name}"
            if isinstance(value, ModelValue)
            else f"    {name} <- Graph{name}"
            for name, value in configuration.constants.items()
        ),
        *(f"    {name} <- {other}" for name, other in (configuration.overrides or {}).items()),
    ]
