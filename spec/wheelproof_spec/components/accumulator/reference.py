"""The reference's RecordAccumulator as `wheelproof conform` drives it: a `base.port.Port`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from wheelproof.clock import ManualClock
from wheelproof.errors import ThreadInterruptedError, WheelproofError
from wheelproof.producer import (
    BufferExhaustedError,
    BufferOverflowError,
    ByteBuffer,
    ProducerClosedError,
    RecordAccumulator,
)
from wheelproof.producer.byte_buffer import allocate_byte_buffer, allocate_stand_in
from wheelproof.sync import use_runtime
from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.base.codec.vocabulary import Absent, Wire
from wheelproof_spec.components.accumulator.calls import (
    Abort,
    Append,
    Appended,
    AppendedRecord,
    AppendFault,
    AppendRefusal,
    Callback,
    CallbackFault,
    Drain,
    Drained,
    DrainedBatch,
    Expire,
    Flush,
    Mute,
    OfBatch,
    Readiness,
    Ready,
    Reenqueue,
    Respond,
    Split,
    Unmute,
)
from wheelproof_spec.components.accumulator.component import (
    DEFINITION,
    AccumulatorCall,
    AccumulatorConfig,
    AccumulatorObservation,
)
from wheelproof_spec.components.accumulator.oracle.ledger import AGAIN, CLOSE_TO_NOTHING
from wheelproof_spec.components.accumulator.port import Parts, RecordAccumulatorPort
from wheelproof_spec.components.buffer_pool.cooperative_runtime import (
    CooperativeRuntime,
    CooperativeThread,
)
from wheelproof_spec.drive.driver.serve import ServedComponent, refused, served

_SENDER = "sender"
_ENDS: dict[type[BaseException], AppendRefusal] = {
    BufferExhaustedError: AppendRefusal.EXHAUSTED,
    ProducerClosedError: AppendRefusal.CLOSED,
    ThreadInterruptedError: AppendRefusal.INTERRUPTED,
    MemoryError: AppendRefusal.FAILED,
    BufferOverflowError: AppendRefusal.FAILED,
}


class CallbackError(Exception):
    """The error that a callback raises if its case asks for it."""


class ReferenceAccumulatorPort:
    """Drives a RecordAccumulator, or a subclass of it, on a manual clock, with real buffers."""

    def __init__(self, accumulator_class: type[RecordAccumulator] = RecordAccumulator) -> None:
        self._accumulator_class = accumulator_class
        self._runtime = CooperativeRuntime()
        self._reset(CLOSE_TO_NOTHING)

    def perform(self, call: AccumulatorCall) -> AccumulatorObservation:
        """Make `call`; see `Port.perform`."""
        if isinstance(call, Reset):
            self.close()
            self._reset(call.config)
            return AccumulatorObservation()
        self._answer = AccumulatorObservation()
        with use_runtime(self._runtime):
            self._begin(call)
            self._runtime.run()
        for name, thread in list(self._threads.items()):
            if thread.ended:
                del self._threads[name]
            if isinstance(thread.error, WheelproofError):
                raise refused(thread.error)
            if thread.error is not None:
                raise thread.error
        return self._observe()

    def close(self) -> None:
        """End the threads that still wait."""
        with use_runtime(self._runtime):
            self._runtime.close()

    def _reset(self, config: AccumulatorConfig) -> None:
        self._config = config
        self._runtime = CooperativeRuntime()
        with use_runtime(self._runtime):
            self._clock = ManualClock(config.start_ms)
            self._port = RecordAccumulatorPort(
                config,
                self._on_completion,
                Wire.DRIVEN,
                self._accumulator_class,
                clock=self._clock,
                allocator=self._allocate,
            )
        self._threads: dict[str, CooperativeThread] = {}
        self._appends: dict[str, Append] = {}
        self._requests: dict[str, tuple[memoryview, bytes]] = {}
        self._called_back: list[Callback] = []
        self._appended: list[AppendedRecord] = []
        self._refused: dict[str, AppendRefusal] = {}
        self._flushed: dict[str, bool] = {}
        self._answer = AccumulatorObservation()

    def _begin(self, call: AccumulatorCall) -> None:
        match call:
            case Append(record=record):
                self._start(record, partial(self._append, call))
            case Flush(flush=flush):
                self._start(flush, partial(self._flush, call))
            case Interrupt(name=name):
                if name in self._threads:
                    self._threads[name].interrupt()
            case Advance(to_ms=to_ms):
                self._clock.advance_to(to_ms)
            case Close():
                self._port.perform(call)
            case Reset():
                raise AssertionError(call)
            case _:
                # On a thread of its own, since an abort waits for the appends under way.
                self._start(_SENDER, partial(self._send, call))

    def _start(self, name: str, target: Callable[[], None]) -> None:
        thread = self._runtime.cooperative_thread(target, name)
        self._threads[name] = thread
        thread.start()

    def _append(self, call: Append) -> None:
        """Append a record, on the thread of the call or of the callback that sends it again."""
        self._appends[call.record] = call
        try:
            answer = self._port.perform(call)
        except tuple(_ENDS) as error:
            self._refused[call.record] = _ENDS[type(error)]
        else:
            assert isinstance(answer, Appended)
            self._appended.append(
                AppendedRecord(
                    record=call.record,
                    batch_is_full=answer.batch_is_full,
                    new_batch_created=answer.new_batch_created,
                )
            )

    def _on_completion(self, callback: Callback) -> None:
        self._called_back.append(callback)
        call = self._appends[callback.record]
        if call.callback is CallbackFault.RAISES:
            raise CallbackError
        if call.callback is CallbackFault.SENDS_AGAIN:
            self._send_again(
                Append(
                    record=call.record + AGAIN,
                    partition=call.partition,
                    size=call.size,
                    max_time_to_block_ms=0,
                )
            )

    def _send_again(self, call: Append) -> None:
        try:
            self._append(call)
        except WheelproofError:
            # Too large for the pool: refuse this append; the call that runs the callback goes on.
            self._refused[call.record] = AppendRefusal.FAILED

    def _flush(self, call: Flush) -> None:
        try:
            self._port.perform(call)
        except ThreadInterruptedError:
            self._flushed[call.flush] = True
        else:
            self._flushed[call.flush] = False

    def _send(self, call: Ready | Drain | Respond | Reenqueue | Split | Expire | Abort) -> None:
        """Make a call of the sender."""
        answer = self._port.perform(call)
        match answer:
            case Readiness(next_ready_check_delay_ms=delay_ms):
                self._answer = AccumulatorObservation(
                    ready_nodes=answer.ready_nodes,
                    unknown_leader_topics=answer.unknown_leader_topics,
                    next_ready_check_delay_ms=None if isinstance(delay_ms, Absent) else delay_ms,
                )
            case Drained(batches=batches):
                self._take(batches)
                self._answer = AccumulatorObservation(batches=batches)
            case Parts(children=children):
                self._answer = AccumulatorObservation(children=children)
            case _:
                pass
        if isinstance(call, Expire):
            next_expiry_ms = self._port.accumulator.next_expiry_time_ms()
            self._answer = AccumulatorObservation(next_expiry_ms=next_expiry_ms)
        if isinstance(call, OfBatch):
            # Only now: a response that was refused must change nothing.
            del self._requests[call.batch]
            partition = self._port.partition_of(self._port.batch(call.batch))
            self._port.perform(Unmute(partition=partition))

    def _take(self, drained: Sequence[DrainedBatch]) -> None:
        """Note the requests, and mute their partitions."""
        for taken in drained:
            request = self._port.batch(taken.batch).records()
            self._requests[taken.batch] = request, bytes(request)
            self._port.perform(Mute(partition=taken.partition))

    def _allocate(self, size: int) -> ByteBuffer:
        current = self._runtime.current
        append = None if current is None else self._appends.get(current.name)
        fault = None if append is None else append.fault
        if fault is AppendFault.ALLOCATOR:
            raise MemoryError
        # The capacity is unusual, so that the pool does not keep the buffer for reuse.
        return allocate_stand_in(size + 1) if fault else allocate_byte_buffer(size)

    def _observe(self) -> AccumulatorObservation:
        requests = self._requests.items()
        overwritten = tuple(name for name, (memory, sent) in requests if bytes(memory) != sent)
        called_back, self._called_back = self._called_back, []
        appended, self._appended = self._appended, []
        refused_appends, self._refused = self._refused, {}
        flushed, self._flushed = self._flushed, {}
        accumulator, answer = self._port.accumulator, self._answer
        return replace(
            answer,
            called_back=tuple(called_back),
            appended=tuple(appended),
            refused=refused_appends,
            flushed=flushed,
            available_memory=self._port.pool.available_memory(),
            has_undrained=accumulator.has_undrained(),
            has_incomplete=accumulator.has_incomplete(),
            flush_in_progress=accumulator.flush_in_progress(),
            in_flight_ended=any(batch.is_done() for batch in accumulator.in_flight()),
            overwritten=overwritten,
        )


def serve() -> ServedComponent:
    """Return the reference's accumulator, ready to be driven."""
    return served(DEFINITION, ReferenceAccumulatorPort())
