"""The reference as a driver: `python -m wheelproof_spec.app.reference_driver`."""

import sys
from importlib.metadata import version

from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.components.registry import served_components
from wheelproof_spec.drive.driver.serve import serve


def main() -> int:
    """Serve the reference on standard input and output and return the exit code."""
    try:
        with open(sys.stdin.fileno(), "rb", closefd=False) as requests:
            serve(
                served_components(),
                implementation="wheelproof",
                version=version("wheelproof"),
                requests=requests,
                answers=sys.stdout.buffer,
            )
    except WheelproofSpecError as error:
        print(f"reference driver: {error}", file=sys.stderr)
        return error.exit_code
    except (BrokenPipeError, KeyboardInterrupt):
        # The program that sends the requests has ended.
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
