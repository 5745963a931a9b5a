"""The options that several verbs of the pipeline share, and their meanings."""

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wheelproof_spec.base.arguments import bounded

LOCAL = "local[*]"
KEPT = ("output/plan",)
"""The files that a report must not overwrite, in the form of `carries`."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")

Say = Callable[[str], None]
"""A function that takes one line of progress at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """The Spark master that does the work, and the number of partitions.

    Without a master, Spark's configuration names it, or it is this machine. `conf` are settings of
    Spark that override all others. Without `partitions`, the work decides the number. With
    `progress`, Spark draws its progress on the terminal.
    """

    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict[str, str])
    partitions: int | None = None
    progress: bool = False


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of Apache Kafka, as `kafka://HOST:PORT,HOST:PORT/TOPIC`."""

    brokers: str
    name: str

    def __str__(self) -> str:
        return f"kafka://{self.brokers}/{self.name}"


@dataclass(frozen=True, slots=True)
class Address:
    """A folder in one of Hadoop's file systems, as `hdfs://HOST:PORT/FOLDER`."""

    text: str

    def __str__(self) -> str:
        return self.text


def runs(text: str) -> Path | Address:
    """Return the folder or address to judge; for argparse's `type`."""
    # A folder on this machine is one, however it is written: Java's listing loses names.
    text = re.sub(r"^file:(//)?(?=/)", "", text)
    return Address(text) if _ADDRESS.match(text) else folder(text)


def source(text: str) -> Path | Address | Topic:
    """Return the folder, address or topic that a stream reads; for argparse's `type`."""
    if not text.startswith("kafka://"):
        return runs(text)
    found = re.fullmatch(r"kafka://([^/\s]+)/([A-Za-z0-9._-]+)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text} is not like kafka://HOST:PORT/TOPIC")
    return Topic(found[1], found[2])


def setting(text: str) -> tuple[str, str]:
    """Return name and value of a setting of Spark; for argparse's `type`."""
    name, equals, value = text.partition("=")
    if not equals or not name.startswith("spark."):
        raise argparse.ArgumentTypeError(f"{text!r} is not like spark.NAME=VALUE")
    return name, value


def folder(text: str) -> Path:
    """Return the path of a folder; for argparse's `type`."""
    if _ADDRESS.match(text):
        raise argparse.ArgumentTypeError(
            f"{text} is an address, and only --input may be one: tables need renames and a lock; "
            "name a folder of this machine, or one that is mounted on it"
        )
    path = Path(text)
    try:
        path.resolve()
    except (OSError, RuntimeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Declare `--input`, where the recorded runs are."""
    parser.add_argument(
        "--input",
        type=runs,
        metavar="DIR",
        required=True,
        help="a folder of traces and histories, or hdfs://HOST:PORT/FOLDER and the like",
    )


def add_tables(parser: argparse.ArgumentParser) -> None:
    """Declare `--output`, the folder that a job keeps."""
    parser.add_argument(
        "--output", type=folder, metavar="DIR", required=True, help="the folder of the tables"
    )


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say where Spark does the work."""
    parser.add_argument(
        "--master",
        metavar="M",
        help="Spark's master (default: that of spark-defaults.conf, or local[*])",
    )
    parser.add_argument(
        "--conf",
        type=setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of Spark, as for spark-submit",
    )
    parser.add_argument(
        "--partitions", type=bounded(1), metavar="N", help="in how many parts the work is done"
    )


def workers_of(arguments: argparse.Namespace) -> Workers:
    """Return the workers that the arguments describe."""
    return Workers(
        master=arguments.master,
        conf=dict(arguments.conf),
        partitions=arguments.partitions,
        progress=not arguments.quiet and sys.stderr.isatty(),
    )


def say_of(arguments: argparse.Namespace) -> Say:
    """Return a function that prints a line at once, or does nothing with --quiet."""
    return lambda line: None if arguments.quiet else print(line, flush=True)
