"""The machines of `wheelproof_spec.testing`, used as their users use them, on the reference."""

import pytest

from support import seeds
from support.reference.python_pool import ReferencePool
from support.reference.python_timer import ReferenceTimer
from support.testing.python_purgatory import ReferencePurgatory
from wheelproof_spec.testing import BufferPoolTests, PurgatoryTests, TimerTests


@pytest.mark.campaign
class TestReferenceTimer(TimerTests):
    make = ReferenceTimer
    profile = "kafka"
    seed = seeds.seed(TimerTests.seed)


@pytest.mark.campaign
class TestReferencePool(BufferPoolTests):
    make = ReferencePool
    seed = seeds.seed(BufferPoolTests.seed)


@pytest.mark.campaign
class TestReferencePurgatory(PurgatoryTests):
    make = ReferencePurgatory
    seed = seeds.seed(PurgatoryTests.seed)
