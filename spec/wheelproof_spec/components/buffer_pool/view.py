"""Pictures of a pool's driven case: the ledger of its memory, waiting calls, lent buffers."""

from collections.abc import Sequence

from wheelproof.producer.buffer_pool import BufferPoolUsage
from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.drawing import Markup, Part, bar, chip, shelf
from wheelproof_spec.base.strict_json import JsonObject
from wheelproof_spec.components.buffer_pool.component import DEFINITION, Allocate, CallId
from wheelproof_spec.components.buffer_pool.reference import ReferencePoolPort

_WIRE = DrivenWire(DEFINITION)


class PoolView:
    """The view of a case, which it runs on the reference's pool."""

    def __init__(self, profile: str) -> None:
        del profile
        self._port = _VisiblePool()
        self._sizes: dict[CallId, int] = {}
        self._ended: dict[CallId, str] = {}

    def perform(self, operation: str, content: JsonObject, answer: JsonObject) -> JsonObject:
        """Make a call and return what the reference answers; see `CaseView`."""
        del answer
        call = _WIRE.parse_call(operation, content)
        if isinstance(call, Reset):
            self._sizes = {}
        if isinstance(call, Allocate):
            self._sizes[call.buffer] = call.size
        self._ended = {}
        seen = self._port.perform(call)
        self._ended = {name: outcome.value for name, outcome in seen.ended.items()}
        return _WIRE.answer(call, seen)

    def picture(self) -> Markup:
        """Return a picture of the ledger, the clock, the waiting calls and the ended calls."""
        port = self._port
        return Markup("").join(
            [
                memory_bar(port.usage(), [(name, self._sizes[name]) for name in port.lent()]),
                shelf("clock", [chip(f"{port.now_ms():,} ms")]),
                shelf(
                    "waits, the longest first",
                    [chip(f"{name} wants {self._sizes[name]:,} B") for name in port.waiting()],
                    "nobody",
                ),
                shelf(
                    "ends in this step",
                    [chip(f"{name}: {how}", "done") for name, how in self._ended.items()],
                ),
            ]
        )


def memory_bar(usage: BufferPoolUsage, lent: Sequence[tuple[str, int]]) -> Markup:
    """Return a bar with the places of a pool's bytes; each buffer in `lent` has its name."""
    named = sum(size for _, size in lent)
    return bar(
        [
            *(Part(name=f"lent to {name}", size=size, kind="lent") for name, size in lent),
            *(
                [Part(name="lent", size=usage.lent - named, kind="lent")]
                if usage.lent > named
                else []
            ),
            Part(name="gathered for who waits", size=usage.accumulated, kind="gathered"),
            Part(name="free list", size=usage.pooled, kind="free"),
            Part(name="not pooled", size=usage.non_pooled, kind="open"),
        ],
        "B",
    )


class _VisiblePool(ReferencePoolPort):
    def usage(self) -> BufferPoolUsage:
        return self._port.pool.usage()

    def lent(self) -> tuple[CallId, ...]:
        return tuple(sorted(self._lent))

    def waiting(self) -> tuple[CallId, ...]:
        return tuple(self._threads)

    def now_ms(self) -> int:
        return self._clock.hi_res_clock_ms()


VIEW = PoolView
