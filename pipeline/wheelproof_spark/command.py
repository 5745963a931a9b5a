"""The verb ``pipeline``: conformance at scale, on Apache Spark."""

from wheelproof_spark import (
    campaign_command,
    check_command,
    demo_command,
    report_command,
    stream_command,
)
from wheelproof_spec.app.verbs import Verbs


def register(verbs: Verbs) -> None:
    """Declare the verb and its own verbs.

    Spark is imported when one of them runs: their help needs nothing but the standard library.
    """
    group = verbs.group("pipeline", "judge recorded runs at scale, on Apache Spark")
    for command in (
        check_command,
        report_command,
        campaign_command,
        stream_command,
        demo_command,
    ):
        command.register(group)
