"""A plugin of pytest-xdist: which tests share a process, and how often one runs that ends it.

A time limit ends the process of the test that hangs. Where a process gets whole files, xdist would
give the same test to the next process, and to the next; the tests behind it would never run.
"""

from zlib import crc32

import pytest
from xdist.scheduler import LoadFileScheduling

SCATTERED = (
    "test_tla_small_model_or_mistake_ends_as_the_manifest_says",
    "test_every_obligation_is_met",
    "test_a_pair_passes_in_every_interleaving",
    "test_a_program_shares_only_what_the_model_checker_sees",
    "test_the_digest_depends_on_the_classes_alone",
    "test_real_threads_find",
)
"""Tests of many cases that share nothing: a file of them would keep one process busy for long."""
_PARTS = 8


class RunOnceScheduling(LoadFileScheduling):
    """Gives files to processes, and none of them a test that has ended a process."""

    def _split_scope(self, nodeid: str) -> str:
        """Return what goes to one process: a file, or a part of a scattered test."""
        file, _, test = nodeid.partition("::")
        if test.partition("[")[0] in SCATTERED:
            return f"{file} {crc32(test.encode()) % _PARTS}"
        return file

    def remove_node(self, node: object) -> str | None:
        """Take back what the process of `node` has not run; return the test that ended it."""
        units = self.assigned_work[node].values()
        pending = [(tests, name) for tests in units for name, done in tests.items() if not done]
        if not pending:
            return super().remove_node(node)
        tests, name = pending[0]
        tests[name] = True
        super().remove_node(node)
        return name


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> RunOnceScheduling | None:
    """Replace the scheduler of ``--dist loadfile``."""
    return RunOnceScheduling(config, log) if config.getoption("dist") == "loadfile" else None
