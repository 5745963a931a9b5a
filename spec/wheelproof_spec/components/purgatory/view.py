"""Pictures of a purgatory's driven case: the watch lists by key, and the time-outs."""

from collections.abc import Hashable

from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.drawing import Markup, chip, shelf
from wheelproof_spec.base.strict_json import JsonObject
from wheelproof_spec.components.purgatory.component import (
    DEFINITION,
    OperationId,
    PurgatoryObservation,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.port import NamedOperation
from wheelproof_spec.components.purgatory.reference import ReferencePurgatoryPort

_WIRE = DrivenWire(DEFINITION)


class PurgatoryView:
    """A view that follows a case on the reference's purgatory."""

    def __init__(self, profile: str) -> None:
        del profile
        self._port = _VisiblePurgatory()
        self._due_ms: dict[OperationId, int] = {}
        self._seen = PurgatoryObservation()

    def perform(self, operation: str, content: JsonObject, answer: JsonObject) -> JsonObject:
        """Make a call and return what the reference answers; see `CaseView`."""
        del answer
        call = _WIRE.parse_call(operation, content)
        if isinstance(call, Reset):
            self._due_ms = {}
        if isinstance(call, TryCompleteElseWatch):
            self._due_ms[call.operation] = self._port.now_ms() + call.delay_ms
        self._seen = PurgatoryObservation()
        self._seen = self._port.perform(call)
        return _WIRE.answer(call, self._seen)

    def picture(self) -> Markup:
        """Return the lists; an operation that is done and still in a list is struck out."""
        port, seen = self._port, self._seen
        rows = [shelf("clock", [chip(f"{port.now_ms():,} ms")])]
        lists = port.lists()
        rows += [
            shelf(f"key {key}", [chip(name, "over" if over else "") for name, over in names])
            for key, names in lists
        ] or [shelf("keys", [])]
        alive = port.alive()
        waiting = sorted((self._due_ms[name], name) for name in alive if name in self._due_ms)
        rows += [
            shelf("time-outs", [chip(f"{name} at {due:,} ms") for due, name in waiting]),
            shelf("conditions that hold", [chip(name) for name in port.conditions()]),
            shelf(
                "completes in this step",
                [
                    chip(f"{name}{' (expired)' if name in seen.on_expiration else ''}", "done")
                    for name in seen.on_complete
                ],
            ),
        ]
        return Markup("").join(rows)


class _OpenPurgatory(DelayedOperationPurgatory[DelayedOperation]):
    def lists(self) -> tuple[tuple[Hashable, tuple[DelayedOperation, ...]], ...]:
        return tuple(
            (key, watchers.operations())
            for shard in self._all_shards()
            for key, watchers in shard.all_watchers()
        )


class _VisiblePurgatory(ReferencePurgatoryPort):
    def __init__(self) -> None:
        super().__init__(_OpenPurgatory)

    def now_ms(self) -> int:
        return self._clock.hi_res_clock_ms()

    def conditions(self) -> tuple[str, ...]:
        return tuple(sorted(self._port.conditions))

    def alive(self) -> tuple[OperationId, ...]:
        return tuple(
            name for name, operation in self._port.operations.items() if not operation.is_done()
        )

    def lists(self) -> list[tuple[str, list[tuple[str, bool]]]]:
        """Return each key with the operations in its list, and whether they are done."""
        purgatory = self._port.purgatory
        found = purgatory.lists() if isinstance(purgatory, _OpenPurgatory) else ()
        return sorted(
            (
                str(key),
                [
                    (operation.name, operation.is_done())
                    for operation in operations
                    if isinstance(operation, NamedOperation)
                ],
            )
            for key, operations in found
        )


VIEW = PurgatoryView
