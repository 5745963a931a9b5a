"""Recordings that the demo makes in other processes: a known bug, and traces of the reference."""

import random
from functools import partial
from pathlib import Path

import wheelproof
from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_lab.bugs.timer import BUGS
from wheelproof_lab.trace.recorder import tracing
from wheelproof_spec.base.calls import Close
from wheelproof_spec.base.codec.vocabulary import Implementation
from wheelproof_spec.base.history.lines import HistoryHeader
from wheelproof_spec.components.timer.component import Add, Cancel, Run, TimerConfig
from wheelproof_spec.components.timer.port import TimerPort
from wheelproof_spec.history.recording.load_recorder import LoadRecorder, RecordedPort

BUG = find_bug(BUGS, "KAFKA-2226/no-cancelled-test")
"""A timer that runs cancelled tasks, and reports tasks that have run as cancelled."""
_ROUNDS = 8
_TICK_MS, _WHEEL_SIZE = 1, 20


class _Idle(TimerTask):
    def run(self) -> None:
        """Do nothing: the trace has the steps of the timer."""


def record_known_bug(path: str, runs: int, seed: int) -> None:
    """Record histories of a timer with the known bug: each cancels a task that has run."""
    dice = random.Random(seed)
    config = TimerConfig(tick_ms=_TICK_MS, wheel_size=_WHEEL_SIZE, runs="later")
    with Path(path).open("wb") as stream:
        for number in range(runs):
            name = f"known-bug-{seed}-{number}"
            recorder = LoadRecorder(name)
            _use_known_bug(recorder, config, tasks=dice.randrange(1, _ROUNDS))
            header: HistoryHeader[object] = HistoryHeader(
                schema="wheelproof.history/1",
                kind="header",
                history=name,
                component="timer",
                impl=Implementation(name=wheelproof.__name__, version=BUG.id),
                config=config,
                clock="virtual",
                profile="kafka",
            )
            recorder.write_to(stream, header)


def _use_known_bug(recorder: LoadRecorder, config: TimerConfig, tasks: int) -> None:
    executor = DeferredExecutor()
    port = TimerPort(
        config,
        lambda task: recorder.begins(Run(task=task)),
        BUG.timer_class,
        clock=ManualClock(0),
        executor=executor,
    )
    timer = RecordedPort(port, recorder)
    names = [f"t{number}" for number in range(tasks)]
    for name in names:
        timer.perform(Add(task=name, delay_ms=0))
    executor.run_pending()
    for name in names:
        timer.perform(Cancel(task=name))
    port.perform(Close())


def record_traces(folder: str, runs: int, seed: int) -> None:
    """Record white-box traces of the reference's timer with two threads, one trace a file."""
    for number in range(runs):
        config = TimerConfig(tick_ms=_TICK_MS, wheel_size=_WHEEL_SIZE)
        with tracing(Path(folder) / f"reference-trace-{number}.jsonl", config):
            _use_reference(random.Random(f"{seed} {number}"))


def _use_reference(dice: random.Random) -> None:
    timer = SystemTimer("demo", tick_ms=_TICK_MS, wheel_size=_WHEEL_SIZE)
    shared = [_Idle(delay_ms) for delay_ms in (0, 1, 30)]
    delays = [[dice.choice((0, 1, 2, 25)) for _ in range(_ROUNDS)] for _ in range(2)]

    def use(delays_ms: list[int]) -> None:
        for number, delay_ms in enumerate(delays_ms):
            own = _Idle(delay_ms)
            timer.add(own)
            shared[number % len(shared)].cancel()
            timer.advance_clock(Millis(1))
            own.cancel()

    for task in shared:
        timer.add(task)
    threads = [sync.thread(partial(use, mine), f"t{n}") for n, mine in enumerate(delays)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    timer.close()
