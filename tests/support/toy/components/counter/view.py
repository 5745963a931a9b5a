"""A counter's case, drawn: what is counted, and what is left."""

from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.drawing import Markup, Part, bar
from wheelproof_spec.base.strict_json import JsonObject

from .component import DEFINITION, CounterObservation
from .reference import CounterPort

_WIRE = DrivenWire(DEFINITION)


class CounterView:
    def __init__(self, profile: str) -> None:
        del profile
        self._port = CounterPort()
        self._seen = CounterObservation()

    def perform(self, operation: str, content: JsonObject, answer: JsonObject) -> JsonObject:
        del answer
        call = _WIRE.parse_call(operation, content)
        self._seen = self._port.perform(call)
        return _WIRE.answer(call, self._seen)

    def picture(self) -> Markup:
        return bar([Part(name="counted", size=self._seen.value or 0, kind="lent")], "")


VIEW = CounterView
