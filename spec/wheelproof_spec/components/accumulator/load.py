"""The load of an accumulator's recordings: which calls it has, and how the reference makes them.

`work` draws the calls from a seed; a program in another language reads them from `wheelproof load`.
`load` has the reference's accumulator make them, for `wheelproof record`.

Appends fill and end batches together, beside a sender. In a rush all callers append to one
partition at once, so that they meet at its last batch and at the memory for the next one. The steps
of the sender are drawn as well, as if it were one more caller. It repeats them until the callers
have finished, since nobody knows how many batches there will be.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from random import Random

from wheelproof import sync
from wheelproof_spec.base.calls import AvailableMemory, Close
from wheelproof_spec.base.component import Config
from wheelproof_spec.components.accumulator.calls import (
    Abort,
    Append,
    Drain,
    DrainedBatch,
    Expire,
    Flush,
    FlushInProgress,
    HasIncomplete,
    Ready,
    Unmute,
)
from wheelproof_spec.components.accumulator.clients import Clients
from wheelproof_spec.components.accumulator.component import AccumulatorConfig
from wheelproof_spec.components.accumulator.port import AccumulatorRequest
from wheelproof_spec.components.accumulator.work import CloseAll, RespondToOne
from wheelproof_spec.history.recording.callers import Callers, LoadFailedError
from wheelproof_spec.history.recording.load_recorder import LoadRecorder
from wheelproof_spec.history.recording.work import (
    LONGEST_PAUSE_US,
    Make,
    Meet,
    Pause,
    Step,
    Work,
    do_work,
    rounds,
    scattered,
)

_PARTITIONS: tuple[str, ...] = ("topic-0", "topic-1", "other-2")
_TOPICS = {"other-2": "other"}
_NODE = 0
_BATCH_SIZE = 512
_BATCHES = 16
_BACKOFF_MS = 2
_LINGER_MS = 2
_LONG_MS, _SHORT_MS = 60_000, 30
_LONGEST_VALUE = 200
_LONGEST_BLOCK_MS = 50
_RUSH = 6
_MAX_SIZE = 700
"""Less than two full batches, so a drain passes over some partition."""
_TURNS = 64
"""After so many turns the sender begins anew."""
_LEADERLESS_ONE_IN = 16
_ANSWERED_A_TURN = 2
_LATE_ONE_IN = 3
_SENDER_PAUSE_US = 200


class _Draw:
    """What has been drawn of a history so far."""

    def __init__(self, callers: Callers) -> None:
        self._threads = callers.threads
        self._made = 0

    def round(self, dice: Random) -> list[Step]:
        """Return one round."""
        return dice.choice((self._rush, self._scattered))(dice)

    def _rush(self, dice: Random) -> list[Step]:
        """All append to one partition, and one of them may flush in the middle."""
        partition, flushing = dice.choice(_PARTITIONS), dice.randrange(2 * self._threads)
        steps: list[Step] = []
        for caller in range(self._threads):
            steps.append(Pause(caller=caller, us=dice.randrange(_SENDER_PAUSE_US)))
            for place in range(_RUSH):
                if caller == flushing and place == _RUSH // 2:
                    steps.append(Make(caller=caller, call=Flush()))
                steps.append(self._append(dice, caller, partition))
        return steps

    def _scattered(self, dice: Random) -> list[Step]:
        """Whatever a caller may ask for, now and then."""
        return scattered(dice, self._threads, lambda caller: [self._anything(dice, caller)])

    def _anything(self, dice: Random, caller: int) -> Make:
        choice = dice.randrange(200)
        if choice == 0:
            return Make(caller=caller, call=Flush())
        if choice < 6:
            gauges = AvailableMemory(), HasIncomplete(), FlushInProgress()
            return Make(caller=caller, call=dice.choice(gauges))
        return self._append(dice, caller, dice.choice(_PARTITIONS))

    def _append(self, dice: Random, caller: int, partition: str) -> Make:
        self._made += 1
        call = Append(
            record=f"r{self._made - 1}",
            partition=partition,
            size=dice.randrange(_LONGEST_VALUE),
            max_time_to_block_ms=dice.randrange(_LONGEST_BLOCK_MS),
        )
        return Make(caller=caller, call=call)

    def end(self, dice: Random, *, by_force: bool) -> list[Step]:
        """Close by force while the others append and wait; or flush, and close when all is done."""
        closer = dice.randrange(self._threads)
        close = Make(caller=closer, call=CloseAll(by_force=by_force))
        if not by_force:
            return [Meet(), Make(caller=closer, call=Flush()), close]
        pause = Pause(caller=closer, us=dice.randrange(LONGEST_PAUSE_US))
        appends = self._scattered(dice)
        of_others = [step for step in appends if isinstance(step, Meet) or step.caller != closer]
        return [Meet(), pause, close, *of_others]


def _serving(dice: Random, sender: int) -> list[Make | Pause]:
    """Return what the sender does: ready, drain, answer, in the order of Kafka's Sender."""
    steps: list[Make | Pause] = []
    for turn in range(_TURNS):
        without = turn % _LEADERLESS_ONE_IN
        leaders = dict.fromkeys(_PARTITIONS[:without] + _PARTITIONS[without + 1 :], _NODE)
        drain = Drain(node=_NODE, partitions=_PARTITIONS, max_size=_MAX_SIZE)
        steps.append(Make(caller=sender, call=Ready(leaders=leaders)))
        steps.append(Make(caller=sender, call=drain))
        steps.append(Pause(caller=sender, us=dice.randrange(_SENDER_PAUSE_US)))
        # Some answers come only after a later drain.
        in_time = [dice.randrange(_LATE_ONE_IN) > 0 for _ in range(_ANSWERED_A_TURN)]
        steps += [Make(caller=sender, call=_answer(dice)) for _ in range(sum(in_time))]
        steps.append(Make(caller=sender, call=Expire()))
    return steps


def _answer(dice: Random) -> RespondToOne:
    choice, batch = dice.randrange(100), dice.randrange(len(_PARTITIONS))
    if choice < 10:
        return RespondToOne(batch=batch, answer="again")
    return RespondToOne(batch=batch, answer="failed" if choice < 15 else "stored")


def work(callers: Callers) -> Work:
    """Return the work of one history; in every second one batches expire, and it is closed."""
    dice = Random(f"accumulator {callers.seed} {callers.number}")
    drawn = _Draw(callers)
    steps = list(rounds(callers, dice, partial(_Draw.round, drawn)))
    steps += drawn.end(dice, by_force=callers.hurried)
    config = AccumulatorConfig(
        total_memory=_BATCHES * _BATCH_SIZE,
        batch_size=_BATCH_SIZE,
        linger_ms=_LINGER_MS,
        retry_backoff_ms=_BACKOFF_MS,
        retry_backoff_max_ms=_BACKOFF_MS,
        delivery_timeout_ms=_SHORT_MS if callers.hurried else _LONG_MS,
        topics=_TOPICS,
    )
    return Work(config=config, steps=tuple(steps), serving=tuple(_serving(dice, callers.threads)))


class Sender:
    """The sender and its broker: one thread that repeats the drawn steps until it has to finish.

    At most one batch of each partition is in flight.
    """

    def __init__(self, clients: Clients, steps: Sequence[Make | Pause]) -> None:
        self._clients = clients
        self._steps = steps
        self._in_flight: list[DrainedBatch] = []
        self._is_ready = False
        self._thread = sync.thread(self._work, "sender")
        self._finishing = self._aborting = False
        self._failure: BaseException | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def abort(self) -> None:
        """Make the sender abort all incomplete batches."""
        self._aborting = True

    def finish(self) -> None:
        """Let the sender end all batches, and wait for it; raises LoadFailedError if it failed."""
        self._finishing = True
        self._thread.join()
        if self._failure is not None:
            raise LoadFailedError(f"the sender failed: {self._failure!r}") from self._failure

    def _work(self) -> None:
        try:
            self._serve()
        except BaseException as failure:
            self._failure = failure
            # No caller may wait for a sender that has failed.
            self._clients.port.perform(Close())
            self._clients.port.perform(Abort())

    def _serve(self) -> None:
        while not self._is_over():
            for step in self._steps:
                if self._is_over():
                    break
                self._do(step)
        if self._aborting:
            self._clients.perform(Abort())
            for batch in self._in_flight:
                # The responses to aborted batches still arrive.
                self._clients.answer(batch, "stored")

    def _is_over(self) -> bool:
        finished = self._finishing and not self._clients.port.accumulator.has_incomplete()
        return self._aborting or (finished and not self._in_flight)

    def _do(self, step: Make | Pause) -> None:
        if isinstance(step, Pause):
            time.sleep(step.us / 1e6)
            return
        match step.call:
            case Ready():
                self._is_ready = self._clients.is_ready(step.call, _NODE)
            case Drain():
                asked = step.call if self._is_ready else replace(step.call, partitions=())
                self._in_flight += self._clients.drain_and_mute(asked)
            case RespondToOne(batch=number, answer=answer):
                if self._in_flight:
                    batch = self._in_flight.pop(number % len(self._in_flight))
                    ended = self._clients.port.batch(batch.batch).is_done()
                    self._clients.answer(batch, "stored" if ended and answer == "again" else answer)
                    self._clients.perform(Unmute(partition=batch.partition))
            case _:
                assert isinstance(step.call, Expire)
                self._clients.perform(step.call)


class AccumulatorLoad:
    """An accumulator with a pool of its own, and its sender.

    If the callers are hurried, batches expire, and it is closed by force during appends.
    """

    def __init__(self, callers: Callers) -> None:
        self._work = work(callers)
        assert isinstance(self._work.config, AccumulatorConfig)
        self._settings = self._work.config

    @property
    def config(self) -> Config:
        """The settings of the accumulator, and what it claims."""
        return replace(self._settings, callbacks="in_order", gives_back="at_once")

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the accumulator until every record has been called back."""
        clients = Clients(self._settings, recorder)
        sender = Sender(clients, self._work.serving)
        sender.start()
        try:
            do_work(self._work, callers, partial(_make, clients, sender))
        finally:
            sender.finish()
        clients.read_gauges()


def _make(clients: Clients, sender: Sender, step: Make) -> None:
    match step.call:
        case CloseAll(by_force=by_force):
            clients.perform(Close())
            if by_force:
                sender.abort()
        case call:
            assert isinstance(call, AccumulatorRequest)
            clients.perform(call)


def load(callers: Callers) -> AccumulatorLoad:
    """Return the load of one history."""
    return AccumulatorLoad(callers)
