"""Judges the history of a broker: its requests, their answers, and its partitions.

An answer must be right at some moment between the request and the answer. A request that can surely
be answered must be answered once all calls are over that might answer it. There is no search for an
order: the cost of an event is at most the number of requests that wait for the same partitions.
"""

from collections.abc import Iterator

from wheelproof_spec.base.calls import (
    AdvanceClock,
    NumDelayed,
    NumKeys,
    PurgeCompleted,
    Tick,
    Watched,
)
from wheelproof_spec.base.history.clock import NEVER, HistoryClock, MonotonicClock
from wheelproof_spec.base.history.judging import CLOSED, ILLEGAL, ends_quietly
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.components.replication.component import (
    AppendRecords,
    BecomeFollower,
    BecomeLeader,
    FetchMessages,
    FetchResponse,
    LogContent,
    MaybeShrinkInSync,
    ProduceResponse,
    ReadLog,
    ReplicationClause,
    ReplicationConfig,
    Response,
    StopReplica,
    TruncateAsFollower,
    names_twice,
)
from wheelproof_spec.components.replication.history.broker import BrokerHistory, wrong_answer
from wheelproof_spec.components.replication.history.fetches import Fetches
from wheelproof_spec.components.replication.history.gauges import Gauges
from wheelproof_spec.components.replication.history.produces import Produces
from wheelproof_spec.components.replication.history.requests import Fetch, Produce, Request, Seen
from wheelproof_spec.components.replication.history.waiting import Waiting


class ReplicationHistoryJudge:
    """A judge that answers, event by event, which clause is broken first."""

    goes_on_after = frozenset(
        {
            ReplicationClause.ANSWERED_AT_MOST_ONCE,
            ReplicationClause.DELAYED_ARE_THE_WAITING,
            ReplicationClause.NOTHING_IS_KEPT,
        }
    )

    def __init__(
        self,
        config: ReplicationConfig,
        clock: HistoryClock,
        tally: Tally,
        *,
        as_kafka: bool = False,
    ) -> None:
        """Begin with a broker without partitions; `as_kafka` means the profile kafka."""
        self._broker = BrokerHistory(config=config, clock=clock, tally=tally, as_kafka=as_kafka)
        self._clock = clock
        self._tests = tally.tests
        self._produces = Produces(self._broker)
        self._fetches = Fetches(self._broker)
        self._waiting = Waiting(self._broker, self._produces)
        self._gauges = Gauges(self._broker)
        self._advances: dict[int, int] = {}
        """The lower bound of the clock when each open advance of the timers began."""
        self._advanced = -1
        """The index at which the last advance returned."""
        self._expired_ms = -NEVER
        """The time in ms up to which all due requests have expired."""
        self._read: dict[int, Seen] = {}
        """The lower bounds of the partition when each open read of a log began."""
        self._closed = NEVER
        """The index at which a request was first refused since the broker is closed."""
        self._has_shrunk = False
        """Whether a shrink of the in-sync sets has begun."""
        self._shrinks: dict[int, int] = {}
        """The least time that each open shrink can have read."""

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """Judge the begin of a call, or the answer to a request."""
        self._clock.at(op.time_ns)
        self._broker.time_passes()
        value = op.value
        is_read = isinstance(value, NumDelayed | NumKeys | Watched | PurgeCompleted)
        self._gauges.happens(op.index, is_read=is_read, quiet=not self._waiting.calls)
        if isinstance(value, ProduceResponse | FetchResponse):
            return self._answered(value, op.index) or self._waiting.judge(op.index)
        match value:
            case AppendRecords() | FetchMessages():
                self._request(value, op.index)
            case BecomeLeader() | BecomeFollower() | StopReplica() | TruncateAsFollower():
                partition = self._broker.partition(value.partition)
                partition.control_begins(value, op.index, self._clock.least)
            case MaybeShrinkInSync():
                self._has_shrunk = True
                self._shrinks[op.index] = self._clock.least
                self._broker.shrink_begins()
            case Tick(to_ms=to_ms):
                if not self._waiting.calls:
                    self._fetches.nobody_answers()
                self._clock.ticking(to_ms)
                self._broker.time_passes()
            case AdvanceClock():
                self._advances[op.index] = self._clock.low
            case ReadLog(partition=name):
                self._read[op.index] = self._broker.partition(name).seen
            case _:
                pass
        self._waiting.call_begins(op.index)
        return self._waiting.judge(op.index)

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        """Ignore the end of an answer's callback: nothing depends on it."""
        del op
        return None

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Judge a call that returned with an answer."""
        self._clock.at(op.time_ns)
        self._broker.time_passes()
        value, answer = asked.value, op.value
        violation: Violation | None = None
        match value:
            case AppendRecords() | FetchMessages():
                request = self._broker.requests[value.request]
                violation = self._open_again(value, asked.index)
                violation = violation or self._return(request, op.index)
            case BecomeLeader() | BecomeFollower() | StopReplica() | TruncateAsFollower():
                self._tests(ReplicationClause.KEEPS_TO_ITS_DOMAIN)
                partition = self._broker.partition(value.partition)
                now_ms = self._clock.high
                violation = partition.control_ends(value, asked.index, op.index, now_ms)
                if partition.leads or partition.lost_track:
                    partition.not_led_since_ms = NEVER
                else:
                    partition.not_led_since_ms = min(partition.not_led_since_ms, now_ms)
                if isinstance(value, StopReplica | TruncateAsFollower):
                    self._fetches.forget(value.partition)
                # Kafka tries nobody after an election that raises no watermark (finding 30).
                tries = not partition.leads or not self._broker.as_kafka
                if tries and not partition.lost_track:
                    self._waiting.loses(value.partition, asked.index, op.index)
            case MaybeShrinkInSync():
                self._broker.shrink_ends(op.index)
                self._broker.has_shrunk(asked.index, op.index, self._shrinks.pop(asked.index))
            case Tick(to_ms=to_ms):
                self._clock.ticked(to_ms)
            case AdvanceClock():
                self._expired_ms = max(self._expired_ms, self._advances.pop(asked.index))
                self._advanced = op.index
            case ReadLog(partition=name):
                assert isinstance(answer, LogContent)
                self._tests(ReplicationClause.ANSWER_IS_RIGHT)
                seen = self._read.pop(asked.index)
                violation = self._fetches.judge_log(name, answer, seen, asked.index)
            case _:
                violation = self._gauges.judge(asked, answer, self._expired_ms)
        self._call_ends(asked.index)
        return violation or self._waiting.judge(op.index)

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Judge a call that was refused and had no effect."""
        self._clock.at(op.time_ns)
        self._broker.time_passes()
        value = asked.value
        violation: Violation | None = None
        outside = op.error == ILLEGAL
        match value:
            case AppendRecords() | FetchMessages():
                self._refuse(self._broker.requests[value.request], op.index)
                violation = self._refused_within(value) if outside else None
                if op.error == CLOSED:
                    self._closed = min(self._closed, op.index)
            case BecomeLeader() | BecomeFollower() | StopReplica() | TruncateAsFollower():
                self._tests(ReplicationClause.KEEPS_TO_ITS_DOMAIN)
                partition = self._broker.partition(value.partition)
                found = partition.control_fails(value, asked.index, op.index)
                violation = found if outside else None
            case MaybeShrinkInSync():
                self._broker.shrink_ends(op.index)
                violation = _carried_out(asked.f) if outside else None
            case ReadLog() | Tick() | AdvanceClock():
                self._read.pop(asked.index, None)
            case _:
                self._gauges.given_up(asked.index)
                violation = _carried_out(asked.f) if outside else None
        self._call_ends(asked.index)
        return violation or self._waiting.judge(op.index)

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Record that the outcome of a call is unknown: it stays open, its request may wait."""
        del op
        if isinstance(asked.value, AppendRecords | FetchMessages):
            self._broker.requests[asked.value.request].expires_low = -NEVER
        self._gauges.given_up(asked.index)

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """Judge the end of the history; if it is quiescent, expired requests are answered."""
        del index
        if not ends_quietly(end):
            return None
        return self._waiting.judge_end(by_ms=max(self._expired_ms, self._owed_by()))

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        del end
        found = list(self._clock.notes(self._broker.config.lateness_ms))
        if left := self._fetches.left():
            found.append(
                f"the records of {left} answers were not compared with their logs, since nobody "
                "has shown all that stands before them"
            )
        if self._has_shrunk and not self._clock.judges_times:
            found.append("without a clock every shrink may drop any replica that lags")
        if self._has_shrunk:
            found.append(
                "whether a shrink drops all replicas that lag was not judged"
                if self._broker.as_kafka
                else "a shrink was held to drop only those replicas that surely lagged"
            )
        for name, partition in self._broker.partitions.items():
            if partition.lost_track:
                found.append(
                    f"the log of {name!r} was not judged from where calls that change it met"
                )
        return tuple(found)

    def _owed_by(self) -> int:
        """Return the time up to which a broker that claims a lateness has expired what was due."""
        lateness_ms = self._broker.config.lateness_ms
        if isinstance(lateness_ms, int) and isinstance(self._clock, MonotonicClock):
            return self._clock.low - lateness_ms
        return -NEVER

    def _request(self, call: AppendRecords | FetchMessages, index: int) -> None:
        if call.request in self._broker.requests:
            raise MalformedError(f"names the request {call.request!r} again")
        if isinstance(call, AppendRecords):
            self._gauges.asked(self._produces.begins(call, index))
        else:
            self._gauges.asked(self._fetches.begins(call, index))

    def _call_ends(self, invoked: int) -> None:
        self._waiting.call_ends(invoked)
        if not self._waiting.calls:
            self._gauges.is_quiet()

    def _answered(self, response: Response, index: int) -> Violation | None:
        request = self._broker.requests.get(response.request)
        self._tests(ReplicationClause.ANSWERED_AT_MOST_ONCE)
        if request is None:
            return _answered_wrongly(
                ReplicationClause.NOT_ANSWERED_BEFORE, response, "nobody had made it"
            )
        if request not in self._broker.waiting:
            clause = ReplicationClause.ANSWERED_AT_MOST_ONCE
            return _answered_wrongly(clause, response, "it had been answered before")
        self._broker.is_over(request)
        request.ended = index if request.ended is None else request.ended
        left = bool(self._advances) or self._advanced > request.invoked
        self._gauges.answered(request, left=left)
        if request.expires_high <= self._owed_by():
            return ReplicationClause.ANSWERED_WHEN_IT_CAN_BE.broken(
                f"{request.name} is answered within {self._broker.config.lateness_ms} ms",
                f"{request.name}: answered at {self._clock.low} ms or later",
                f"{request.name} was answered at {self._clock.low} ms or later, but its time was "
                f"over by {request.expires_high} ms",
            )
        self._tests(ReplicationClause.ANSWER_IS_RIGHT)
        named = [answer.partition for answer in response.partitions]
        for violation in self._judge_answer(request, response, named):
            if violation is not None:
                return violation
        return None

    def _judge_answer(
        self, request: Request, response: Response, named: list[str]
    ) -> Iterator[Violation | None]:
        expected = list(request.partitions)
        if isinstance(request, Produce) and isinstance(response, ProduceResponse):
            fits = sorted(named) == sorted(expected)
        else:
            fits = named == expected
        if isinstance(request, Produce) is not isinstance(response, ProduceResponse) or not fits:
            yield wrong_answer(
                request.name,
                f"an answer for each of {expected}",
                f"answers for {named}",
                f"{request.name} asked for {expected}, but was answered for {named}",
            )
        elif isinstance(request, Fetch) and isinstance(response, FetchResponse):
            yield from self._fetches.answer(request, response)
        elif isinstance(request, Produce) and isinstance(response, ProduceResponse):
            yield from self._produces.answer(request, response)
            for name in request.partitions:
                yield self._fetches.catch_up(name)

    def _return(self, request: Request, index: int) -> Violation | None:
        request.returned = index
        request.ended = index if request.ended is None else request.ended
        request.expires_high = self._clock.ceiling + request.timeout_ms
        if isinstance(request, Fetch):
            self._fetches.ends(request, index)
        if request not in self._broker.waiting:
            return None
        violation: Violation | None = None
        if isinstance(request, Fetch):
            request.at_once = request.at_once or self._fetches.has_to_be_refused(request)
        elif isinstance(request, Produce):
            violation = self._produces.waits(request)
        self._waiting.returns(request, index)
        return violation

    def _refuse(self, request: Request, index: int) -> None:
        request.returned = request.ended = index
        self._broker.is_over(request)
        if isinstance(request, Produce):
            self._produces.fails(request)
        elif isinstance(request, Fetch):
            self._fetches.ends(request, index, refused=True)

    def _refused_within(self, call: AppendRecords | FetchMessages) -> Violation | None:
        self._tests(ReplicationClause.KEEPS_TO_ITS_DOMAIN)
        named = call.entries if isinstance(call, AppendRecords) else call.partitions
        empty = isinstance(call, AppendRecords) and not all(entry.records for entry in call.entries)
        return None if empty or names_twice(named) else _carried_out(call.request)

    def _open_again(self, call: AppendRecords | FetchMessages, invoked: int) -> Violation | None:
        """Judge whether a request was taken that began after one was refused as closed (5.6.1)."""
        if self._closed == NEVER:
            return None
        self._tests(ReplicationClause.KEEPS_TO_ITS_DOMAIN)
        if invoked < self._closed:
            return None
        return ReplicationClause.KEEPS_TO_ITS_DOMAIN.broken(
            f"{call.request} is refused",
            f"{call.request} was carried out",
            f"{call.request} was carried out, though the broker had been closed before",
        )


def _carried_out(what: str) -> Violation:
    return ReplicationClause.KEEPS_TO_ITS_DOMAIN.broken(
        f"{what} is carried out",
        f"{what} was refused as outside the domain",
        f"{what} was refused as outside the domain, but is within it",
    )


def _answered_wrongly(clause: ReplicationClause, response: Response, reason: str) -> Violation:
    name = response.request
    why = f"{name} was answered, but {reason}"
    return clause.broken(f"{name}: no answer", f"{name}: an answer", why)
