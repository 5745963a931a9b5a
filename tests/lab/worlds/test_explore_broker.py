"""The programs of the broker pass; a follower that loses what it is given is found."""

from collections.abc import Callable, Sequence

import pytest

from wheelproof.replication import LogRecord, ReplicaManager, TopicPartition
from wheelproof_explore.explorer import explore
from wheelproof_explore.program import Program, Scenario
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.worlds.making import program
from wheelproof_lab.worlds.replication.bench import Broker
from wheelproof_lab.worlds.replication.programs import PROGRAMS


@pytest.mark.slow
@pytest.mark.parametrize("explored", PROGRAMS, ids=lambda explored: explored.name)
def test_the_reference_passes(explored: Program) -> None:
    found = explore(explored)
    assert found.verdict() is Verdict.PASS, found.details()


class _Losing(ReplicaManager):
    def append_as_follower(
        self,
        topic_partition: TopicPartition,
        records: Sequence[LogRecord],
        leader_high_watermark: int,
    ) -> None:
        """Take nothing in, and refuse nothing."""


def _follows() -> Scenario:
    broker = Broker(_Losing)
    return Scenario(threads={"follow": broker.follow}, check=broker.check_follows)


def _leads() -> Scenario:
    broker = Broker(_Losing)
    broker.lead(1)
    return Scenario(threads={"produce": broker.produce}, check=broker.check_produced_once)


@pytest.mark.parametrize("build", [_follows, _leads])
def test_a_broker_that_ignores_what_its_leader_gives_is_found(
    build: Callable[[], Scenario],
) -> None:
    found = explore(program("loses", build))
    assert found.verdict() is Verdict.FAIL
