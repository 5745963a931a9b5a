"""What a batch was done with."""

import os
import platform
from importlib.metadata import version

import pyspark


def versions() -> dict[str, str]:
    """Return the versions of what judged, by name."""
    return {
        "wheelproof": version("wheelproof"),
        "pyspark": pyspark.__version__,
        "python": platform.python_version(),
    }


def machine() -> str:
    """Return what kind of machine this is."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
