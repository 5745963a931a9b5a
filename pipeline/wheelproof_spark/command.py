"""The verb ``pipeline``: conformance at scale, on Apache Spark."""

from wheelproof_spark.campaign import command as campaign
from wheelproof_spark.check import command as check
from wheelproof_spark.demo import command as demo
from wheelproof_spark.report import command as report
from wheelproof_spark.stream import command as stream
from wheelproof_spec.app.verbs import Verbs


def register(verbs: Verbs) -> None:
    """Declare the verb and its own verbs.

    Spark is imported when one of them runs: their help needs nothing but the standard library.
    """
    group = verbs.group("pipeline", "judge recorded runs at scale, on Apache Spark")
    for command in (check, report, campaign, stream, demo):
        command.register(group)
