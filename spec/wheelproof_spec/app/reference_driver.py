"""The reference as a driver: `python -m wheelproof_spec.app.reference_driver`."""

import sys
from importlib.metadata import version

from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.components.accumulator.calls import ACCUMULATOR
from wheelproof_spec.components.accumulator.messages import (
    accumulator_answer,
    parse_accumulator_call,
)
from wheelproof_spec.components.accumulator.reference import ReferenceAccumulatorPort
from wheelproof_spec.components.buffer_pool.calls import BUFFER_POOL, parse_pool_call, pool_answer
from wheelproof_spec.components.buffer_pool.reference import ReferencePoolPort
from wheelproof_spec.components.purgatory.calls import (
    PURGATORY,
    parse_purgatory_call,
    purgatory_answer,
)
from wheelproof_spec.components.purgatory.reference import ReferencePurgatoryPort
from wheelproof_spec.components.timer.calls import TIMER, parse_timer_call, timer_answer
from wheelproof_spec.components.timer.reference import ReferenceTimerPort
from wheelproof_spec.engines.drive.driver.serve import serve, served


def main() -> int:
    """Serve the reference on standard input and output and return the exit code."""
    try:
        serve(
            [
                served(TIMER, ReferenceTimerPort(), parse_timer_call, timer_answer),
                served(PURGATORY, ReferencePurgatoryPort(), parse_purgatory_call, purgatory_answer),
                served(BUFFER_POOL, ReferencePoolPort(), parse_pool_call, pool_answer),
                served(
                    ACCUMULATOR,
                    ReferenceAccumulatorPort(),
                    parse_accumulator_call,
                    accumulator_answer,
                ),
            ],
            implementation="wheelproof",
            version=version("wheelproof"),
            requests=sys.stdin.buffer,
            answers=sys.stdout.buffer,
        )
    except WheelproofSpecError as error:
        print(f"reference driver: {error}", file=sys.stderr)
        return error.exit_code
    except (BrokenPipeError, KeyboardInterrupt):
        # Whoever asked is gone.
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
