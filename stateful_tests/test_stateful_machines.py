"""The machines of `wheelproof_spec.testing`, used as their users use them, on the reference."""

import pytest

from support import seeds
from support.reference.python_pool import ReferencePool
from support.reference.python_timer import ReferenceTimer
from support.testing.python_purgatory import ReferencePurgatory
from wheelproof_spec.testing import BufferPoolMachine, PurgatoryMachine, TimerMachine


@pytest.mark.campaign
class TestReferenceTimer(TimerMachine):
    make = ReferenceTimer
    profile = "kafka"
    seed = seeds.seed(TimerMachine.seed)


@pytest.mark.campaign
class TestReferencePool(BufferPoolMachine):
    make = ReferencePool
    seed = seeds.seed(BufferPoolMachine.seed)


@pytest.mark.campaign
class TestReferencePurgatory(PurgatoryMachine):
    make = ReferencePurgatory
    seed = seeds.seed(PurgatoryMachine.seed)
