"""Runs `wheelproof ARGUMENTS`, and stops at named places until the test answers.

`python stopping_program.py PORT FOLDER PLACES ARGUMENTS...`: the places are `parse` and `judge`,
in a Python worker, `commit`, in the driver, and `moves`, between a commit and the moves after it,
joined by commas. The first process that comes to a place connects to PORT, says the place and its
process id, and waits until the test closes the connection or kills it.
"""

import os
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa

from wheelproof_spark.check import bronze, silver
from wheelproof_spark.check.judging.in_place import Stage, reader
from wheelproof_spark.check.judging.run import FirstLines, judge_groups
from wheelproof_spark.tables.plan import Move
from wheelproof_spark.tables.store import Store
from wheelproof_spec.app.cli import main
from wheelproof_spec.history.checkers import CheckOptions


class Stops:
    """Where to stop; executors get it with the code of a task."""

    def __init__(self, port: int, folder: str, places: str) -> None:
        self._port = port
        self._folder = folder
        self._places = places.split(",")

    def at(self, place: str) -> None:
        """Stop here if the test asked for it, and if nobody did before."""
        if place not in self._places:
            return
        try:
            os.close(os.open(Path(self._folder) / place, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        with socket.create_connection(("127.0.0.1", self._port)) as test:
            test.sendall(f"{place} {os.getpid()}\n".encode())
            test.recv(1)

    def inside(self, place: str, stage: Stage) -> Stage:
        """Return the stage that stops after its first rows, with the task not yet done."""

        def stopping(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in stage(batches):
                yield batch
                self.at(place)

        return stopping


def run(stops: Stops, arguments: list[str]) -> int:
    """Run the program with its stops."""

    def reading(options: CheckOptions) -> Stage:
        return stops.inside("parse", reader(options))

    def judging(options: CheckOptions, first_lines: FirstLines) -> Stage:
        return stops.inside("judge", judge_groups(options, first_lines))

    commit, move_in = Store.commit, Store.move_in

    def committing(
        store: Store, document: str, batch: int, attempt: Path, moves: Sequence[Move]
    ) -> None:
        stops.at("commit")
        commit(store, document, batch, attempt, moves)

    def moving(store: Store) -> None:
        # A start looks whether the last one ended here.
        if any(store.path(move.here).exists() for move in store.plan.moves):
            stops.at("moves")
        move_in(store)

    with (
        patch.object(bronze, "reader", reading),
        patch.object(silver, "judge_groups", judging),
        patch.object(Store, "commit", committing),
        patch.object(Store, "move_in", moving),
    ):
        return main(arguments)


if __name__ == "__main__":
    sys.exit(run(Stops(int(sys.argv[1]), sys.argv[2], sys.argv[3]), sys.argv[4:]))
