"""The machines of `wheelproof_spec.testing`, used as their users use them, on the reference."""

import pytest

from support import seeds
from support.reference.python_timer import ReferenceTimer
from wheelproof_spec.testing import TimerTests


@pytest.mark.campaign
class TestReferenceTimer(TimerTests):
    make = ReferenceTimer
    profile = "kafka"
    seed = seeds.seed(TimerTests.seed)
