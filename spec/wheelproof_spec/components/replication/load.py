"""The load of a broker's recordings: which requests it has, and how the reference makes them.

`work` draws them from a seed; a program in another language reads them from `wheelproof load`.
`load` has the reference's broker answer them, for `wheelproof record`.

Requests come to one partition together. In a duel one caller produces, and waits for all replicas.
The followers fetch in that moment, so that an answer meets the high watermark that rises, a
consumer that waits, or its own time-out.
"""

from functools import partial
from random import Random

from wheelproof.clock import SystemClock
from wheelproof_spec.base.calls import Gauge, NumDelayed
from wheelproof_spec.base.component import Config
from wheelproof_spec.components.replication.clients import Clients
from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    MaybeShrinkInSync,
    ReplicationConfig,
)
from wheelproof_spec.components.replication.work import (
    FOLLOWERS,
    PARTITIONS,
    Consume,
    Lead,
    LoseAndLeadAgain,
    Produce,
    Replicate,
)
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load_recorder import LoadRecorder
from wheelproof_spec.history.recording.work import (
    Make,
    Pause,
    Step,
    Work,
    do_work,
    rounds,
    scattered,
    wait_until_quiet,
)

_LONGEST_WAIT_MS = 50
_SHORT_MS = 6
_SEGMENT_BYTES = 300
_RECORD_BYTES = 10
_DUELS = 3
_MEETING_US = 300


class _Draw:
    """What is drawn of a history."""

    def __init__(self, callers: Callers) -> None:
        self._threads = callers.threads
        self._hurried = callers.hurried

    def round(self, dice: Random) -> list[Step]:
        """Return one round."""
        return dice.choice((self._duels, self._scattered))(dice)

    def _duels(self, dice: Random) -> list[Step]:
        """A few produces, at which followers, consumers and time-outs come together."""
        steps: list[Step] = []
        callers = list(range(self._threads))
        for _ in range(_DUELS):
            dice.shuffle(callers)
            out_of_time = dice.randrange(2) == 0
            wait_ms = dice.randrange(1, _SHORT_MS if out_of_time else _LONGEST_WAIT_MS)
            some = _some(dice)
            produce = Produce(
                required_acks=ALL_ACKS,
                timeout_ms=wait_ms,
                partitions=some,
                sizes=(_RECORD_BYTES,) * dice.randrange(1, 3),
            )
            steps.append(Make(caller=callers[0], call=produce))
            for place, caller in enumerate(callers[1:]):
                # Some come at once, and some when the time of the produce is over.
                late_us = wait_ms * 1_000 if out_of_time and dice.randrange(2) else 0
                steps.append(Pause(caller=caller, us=late_us + dice.randrange(_MEETING_US)))
                steps.append(self._comes(dice, caller, place, some))
        return steps

    def _comes(self, dice: Random, caller: int, place: int, some: tuple[str, ...]) -> Make:
        """Return the steps of any other caller; a follower acknowledges by its second fetch."""
        if place < 2 * len(FOLLOWERS):
            follower = FOLLOWERS[place % len(FOLLOWERS)]
            call = Replicate(follower=follower, partition=dice.choice(some))
            return Make(caller=caller, call=call)
        return self._anything(dice, caller)

    def _scattered(self, dice: Random) -> list[Step]:
        """Whatever a caller may ask for, now and then."""
        return scattered(dice, self._threads, lambda caller: [self._anything(dice, caller)])

    def _anything(self, dice: Random, caller: int) -> Make:
        choice, partition = dice.randrange(100), dice.choice(PARTITIONS)
        wait_ms, some = dice.randrange(1, _LONGEST_WAIT_MS), _some(dice)
        if self._hurried and choice < 1:
            lose = LoseAndLeadAgain(partition=partition, records=dice.randrange(3))
            return Make(caller=caller, call=lose)
        if choice < 2:
            return Make(caller=caller, call=MaybeShrinkInSync())
        if choice < 35:
            acks, most = (ALL_ACKS, 3) if choice < 25 else (1, 2)
            sizes = (_RECORD_BYTES,) * dice.randrange(1, most)
            produce = Produce(required_acks=acks, timeout_ms=wait_ms, partitions=some, sizes=sizes)
            return Make(caller=caller, call=produce)
        if choice < 55:
            enough = dice.choice((1, 30))
            consume = Consume(partitions=some, max_wait_ms=wait_ms, min_bytes=enough)
            return Make(caller=caller, call=consume)
        replicate = Replicate(
            follower=dice.choice(FOLLOWERS),
            partition=partition,
            max_wait_ms=dice.choice((0, wait_ms)),
        )
        return Make(caller=caller, call=replicate)


def _some(dice: Random) -> tuple[str, ...]:
    return tuple(dice.sample(PARTITIONS, dice.randrange(1, len(PARTITIONS))))


def work(callers: Callers) -> Work:
    """Return the work of one history; in every second one partitions are lost and led again."""
    dice = Random(f"replication {callers.seed} {callers.number}")
    # Led before the first meeting, so that nobody asks for what is not there yet.
    leads = tuple(
        Make(caller=0, call=Lead(partition=partition, in_sync=FOLLOWERS))
        for partition in PARTITIONS
    )
    config = ReplicationConfig(
        segment_bytes=_SEGMENT_BYTES,
        min_in_sync_replicas=2,
        replica_lag_time_max_ms=_LONGEST_WAIT_MS,
    )
    steps = rounds(callers, dice, partial(_Draw.round, _Draw(callers)))
    return Work(config=config, steps=(*leads, *steps))


class ReplicationLoad:
    """A broker that leads all partitions, with its reapers."""

    def __init__(self, callers: Callers) -> None:
        self._work = work(callers)

    @property
    def config(self) -> Config:
        """The settings of the broker."""
        return self._work.config

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the broker until every request has been answered."""
        config = self._work.config
        assert isinstance(config, ReplicationConfig)
        clients = Clients(config, recorder, SystemClock(), in_sync_again=FOLLOWERS)
        try:
            do_work(self._work, callers, lambda step: clients.take(step.call))
            wait_until_quiet(lambda: clients.port.perform(NumDelayed()) == Gauge(count=0))
        finally:
            clients.port.manager.close()
        clients.read_gauges()


def load(callers: Callers) -> ReplicationLoad:
    """Return the load of one history."""
    return ReplicationLoad(callers)
