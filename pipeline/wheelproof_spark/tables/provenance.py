"""The record of a batch: its figures, the versions, and the machine."""

import os
import platform
import time
from importlib.metadata import version

import pyspark
from pyspark.sql import SparkSession

from wheelproof_spark.tables.manifest import Batch


def batch_record(
    spark: SparkSession,
    number: int,
    *,
    files: int,
    size: int,
    lines: int,
    judged: int,
    started: float,
) -> Batch:
    """Return the record of a batch that ends now: `size` in bytes, `started` in monotonic time."""
    return Batch(
        number=number,
        files=files,
        bytes=size,
        lines=lines,
        judged=judged,
        seconds=round(time.monotonic() - started, 3),
        master=spark.sparkContext.master or "",
        versions={
            "wheelproof": version("wheelproof"),
            "pyspark": pyspark.__version__,
            "python": platform.python_version(),
        },
        machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
    )
