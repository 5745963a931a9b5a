"""Runs the parts of the main job one after the other."""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

from wheelproof_lab.prove.contracts.prove import prove_all
from wheelproof_lab.publish.main_job import kafka
from wheelproof_lab.publish.main_job.pipeline import pipeline_section
from wheelproof_lab.publish.main_job.sections import JobReport, Section
from wheelproof_spec.app.verbs.fuzz import check_result
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.registry import machines
from wheelproof_spec.tlc.judging.runner import RunSettings, run_models
from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Kind, Tier
from wheelproof_spec.tlc.manifest.selection import select_models
from wheelproof_spec.tlc.reporting.progress import progress_observer
from wheelproof_spec.tlc.reporting.table import make_console
from wheelproof_spec.tlc.running.launch import find_toolchain

FUZZ_SECONDS = 10.0
DEMO_RUNS = 3_000
"""The approximate number of runs that the demo of the pipeline records."""
_CASES_IN_A_BATCH = 50

Reporter = Callable[[str], None]


def run_job(seed: int, folder: Path, report: Reporter, demo_runs: int = DEMO_RUNS) -> JobReport:
    """Run every part and return the results; `report` gets the progress.

    Files of the parts go into `folder`; the demo of the pipeline records `demo_runs` runs.
    """
    started = time.monotonic()
    sections = [_tlc_section(report), _fuzz_section(seed, report), _contracts_section(report)]
    sections += _kafka_sections(seed, folder, report)
    sections.append(pipeline_section(folder / "pipeline", seed, demo_runs, report))
    return JobReport(
        sections=tuple(sections),
        machine=_machine(),
        seed=seed,
        seconds=time.monotonic() - started,
    )


def _tlc_section(report: Reporter) -> Section:
    toolchain = find_toolchain()
    smoke = select_models(load_manifest(tla_directory() / "manifest.toml"), (), (Tier.SMOKE,))
    models = [model for model in smoke if model.kind is not Kind.MUTANT]
    report(f"model-checking {len(models)} models of the smoke tier")
    with progress_observer(make_console(stderr=True), len(models)) as observer:
        outcomes = run_models(toolchain, models, RunSettings(), observer)
    return Section(
        title="TLC: the TLA+ suite, smoke tier without its mutants",
        edge="abstract and detailed specification",
        subject=f"{toolchain.jar.describe()}, Java {toolchain.java.version}",
        results=tuple(outcome.check_result() for outcome in outcomes),
        note="A known bug or a finding passes when it fails by the property it must.",
    )


def _fuzz_section(seed: int, report: Reporter) -> Section:
    report(f"fuzzing the reference for {FUZZ_SECONDS:.0f} s, seed {seed}")
    timer, reports = machines()["timer"], list[FuzzReport]()
    again = f"wheelproof fuzz timer --cases {_CASES_IN_A_BATCH}"
    for threads, share in (("none", 1), ("real", 2)):
        plan = FuzzPlan(
            threads=threads,
            cases=_CASES_IN_A_BATCH,
            seed=seed,
            seconds=FUZZ_SECONDS * share / 3,
            repeat=f"{again} --threads {threads} --seed {{seed}}",
        )
        reports += timer.reports(plan)
    return Section(
        title="Fuzzing: the reference against the oracle",
        edge="oracle and reference",
        subject=f"seed {seed}",
        results=tuple(check_result(machine) for machine in reports),
    )


def _contracts_section(report: Reporter) -> Section:
    report("proving the contracts of the arithmetic")
    return Section(
        title="Contracts: the arithmetic of the wheel",
        edge="reference",
        subject="CrossHair, all paths, tick and wheel size symbolic",
        results=tuple(prove_all()),
    )


def _kafka_sections(seed: int, folder: Path, report: Reporter) -> list[Section]:
    adapter = kafka.built_adapter()
    if adapter is not None:
        driven = [
            kafka.conformance_section(adapter, component, seed, folder, report)
            for component in kafka.DRIVEN
        ]
        return [*driven, kafka.findings_section(adapter, report)]
    note = "adapters/kafka-java has not been built, which takes Maven; install it and run again"
    report(f"Kafka is not judged: {note}")
    return [
        Section(
            title="Conformance: Apache Kafka's classes",
            edge="oracle and Kafka",
            subject="",
            results=(),
            note=note,
        )
    ]


def _machine() -> str:
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, "
        f"Python {platform.python_version()}"
    )
