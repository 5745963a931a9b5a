"""Counters of a run that is being judged: its actions, its steps, and its times."""

import math
from collections import Counter

from wheelproof_spec.base.calls import Tick
from wheelproof_spec.base.history.lines import HistoryHeader, HistoryOp, TraceEvent
from wheelproof_spec.components.timer.component import Add, Cancel, Cancelled, Run
from wheelproof_spec.history.routing import Body, Header

_NS = 1_000_000


class RunMeter:
    """Counters of calls or actions, of the steps of threads and, for a history, of its times."""

    def __init__(self) -> None:
        self._actions: Counter[str] = Counter()
        self._steps: Counter[str] = Counter()
        self._at: dict[str, str] = {}
        self._times: HistoryMeter | None = None

    def begin(self, header: Header) -> None:
        """Take the header of the run."""
        if isinstance(header, HistoryHeader):
            self._times = HistoryMeter(header)

    def take(self, event: Body) -> None:
        """Take the next operation of a history, or the next event of a trace."""
        if isinstance(event, HistoryOp):
            if event.type == "invoke":
                self._actions[event.f] += 1
            if self._times is not None:
                self._times.take(event)
        elif isinstance(event, TraceEvent):
            self._actions[event.action] += 1
            self._steps[f"{self._at.get(event.thread, '')}>{event.action}"] += 1
            self._at[event.thread] = event.action

    def columns(self) -> dict[str, object]:
        """Return the counts as columns of the result."""
        times = self._times
        return {
            "actions": list(self._actions.items()),
            "steps": list(self._steps.items()),
            "lateness": [] if times is None else list(times.lateness.items()),
            "waits": [] if times is None else list(times.waits.items()),
        }


class HistoryMeter:
    """A meter of how late tasks ran and how long calls took.

    It counts in buckets of 2**n ms. A task's lateness is counted from the return of its add plus
    the delay, so it is a lower bound. With a virtual clock only lateness is measured; with a clock
    for each process, nothing.
    """

    def __init__(self, header: HistoryHeader[object]) -> None:
        self.lateness: Counter[int] = Counter()
        self.waits: Counter[int] = Counter()
        self._virtual = header.clock == "virtual"
        self._real = header.clock == "monotonic_ns" and header.order != "process"
        self._now_ms = 0.0
        self._asked: dict[str, tuple[HistoryOp[object], float]] = {}
        self._due: dict[str, float] = {}

    def take(self, op: HistoryOp[object]) -> None:
        """Take the next operation, in order."""
        if self._real:
            if not isinstance(op.time_ns, int):
                return
            self._now_ms = op.time_ns / _NS
        elif not self._virtual:
            return
        value = op.value
        if op.type == "invoke":
            if isinstance(value, Run):
                self._ran(value.task)
                return
            if isinstance(value, Tick):
                self._now_ms = max(self._now_ms, value.to_ms)
            self._asked[op.process] = op, self._now_ms
            return
        asked = self._asked.pop(op.process, None)
        if asked is not None:
            self._returned(asked, op)

    def _returned(self, asked: tuple[HistoryOp[object], float], op: HistoryOp[object]) -> None:
        if self._real and op.type != "info":
            self.waits[bucket(self._now_ms - asked[1])] += 1
        value = asked[0].value
        if op.type != "ok":
            return
        if isinstance(value, Add):
            self._due[value.task] = self._now_ms + max(value.delay_ms, 0)
        elif isinstance(op.value, Cancelled) and op.value.cancelled is True:
            assert isinstance(value, Cancel)
            self._due.pop(value.task, None)

    def _ran(self, task: str) -> None:
        due = self._due.pop(task, None)
        if due is not None:
            self.lateness[bucket(self._now_ms - due)] += 1


def bucket(ms: float) -> int:
    """Return 0 if `ms` is not positive, else the next power of two, in ms."""
    return 0 if ms <= 0 else 1 << (math.ceil(ms) - 1).bit_length()
