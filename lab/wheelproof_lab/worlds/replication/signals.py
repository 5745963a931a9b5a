"""The broker, of which a signal ends a call anywhere (standard 6.8).

A request whose call a signal has ended may be answered or not, once at most. Every other one is
answered once, by its time-out at the latest. A change of roles has happened, or nothing of it.
"""

from collections.abc import Mapping

from wheelproof.replication import ReplicaManager
from wheelproof_explore.program import Program, Scenario
from wheelproof_lab.worlds.purgatory.signals import KeepingTimer
from wheelproof_lab.worlds.replication.bench import Broker
from wheelproof_lab.worlds.tables import Act, SignalRow, act, signalled_scenario_of, signals_of


class SignalledBroker(Broker):
    """A broker, and what a signal may have left of a call."""

    _timer_class = KeepingTimer

    def __init__(self, manager_class: type[ReplicaManager]) -> None:
        super().__init__(manager_class)
        self._consumed = 0
        self._perhaps_produced = self._perhaps_consumed = 0

    def produce_one(self) -> None:
        """Append one record; if a signal ends that, the request may be answered or not."""
        try:
            self.produce()
        except KeyboardInterrupt:
            self._perhaps_produced += 1
            raise

    def consume_one(self) -> None:
        """Fetch one record; if a signal ends that, the request may be answered or not."""
        self._consumed += 1
        try:
            self.consume()
        except KeyboardInterrupt:
            self._perhaps_consumed += 1
            raise

    def make_follower(self, epoch: int) -> None:
        """Follow another broker."""
        self.demote(epoch)

    def close(self) -> None:
        """Shut the broker down."""
        self.manager.close()

    def check(self) -> None:
        """Raise unless every request is answered once by its time-out, and the log is whole."""
        self.expire()
        # A callback that a signal ends counts as called, and so does the answer that calls it.
        cut_off = bool(self.place())
        for what, answered, asked, perhaps in (
            ("produced", len(self.produced), self.asked, self._perhaps_produced),
            ("consumed", len(self.fetched), self._consumed, self._perhaps_consumed),
        ):
            assert asked - perhaps - cut_off <= answered <= asked, (
                f"{what} {answered} times of {asked}"
            )
        self.check_log()

    def check_log(self) -> None:
        """Raise unless the high watermark is in the log, and each record can be read."""
        partition = self.manager.partition(self.led)
        if partition is None:
            return
        log = partition.log
        end, high_watermark = log.log_end_offset, log.high_watermark
        assert 0 <= high_watermark <= end, f"{high_watermark} is replicated, and the end is {end}"
        for offset in range(end):
            read = log.read(offset, up_to_high_watermark=False, max_bytes=1, at_least_one=True)
            found = [record.offset for record in read.records]
            assert found == [offset], f"read {found} at {offset}"

    def check_roles(self) -> None:
        """Raise unless the broker leads alone in the new epoch, or as it did in the old one."""
        self.check()
        partition = self.manager.partition(self.led)
        assert partition is not None
        roles = partition.leader_epoch, sorted(partition.in_sync_replica_ids)
        assert roles in ((0, [1, 2]), (1, [1])), f"epoch and in-sync set are {roles}"

    def check_leads_or_follows(self) -> None:
        """Raise unless the broker leads in the new epoch, or follows as it did in the old one."""
        self.check_log()
        partition = self.manager.partition(self.led)
        assert partition is not None
        leads = partition.leader_epoch == 2
        assert sorted(partition.in_sync_replica_ids) == ([1] if leads else []), "in sync with whom"
        if not leads:
            # A leader refuses this.
            self.manager.truncate_as_follower(self.led, 0)

    def check_closed(self) -> None:
        """Raise if a request was answered twice."""
        assert len(self.produced) <= self.asked, f"produced {len(self.produced)} times"


_WAITING: tuple[Act[SignalledBroker], ...] = (act(SignalledBroker.produce_one),)
_ROWS: Mapping[str, SignalRow[SignalledBroker]] = {
    "broker-produce": SignalRow(
        summary="A signal ends a produce request, while the follower fetches.",
        places=350,
        signalled=(act(SignalledBroker.produce_one),),
        threads={"follower": act(SignalledBroker.replicate, 0)},
    ),
    "broker-consume": SignalRow(
        summary="A signal ends a consumer's fetch, while the follower says that it has the record.",
        before=_WAITING,
        places=350,
        signalled=(act(SignalledBroker.consume_one),),
        threads={"follower": act(SignalledBroker.replicate, 1)},
    ),
    "broker-replicate": SignalRow(
        summary="A signal ends the follower's fetch that answers a produce request.",
        before=_WAITING,
        places=420,
        signalled=(act(SignalledBroker.replicate, 1),),
        threads={"look": act(SignalledBroker.look)},
    ),
    "broker-expire": SignalRow(
        summary="A signal ends an expiry, while the follower says that it has the record.",
        before=_WAITING,
        places=100,
        signalled=(act(SignalledBroker.expire_produces),),
        threads={"follower": act(SignalledBroker.replicate, 1)},
    ),
    "broker-lead": SignalRow(
        summary="A signal ends a change to the next epoch, while the broker is looked at.",
        before=_WAITING,
        places=350,
        signalled=(act(SignalledBroker.lead, 1),),
        threads={"look": act(SignalledBroker.look)},
        check=SignalledBroker.check_roles,
    ),
    "broker-lead-again": SignalRow(
        summary="A signal ends a change from a follower to the leader of the next epoch.",
        before=(act(SignalledBroker.demote, 1),),
        places=350,
        signalled=(act(SignalledBroker.lead, 2),),
        threads={"look": act(SignalledBroker.look)},
        check=SignalledBroker.check_leads_or_follows,
    ),
    "broker-follow": SignalRow(
        summary="A signal ends a change to a follower that drops its log.",
        before=(act(SignalledBroker.fill), *_WAITING, act(SignalledBroker.replicate, 3)),
        places=420,
        signalled=(act(SignalledBroker.make_follower, 1),),
        threads={"look": act(SignalledBroker.look)},
    ),
    "broker-take": SignalRow(
        summary="A signal ends the append of what a follower has fetched.",
        before=(act(SignalledBroker.demote, 1),),
        places=150,
        signalled=(act(SignalledBroker.take, 1, 1),),
        threads={"look": act(SignalledBroker.look)},
    ),
    "broker-stop": SignalRow(
        summary="A signal ends the stop of a replica, while a consumer's fetch comes in.",
        before=_WAITING,
        places=350,
        signalled=(act(SignalledBroker.stop),),
        threads={"consume": act(SignalledBroker.consume_one)},
    ),
    "broker-shrink": SignalRow(
        summary="A signal ends a shrink that answers a produce request.",
        before=(*_WAITING, act(SignalledBroker.fall_behind)),
        places=350,
        signalled=(act(SignalledBroker.shrink),),
        threads={"look": act(SignalledBroker.look)},
    ),
    "broker-close": SignalRow(
        summary="A signal ends a shutdown, which is made again, while a record is replicated.",
        before=_WAITING,
        places=50,
        signalled=(act(SignalledBroker.close), act(SignalledBroker.close)),
        threads={"look": act(SignalledBroker.look)},
        check=SignalledBroker.check_closed,
    ),
}


def _build(row: SignalRow[SignalledBroker], manager_class: type[ReplicaManager]) -> Scenario:
    return signalled_scenario_of(row, SignalledBroker(manager_class))


def signals_with(manager_class: type[ReplicaManager]) -> tuple[Program, ...]:
    """Return the programs in which a signal ends a call."""
    return signals_of(_ROWS, _build, manager_class)
