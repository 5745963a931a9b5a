"""The test of the pool, with the fixture of the pytest plugin."""

from connection_pool import mended

from wheelproof_explore.pytest_plugin import Explore


def test_a_connection_has_one_user_at_a_time(explore: Explore) -> None:
    """Every interleaving of three users who share one connection."""
    explore(mended)
