"""Judges the history of a broker: its requests, their answers, and its partitions.

An answer must be right at some moment between the request and the answer. A request that can surely
be answered must be answered once all calls are over that might answer it. There is no search for an
order: the cost of an event is at most the number of requests that wait for the same partitions.
"""

from collections.abc import Iterable, Iterator

from wheelproof_spec.base.calls import AdvanceClock, Gauge, NumDelayed, NumKeys, Tick
from wheelproof_spec.base.history.clock import NEVER, HistoryClock, MonotonicClock, VirtualClock
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
from wheelproof_spec.components.replication.history.produces import Produces
from wheelproof_spec.components.replication.history.requests import Fetch, Produce, Request, Seen
from wheelproof_spec.components.replication.history.waiting import Waiting

ILLEGAL = "IllegalArgument"


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
        self._waiting = Waiting(self._broker)
        self._advances: dict[int, int] = {}
        """The lower bound of the clock when each open advance of the timers began."""
        self._advanced = -1
        """The index at which the last advance returned."""
        self._expired_ms = -NEVER
        """The time in ms up to which all due requests have expired."""
        self._left: list[Request] = []
        """The answered requests whose time-outs an advance may have left in a timer (1.11)."""
        self._read: dict[int, Seen] = {}
        """The lower bounds of the partition when each open read of a log began."""
        self._looks: dict[int, bool] = {}
        """The open gauge reads and purges, and whether nothing else has happened since."""
        self._shrinks = False
        """Whether a shrink of the in-sync sets has begun."""
        self._purged = False
        """Whether only gauge reads have happened since a purge of the lists."""

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """Judge the begin of a call, or the answer to a request."""
        self._clock.at(op.time_ns)
        self._broker.time_passes()
        value = op.value
        self._looks = dict.fromkeys(self._looks, False)
        if isinstance(value, ProduceResponse | FetchResponse):
            self._purged = False
            return self._answered(value, op.index) or self._waiting.judge(op.index)
        match value:
            case AppendRecords() | FetchMessages():
                self._request(value, op.index)
            case BecomeLeader() | BecomeFollower() | StopReplica() | TruncateAsFollower():
                partition = self._broker.partition(value.partition)
                partition.control_begins(value, op.index, self._clock.least)
            case MaybeShrinkInSync():
                self._shrinks = True
                self._broker.shrink_begins()
            case Tick(to_ms=to_ms):
                self._clock.ticking(to_ms)
                self._broker.time_passes()
            case AdvanceClock():
                self._advances[op.index] = self._clock.low
            case ReadLog(partition=name):
                self._read[op.index] = self._broker.partition(name).seen
            case _:
                self._looks[op.index] = not self._waiting.calls
        self._purged = self._purged and op.index in self._looks
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
                self._return(self._broker.requests[value.request], op.index)
            case BecomeLeader() | BecomeFollower() | StopReplica() | TruncateAsFollower():
                self._tests(ReplicationClause.KEEPS_TO_ITS_DOMAIN)
                partition = self._broker.partition(value.partition)
                violation = partition.control_ends(value, asked.index, op.index)
                if isinstance(value, StopReplica | TruncateAsFollower):
                    self._fetches.forget(value.partition)
                if not partition.leads and not partition.lost_track:
                    self._waiting.loses(partition, asked.index, op.index)
            case MaybeShrinkInSync():
                self._broker.shrink_ends(op.index)
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
                violation = self._judge_look(asked, answer)
        self._waiting.call_ends(asked.index)
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
            case BecomeLeader() | BecomeFollower() | StopReplica() | TruncateAsFollower():
                self._tests(ReplicationClause.KEEPS_TO_ITS_DOMAIN)
                partition = self._broker.partition(value.partition)
                found = partition.control_fails(value, asked.index, op.index)
                violation = found if outside else None
            case MaybeShrinkInSync():
                self._broker.shrink_ends(op.index)
            case _:
                self._looks.pop(asked.index, None)
                self._read.pop(asked.index, None)
        self._waiting.call_ends(asked.index)
        return violation or self._waiting.judge(op.index)

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Record that the outcome of a call is unknown: it stays open, its request may wait."""
        del op
        if isinstance(asked.value, AppendRecords | FetchMessages):
            self._broker.requests[asked.value.request].expires_low = -NEVER
        self._looks.pop(asked.index, None)

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """Judge the end of the history; if it is quiescent, expired requests are answered."""
        del index
        if end is None or not end.quiet:
            return None
        by_ms, lateness_ms = self._expired_ms, self._broker.config.lateness_ms
        if isinstance(lateness_ms, int) and isinstance(self._clock, MonotonicClock):
            by_ms = max(by_ms, self._clock.low - lateness_ms)
        return self._waiting.judge_end(by_ms=by_ms)

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        del end
        found = list(self._clock.notes(self._broker.config.lateness_ms))
        if left := self._fetches.left():
            found.append(
                f"the records of {left} answers were not compared with their logs, since nobody "
                "has shown all that stands before them"
            )
        if self._shrinks and not self._clock.judges_times:
            found.append("without a clock every shrink may drop any replica that lags")
        if self._shrinks:
            found.append("whether a shrink drops all replicas that lag was not judged")
        for name, partition in self._broker.partitions.items():
            if partition.lost_track:
                found.append(
                    f"the log of {name!r} was not judged from where calls that change it met"
                )
        return tuple(found)

    def _request(self, call: AppendRecords | FetchMessages, index: int) -> None:
        if call.request in self._broker.requests:
            raise MalformedError(f"names the request {call.request!r} again")
        if isinstance(call, AppendRecords):
            self._produces.begins(call, index)
        else:
            self._fetches.begins(call, index)

    def _answered(self, response: Response, index: int) -> Violation | None:
        request = self._broker.requests.get(response.request)
        self._tests(ReplicationClause.ANSWERED_AT_MOST_ONCE)
        if request is None:
            return _answered_wrongly(
                ReplicationClause.NOT_ANSWERED_BEFORE, response, "nobody made it"
            )
        if request not in self._broker.waiting:
            clause = ReplicationClause.ANSWERED_AT_MOST_ONCE
            return _answered_wrongly(clause, response, "it was answered before")
        self._broker.is_over(request)
        request.ended = index if request.ended is None else request.ended
        if self._advances or self._advanced > request.invoked:
            self._left.append(request)
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
                f"{named}",
                "it was asked for these",
            )
        elif isinstance(request, Fetch) and isinstance(response, FetchResponse):
            yield from self._fetches.answer(request, response)
        elif isinstance(request, Produce) and isinstance(response, ProduceResponse):
            yield from self._produces.answer(request, response)
            for name in request.partitions:
                yield self._fetches.catch_up(name)

    def _return(self, request: Request, index: int) -> None:
        request.returned = index
        request.ended = index if request.ended is None else request.ended
        request.expires_high = self._clock.ceiling + request.timeout_ms
        if isinstance(request, Fetch):
            self._fetches.ends(request, index)
        if request not in self._broker.waiting:
            return
        if isinstance(request, Fetch):
            request.at_once = request.at_once or self._fetches.has_to_be_refused(request)
        self._waiting.returns(request, index)

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
        if empty or names_twice(named):
            return None
        return ReplicationClause.KEEPS_TO_ITS_DOMAIN.broken(
            f"{call.request} is carried out",
            f"{call.request} was refused as outside the domain",
            "it lies within the domain",
        )

    def _judge_look(self, asked: HistoryOp[object], answer: object) -> Violation | None:
        """Compare a gauge with the waiting requests, if nothing else was under way."""
        if not self._looks.pop(asked.index):
            return None
        if not isinstance(answer, Gauge):
            self._purged = True
            return None
        waiting = self._broker.waiting
        sure = [request for request in waiting if not self._broker.may_have_expired(request)]
        if isinstance(asked.value, NumDelayed):
            if not isinstance(self._clock, VirtualClock):
                # An unrecorded advance may be moving time-outs from list to list.
                return None
            clause = ReplicationClause.DELAYED_ARE_THE_WAITING
            self._left = [left for left in self._left if left.expires_high > self._expired_ms]
            least, most = len(sure), len(waiting) + len(self._left)
        elif not self._purged:
            return None
        else:
            clause = ReplicationClause.NOTHING_IS_KEPT
            lists = (_watches(sure), _watches(waiting))
            keys = isinstance(asked.value, NumKeys)
            least, most = (len({*watches} if keys else watches) for watches in lists)
        self._tests(clause)
        if least <= answer.count <= most:
            return None
        return clause.broken(
            f"{asked.f}: {least} to {most}",
            f"{asked.f}: {answer.count}",
            "so many requests wait, and nothing else was under way",
        )


def _watches(requests: Iterable[Request]) -> list[tuple[type[Request], str]]:
    return [(type(request), name) for request in requests for name in request.partitions]


def _answered_wrongly(clause: ReplicationClause, response: Response, reason: str) -> Violation:
    return clause.broken(f"{response.request}: no answer", f"{response.request}: an answer", reason)
