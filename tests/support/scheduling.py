"""A plugin of pytest-xdist: a test that ends its process is run once, as every other test is.

A time limit ends the process of the test that hangs. Where a process gets whole files, xdist would
give the same test to the next process, and to the next; the tests behind it would never run.
"""

import pytest
from xdist.scheduler import LoadFileScheduling


class RunOnceScheduling(LoadFileScheduling):
    """Gives files to processes, and none of them a test that has ended a process."""

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
