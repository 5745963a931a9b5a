"""What the tests of the TLC runner share: the fixture models and reports made from text."""

from functools import cache
from pathlib import Path

from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Model
from wheelproof_spec.tlc.running.frames import FrameReader
from wheelproof_spec.tlc.running.launch import TlcRun, Toolchain, find_toolchain
from wheelproof_spec.tlc.running.process import Ending
from wheelproof_spec.tlc.running.report import TlcReport
from wheelproof_spec.tlc.running.report_builder import ReportBuilder

FIXTURES = Path(__file__).parent / "fixtures"
MANIFEST = FIXTURES / "manifest.toml"


@cache
def toolchain() -> Toolchain:
    return find_toolchain()


def fixture_model(name: str) -> Model:
    return next(model for model in load_manifest(MANIFEST) if model.name == name)


def frame(code: int, text: str = "", severity: int = 0) -> str:
    return f"@!@!@STARTMSG {code}:{severity} @!@!@\n{text}\n@!@!@ENDMSG {code} @!@!@\n"


def report_of(text: str) -> TlcReport:
    reader, builder = FrameReader(), ReportBuilder()
    builder.consume(reader.read(text.splitlines(keepends=True)))
    return builder.finish(reader.tail)


def run_of(text: str, exit_code: int = 0, ending: Ending = Ending.EXITED) -> TlcRun:
    return TlcRun(ending=ending, exit_code=exit_code, report=report_of(text))
