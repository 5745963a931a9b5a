"""A conversation with the reference within the program, and where the published vectors are."""

from collections.abc import Callable

from support.checkout import ROOT
from wheelproof.timer import SystemTimer
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.component import (
    VIRTUAL_TIME,
    Request,
    any_definition,
)
from wheelproof_spec.base.history.lines import Vector
from wheelproof_spec.base.strict_json import JsonObject
from wheelproof_spec.components.timer.component import DEFINITION
from wheelproof_spec.components.timer.reference import ReferenceTimerPort
from wheelproof_spec.drive.driver.messages import (
    Introduction,
)
from wheelproof_spec.drive.vector_files import find_vector_files, read_vectors
from wheelproof_spec.drive.vector_run import VectorRunner, VectorTally, run_vectors
from wheelproof_spec.history.line_parser import LineFormat

_WIRE = DrivenWire(DEFINITION)
_LINES = LineFormat([any_definition(DEFINITION)])
PUBLISHED = ROOT / "vectors"
INTRODUCTION = Introduction(
    implementation="in the program",
    version="1",
    components=("timer",),
    capabilities=(VIRTUAL_TIME,),
)


def published() -> list[Vector[object, object]]:
    """Return the published vectors."""
    return [
        published.vector
        for published in read_vectors(find_vector_files([str(PUBLISHED / "*.jsonl")]), _LINES.parse)
    ]


class Session:
    """A timer of the reference, asked as a driver is."""

    def __init__(self, timer_class: type[SystemTimer] = SystemTimer) -> None:
        self._port = ReferenceTimerPort(timer_class)

    def ask(self, request: Request, parse: Callable[[JsonObject], JsonObject]) -> JsonObject:
        """Ask; raises RefusedError."""
        call = _WIRE.parse_call(request.name_on_the_wire(), dict(request.fields()))
        return parse(_WIRE.answer(call, self._port.perform(call)))


def tally_of(
    vectors: list[Vector[object, object]], timer_class: type[SystemTimer] = SystemTimer
) -> VectorTally:
    """Run vectors on a timer of the reference."""
    tally = VectorTally()
    run_vectors(
        VectorRunner(Session(timer_class), any_definition(DEFINITION)),
        vectors,
        "kafka",
        INTRODUCTION,
        tally,
    )
    return tally
