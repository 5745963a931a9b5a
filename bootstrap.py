"""Set up this checkout and run its jobs: ``python3 bootstrap.py run``, and others: ``--help``.

It needs Python 3.11 or newer and nothing else. Python 3.6 must be able to parse this file, so that
an old Python prints a sentence and no traceback; all other code is in ``tools/``.
"""

import os
import sys

OLDEST_PYTHON = (3, 11)


def main() -> int:
    """Run the verb on the command line and return the exit code."""
    if sys.version_info[:2] < OLDEST_PYTHON:
        found = f"{sys.version_info[0]}.{sys.version_info[1]}"
        remedy = "name a newer one, for instance: make PYTHON=python3.12 test"
        return _refuse(f"Python 3.11 or newer is needed and this is {found}; {remedy}")
    if os.name != "posix":
        return _refuse("it works on Linux and macOS; on Windows use it inside WSL")
    from tools.commands import main as run_command

    return run_command(sys.argv[1:])


def _refuse(sentence: str) -> int:
    print(f"bootstrap: {sentence}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
