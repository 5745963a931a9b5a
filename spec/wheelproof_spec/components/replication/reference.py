"""The reference's ReplicaManager as `wheelproof conform` drives it: a `base.port.Port`."""

from wheelproof.clock import ManualClock
from wheelproof.errors import WheelproofError
from wheelproof.replication import ReplicaManager
from wheelproof.sync import DeferredExecutor
from wheelproof_spec.base.calls import (
    Advance,
    AdvanceClock,
    Gauge,
    NumDelayed,
    NumKeys,
    PurgeCompleted,
    Reset,
    Tick,
    Watched,
)
from wheelproof_spec.components.replication.component import (
    DEFINITION,
    FetchResponse,
    ProduceResponse,
    ReplicationCall,
    ReplicationConfig,
    ReplicationObservation,
    Response,
)
from wheelproof_spec.components.replication.port import BrokerPort
from wheelproof_spec.drive.driver.serve import ServedComponent, refused, served


class ReferenceReplicationPort:
    """A port to a broker of the reference, whose records have sizes but no content."""

    def __init__(self, manager_class: type[ReplicaManager] = ReplicaManager) -> None:
        self._manager_class = manager_class
        self._reset(ReplicationConfig())

    def perform(self, call: ReplicationCall) -> ReplicationObservation:
        """Make `call`; see `Port.perform`."""
        try:
            return self._perform(call)
        except WheelproofError as error:
            raise refused(error) from error

    def close(self) -> None:
        """Shut the broker down."""
        self.manager.close()

    @property
    def manager(self) -> ReplicaManager:
        """The replica manager of the case."""
        return self._broker.manager

    def _perform(self, call: ReplicationCall) -> ReplicationObservation:
        match call:
            case Reset(config=config):
                self.close()
                self._reset(config)
                return ReplicationObservation()
            case Advance(to_ms=to_ms):
                self._broker.perform(Tick(to_ms=to_ms))
                self._broker.perform(AdvanceClock(timeout_ms=0))
                self._executor.run_pending()
            case _:
                self._broker.perform(call)
        told = tuple(self._told)
        self._told.clear()
        purged = isinstance(call, PurgeCompleted)
        return ReplicationObservation(
            produced=tuple(one for one in told if isinstance(one, ProduceResponse)),
            fetched=tuple(one for one in told if isinstance(one, FetchResponse)),
            num_delayed=self._count(NumDelayed()),
            watched=self._count(Watched()) if purged else None,
            num_keys=self._count(NumKeys()) if purged else None,
        )

    def _reset(self, config: ReplicationConfig) -> None:
        self._clock, executor = ManualClock(config.start_ms), DeferredExecutor()
        self._told: list[Response] = []
        # A broker that cannot be made leaves the one before.
        self._broker = BrokerPort(
            config, self._clock, self._told.append, executor, self._manager_class
        )
        self._executor = executor

    def _count(self, gauge: NumDelayed | Watched | NumKeys) -> int:
        answer = self._broker.perform(gauge)
        assert isinstance(answer, Gauge)
        return answer.count


def serve() -> ServedComponent:
    """Return the reference's broker, ready to be driven."""
    return served(DEFINITION, ReferenceReplicationPort())
