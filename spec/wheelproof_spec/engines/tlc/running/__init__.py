"""Running TLC: the programs it needs, one run in private folders, and what the run reports."""

from wheelproof_spec.engines.tlc.running.frames import FrameReader
from wheelproof_spec.engines.tlc.running.java import find_java
from wheelproof_spec.engines.tlc.running.launch import (
    LIMITS,
    Limits,
    RunOptions,
    TlcRun,
    Toolchain,
    find_toolchain,
    run_tlc,
)
from wheelproof_spec.engines.tlc.running.memory import available_memory, job_count, usable_cores
from wheelproof_spec.engines.tlc.running.process import Ending, ProcessPool, termination_interrupts
from wheelproof_spec.engines.tlc.running.report import (
    ActionCoverage,
    Counterexample,
    Statistics,
    Step,
    TlcReport,
    Violation,
    ViolationKind,
)
from wheelproof_spec.engines.tlc.running.report_builder import ReportBuilder

__all__ = [
    "LIMITS",
    "ActionCoverage",
    "Counterexample",
    "Ending",
    "FrameReader",
    "Limits",
    "ProcessPool",
    "ReportBuilder",
    "RunOptions",
    "Statistics",
    "Step",
    "TlcReport",
    "TlcRun",
    "Toolchain",
    "Violation",
    "ViolationKind",
    "available_memory",
    "find_java",
    "find_toolchain",
    "job_count",
    "run_tlc",
    "termination_interrupts",
    "usable_cores",
]
