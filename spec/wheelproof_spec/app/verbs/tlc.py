"""The verb ``wheelproof tlc``: model-checks the TLA+ suite against its manifest, or any module."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wheelproof_spec.app.program import carries
from wheelproof_spec.base.arguments import bounded, positive_seconds
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.reports import make_folder
from wheelproof_spec.base.results.verdicts import ExitCode, overall

if TYPE_CHECKING:
    from wheelproof_spec.tlc.judging.outcome import ModelOutcome
    from wheelproof_spec.tlc.manifest.model import Model
    from wheelproof_spec.tlc.running.launch import Toolchain

_TIERS = ("smoke", "small", "big")


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument(
        "models",
        nargs="*",
        metavar="MODEL",
        help="models to run, by name or pattern (default: all of the tiers smoke and small); or "
        "anybody's module, a file whose name ends in .tla",
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="the cfg of a .tla (default: beside it)"
    )
    parser.add_argument("--list", action="store_true", help="list the models and run nothing")
    parser.add_argument(
        "--tier",
        action="append",
        default=[],
        choices=_TIERS,
        help="run only models of this tier; may be repeated",
    )
    parser.add_argument("--manifest", type=Path, metavar="FILE", help="another manifest of models")
    parser.add_argument("--jar", type=Path, metavar="FILE", help="the tla2tools.jar to run")
    parser.add_argument("--java", type=Path, metavar="FILE", help="the program java to run it with")
    parser.add_argument(
        "--jobs",
        type=bounded(1),
        metavar="N",
        help="models at a time (default: what processors and memory allow)",
    )
    parser.add_argument(
        "--time-limit",
        type=positive_seconds,
        metavar="SECONDS",
        help="wall time of one run of TLC (default: a generous limit for each tier)",
    )
    parser.add_argument(
        "--coverage", action="store_true", help="print how often each action was taken"
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="tell the counterexamples that were expected, too",
    )
    parser.add_argument(
        "--graph",
        type=Path,
        metavar="DIR",
        help="dump the state graphs as DOT and sum them up",
    )
    parser.add_argument(
        "--traces", type=Path, metavar="DIR", help="write counterexamples as JSON and as ITF"
    )
    parser.add_argument(
        "--simulate",
        type=bounded(1),
        metavar="N",
        help="try N behaviours at random in place of a complete search",
    )
    parser.add_argument(
        "--depth",
        type=bounded(1),
        default=100,
        metavar="N",
        help="with --simulate: the most states of a behaviour (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="with --simulate: what the behaviours are drawn from (default: %(default)s)",
    )
    parser.add_argument(
        "--export",
        type=Path,
        metavar="DIR",
        help="write modules, cfgs and manifests in the form of tlaplus/Examples and run nothing",
    )
    parser.add_argument(
        "--write-cfg",
        metavar="MODEL",
        help="print the cfg that TLC reads for a model and run nothing, for TLC's own tools",
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="where --write-cfg writes the cfg"
    )
    parser.add_argument(
        "--pin",
        action="store_true",
        help="print the numbers for the manifest as TOML; the manifest is not changed",
    )
    carries(
        parser,
        run,
        reads=("config", "manifest", "jar", "java"),
        writes=("graph", "traces", "export", "output"),
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the models and report, or write the cfg of one model; return the exit code."""
    if arguments.write_cfg is not None:
        return _write_cfg(arguments)
    if arguments.output is not None:
        raise UsageError("--output needs --write-cfg")
    from wheelproof_spec.tlc.reporting.document import run_document
    from wheelproof_spec.tlc.reporting.examples import write_examples
    from wheelproof_spec.tlc.reporting.table import closing_line, list_lines
    from wheelproof_spec.tlc.reporting.traces import write_traces
    from wheelproof_spec.tlc.running.launch import find_toolchain
    from wheelproof_spec.tlc.running.process import Ending

    models = _models(arguments)
    if arguments.list:
        print("\n".join(list_lines(models)))
        return ExitCode.PASS
    if arguments.export is not None:
        for manifest in write_examples(arguments.export, models):
            print(manifest)
        return ExitCode.PASS
    toolchain = find_toolchain(arguments.jar, arguments.java)
    outcomes = _run(arguments, toolchain, models)
    if arguments.traces is not None:
        make_folder(arguments.traces)
        for outcome in outcomes:
            write_traces(arguments.traces, outcome)
    _print(arguments, toolchain, outcomes)
    result = Result(
        verb="tlc",
        verdict=overall(outcome.verdict for outcome in outcomes),
        checks=[outcome.check_result() for outcome in outcomes],
        line=closing_line(outcomes),
        interrupted=any(outcome.run.ending is Ending.INTERRUPTED for outcome in outcomes),
        given={"models": [model.name for model in models]},
        document=run_document(toolchain, outcomes),
    )
    return publish(result, arguments)


def _models(arguments: argparse.Namespace) -> "list[Model]":
    """Return the named models: modules by their files, others from the manifest."""
    from wheelproof_spec.tlc.manifest.loader import load_manifest
    from wheelproof_spec.tlc.manifest.model import Tier
    from wheelproof_spec.tlc.manifest.selection import SUFFIX, select_models, unlisted_model

    names: list[str] = arguments.models
    files = [Path(name) for name in names if name.endswith(SUFFIX)]
    if arguments.config is not None and len(files) != 1:
        raise UsageError("--config is the cfg of one module; name one FILE.tla")
    if len({path.stem for path in files}) < len(files):
        raise UsageError("two modules with one name; run them one after the other")
    models = [unlisted_model(path, arguments.config) for path in files]
    if models and (arguments.pin or arguments.export):
        raise UsageError("--pin and --export are for the models of a manifest")
    if not files or len(names) > len(files):
        everything = arguments.list or arguments.export is not None
        tiers = tuple(Tier(tier) for tier in arguments.tier)
        models += select_models(
            load_manifest(_manifest(arguments), pinning=arguments.pin),
            [name for name in names if not name.endswith(SUFFIX)],
            tiers or (tuple(Tier) if everything else ()),
        )
    return models


def _write_cfg(arguments: argparse.Namespace) -> int:
    from wheelproof_spec.base.results.reports import write_text
    from wheelproof_spec.tlc.manifest.loader import load_manifest
    from wheelproof_spec.tlc.manifest.selection import select_models

    if arguments.models:
        raise UsageError("--write-cfg runs nothing; leave out the models to run")
    models = select_models(
        load_manifest(_manifest(arguments), pinning=True), [arguments.write_cfg], []
    )
    if len(models) > 1:
        raise UsageError(f"--write-cfg takes one model; {arguments.write_cfg} is {len(models)}")
    if arguments.output is None:
        print(models[0].cfg.text, end="")
    else:
        write_text(arguments.output, models[0].cfg.text)
    return 0


def _manifest(arguments: argparse.Namespace) -> Path:
    manifest: Path | None = arguments.manifest
    return manifest or tla_directory() / "manifest.toml"


def _run(
    arguments: argparse.Namespace, toolchain: "Toolchain", models: "Sequence[Model]"
) -> "list[ModelOutcome]":
    from wheelproof_spec.tlc.judging.runner import RunSettings, SilentObserver, run_models
    from wheelproof_spec.tlc.reporting.progress import progress_observer
    from wheelproof_spec.tlc.reporting.table import make_console
    from wheelproof_spec.tlc.running.launch import Simulation

    settings = RunSettings(
        jobs=arguments.jobs,
        seconds=arguments.time_limit,
        graphs=arguments.graph,
        coverage=arguments.coverage,
        simulation=(
            None
            if arguments.simulate is None
            else Simulation(
                behaviours=arguments.simulate, depth=arguments.depth, seed=arguments.seed
            )
        ),
    )
    if arguments.quiet:
        return run_models(toolchain, models, settings, SilentObserver())
    with progress_observer(make_console(stderr=True), len(models)) as observer:
        return run_models(toolchain, models, settings, observer)


def _print(
    arguments: argparse.Namespace, toolchain: "Toolchain", outcomes: "Sequence[ModelOutcome]"
) -> None:
    from wheelproof_spec.tlc.reporting.document import pin_lines
    from wheelproof_spec.tlc.reporting.table import make_console, print_run

    if arguments.pin:
        print("\n\n".join("\n".join(pin_lines(outcome)) for outcome in outcomes))
    elif not arguments.quiet:
        print_run(
            make_console(),
            toolchain,
            outcomes,
            explain=arguments.explain,
            coverage=arguments.coverage,
        )
