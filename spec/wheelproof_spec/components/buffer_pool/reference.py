"""The reference's BufferPool as `wheelproof conform` drives it: a `base.port.Port`."""

import random
from collections.abc import Callable
from functools import partial

from wheelproof.clock import ManualClock
from wheelproof.errors import WheelproofError
from wheelproof.producer import BufferPool
from wheelproof.sync import use_runtime
from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.base.port import BrokenDownError, RefusedError
from wheelproof_spec.components.buffer_pool.component import (
    DEFINITION,
    Allocate,
    CallId,
    Deallocate,
    PoolCall,
    PoolConfig,
    PoolFault,
    PoolObservation,
    PoolOutcome,
)
from wheelproof_spec.components.buffer_pool.cooperative_runtime import (
    CooperativeRuntime,
    CooperativeThread,
)
from wheelproof_spec.components.buffer_pool.port import ENDS, PoolPort
from wheelproof_spec.drive.driver.serve import ServedComponent, refused, served

_WAKE_ORDER_SEED = 0
"""The order in which threads that wake up together continue is the same in every run."""
_MILLION = 1_000_000


class ReferencePoolPort:
    """Drives a BufferPool, or a subclass of it, on a manual clock; its buffers have no memory."""

    def __init__(self, pool_class: type[BufferPool] = BufferPool) -> None:
        self._pool_class = pool_class
        self._runtime = CooperativeRuntime()
        self._reset(PoolConfig(total_memory=0, poolable_size=1))

    def perform(self, call: PoolCall) -> PoolObservation:
        """Make `call`; see `Port.perform`."""
        if isinstance(call, Reset):
            self.close()
            self._reset(call.config)
            return PoolObservation()
        try:
            with use_runtime(self._runtime):
                self._make(call)
                self._runtime.run()
        except WheelproofError as error:
            raise refused(error) from error
        return self._observe()

    def close(self) -> None:
        """End the threads that still wait."""
        with use_runtime(self._runtime):
            self._runtime.close()

    def _make(self, call: Allocate | Deallocate | Interrupt | Advance | Close) -> None:
        match call:
            case Allocate(buffer=name, fault=fault):
                thread = self._runtime.cooperative_thread(partial(self._allocate, call), name)
                self._threads[name] = thread
                thread.start()
                if fault is PoolFault.INTERRUPTED_BEFORE:
                    thread.interrupt()
            case Deallocate(buffer=name):
                if name not in self._port.buffers:
                    raise RefusedError("UnknownCall", f"{name!r} never got a buffer")
                self._port.perform(call)
                self._lent.discard(name)
            case Interrupt(name=name):
                if name in self._threads:
                    self._threads[name].interrupt()
            case Advance(to_ms=to_ms):
                self._clock.advance_to(to_ms)
            case Close():
                self._port.perform(call)

    def _reset(self, config: PoolConfig) -> None:
        choose: Callable[[int], int] = random.Random(_WAKE_ORDER_SEED).randrange
        self._runtime = CooperativeRuntime(choose)
        with use_runtime(self._runtime):
            self._clock = ManualClock(config.start_ms)
            try:
                self._port = PoolPort(
                    config, self._pool_class, clock=self._clock, caller=self._caller
                )
            except WheelproofError as error:
                raise refused(error) from error
        self._threads: dict[CallId, CooperativeThread] = {}
        self._lent: set[CallId] = set()
        self._ended: dict[CallId, PoolOutcome] = {}

    def _allocate(self, call: Allocate) -> None:
        """Allocate, on the thread of the call."""
        try:
            self._port.perform(call)
        except tuple(ENDS) as error:
            self._ended[call.buffer] = ENDS[type(error)]
        else:
            self._ended[call.buffer] = PoolOutcome.BUFFER
            self._take(call)

    def _take(self, call: Allocate) -> None:
        buffers = self._port.buffers
        buffer = buffers[call.buffer]
        shared = [name for name in self._lent if buffers[name].shares_memory_with(buffer)]
        if shared or buffer.capacity != call.size or buffer.position:
            raise BrokenDownError(
                "BufferPool.ABufferHasOneUser",
                f"{call.buffer!r} wanted {call.size} bytes and got a buffer of {buffer.capacity} "
                f"with {buffer.position} bytes in it, which {shared or 'nobody'} has as well",
            )
        self._lent.add(call.buffer)

    def _caller(self) -> str:
        current = self._runtime.current
        return "" if current is None else current.name

    def _observe(self) -> PoolObservation:
        for name, thread in list(self._threads.items()):
            if thread.ended:
                del self._threads[name]
            if isinstance(thread.error, WheelproofError):
                raise refused(thread.error)
            if thread.error is not None:
                raise thread.error
        ended, self._ended = self._ended, {}
        pool, wait_time = self._port.pool, self._port.wait_time
        return PoolObservation(
            ended=ended,
            available_memory=pool.available_memory(),
            unallocated_memory=pool.unallocated_memory(),
            queued=pool.queued(),
            wait_time_ns_total=wait_time.total_ns(),
            wait_ratio_ppm=int(wait_time.ratio() * _MILLION),
        )


def serve() -> ServedComponent:
    """Return the reference's pool, ready to be driven."""
    return served(DEFINITION, ReferencePoolPort())
