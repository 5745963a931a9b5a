"""The order and the size of batches, and how a stream of files ends; without Spark."""

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from wheelproof_spark.base.feeder import Pace, Stop, feed
from wheelproof_spark.base.listing import FoundFile, LocalFolder
from wheelproof_spark.base.session import signal_kept
from wheelproof_spark.stream.job import Arriving


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    return folder


def _arrive(source: Path, name: str, at: int) -> None:
    path = source / name
    path.write_bytes(b"one\n")
    os.utime(path, (at, at))


class _Batches:
    """Takes batches, and does something else after each."""

    def __init__(self, arriving: Arriving, after: Callable[[], None]) -> None:
        self.taken: list[list[str]] = []
        self._arriving = arriving
        self._after = after

    def take(self, files: Sequence[FoundFile]) -> Callable[[], None] | None:
        there = [file for file in files if self._arriving.source.bring(file) is not None]

        def does() -> None:
            self.taken.append([file.name for file in there])
            self._arriving.known.update({file.name: file.state.size for file in there})
            self._after()

        return does if there else None


def _nothing() -> None:
    pass


def _follow(
    source: Path,
    pace: Pace,
    after: Callable[[], None] = _nothing,
    stop: Stop | None = None,
    cancel: Callable[[], None] = _nothing,
    known: dict[str, int] | None = None,
) -> list[list[str]]:
    found = LocalFolder(source, source.parent / "out")
    arriving = Arriving(found, {} if known is None else known)
    batches = _Batches(arriving, after)
    feed(arriving.files, batches.take, pace, stop or Stop(_nothing), cancel)
    return batches.taken


def test_the_oldest_come_first_and_each_comes_once(source: Path) -> None:
    for at, name in enumerate(("c", "a", "d", "b"), start=1):
        _arrive(source, name, at)
    (source / "empty").write_bytes(b"")
    known = {"d": 4}
    assert _follow(source, Pace(files=2), known=known) == [["c", "a"], ["b"]]
    assert known == {"a": 4, "b": 4, "c": 4, "d": 4}
    assert _follow(source, Pace(files=2), known=known) == []


def test_what_is_there_ends_though_more_arrives(source: Path) -> None:
    _arrive(source, "a", 1)
    _arrive(source, "b", 2)
    more = iter(range(10))
    taken = _follow(source, Pace(files=1), lambda: _arrive(source, f"more-{next(more)}", 3))
    assert taken == [["a"], ["b"]]


def test_a_file_that_is_gone_by_then_was_never_delivered(source: Path) -> None:
    _arrive(source, "a", 1)
    _arrive(source, "b", 2)
    known = dict[str, int]()

    def removes() -> None:
        (source / "b").unlink()

    assert _follow(source, Pace(files=1), removes, known=known) == [["a"]]
    assert known == {"a": 4}


def test_a_stop_ends_with_the_batch(source: Path) -> None:
    _arrive(source, "a", 1)
    _arrive(source, "b", 2)
    stop = Stop(_nothing)

    def asks() -> None:
        stop.asked = True

    assert _follow(source, Pace(files=1, seconds=3600), asks, stop) == [["a"]]


def test_a_stop_at_once_cancels_until_the_batch_has_ended(source: Path) -> None:
    _arrive(source, "a", 1)
    stop, cancelled = Stop(_nothing), list[bool]()

    def asks() -> None:
        stop.asked = stop.at_once = True
        while not cancelled:
            pass
        raise ValueError("the job was cancelled")

    with pytest.raises(KeyboardInterrupt):
        _follow(source, Pace(), asks, stop, lambda: cancelled.append(True))
    assert cancelled


def test_the_error_of_a_batch_is_the_error_of_the_stream(source: Path) -> None:
    _arrive(source, "a", 1)

    def fails() -> None:
        raise ValueError("no verdict")

    with pytest.raises(ValueError, match="no verdict"):
        _follow(source, Pace(), fails)


def test_one_signal_ends_a_check_at_once(source: Path) -> None:
    _arrive(source, "a", 1)
    stop, cancelled = Stop(), list[bool]()

    def interrupts() -> None:
        signal.raise_signal(signal.SIGINT)
        while not cancelled:
            pass

    with stop.listening(), pytest.raises(KeyboardInterrupt):
        _follow(source, Pace(), interrupts, stop, lambda: cancelled.append(True))


def test_what_was_interrupted_before_it_began_is_interrupted(source: Path) -> None:
    stop = Stop()
    with stop.listening():
        signal.raise_signal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        _follow(source, Pace(), stop=stop)


def test_all_that_is_there_is_one_batch(source: Path) -> None:
    for at, name in enumerate(("b", "a"), start=1):
        _arrive(source, name, at)
    assert _follow(source, Pace()) == [["b", "a"]]


@pytest.mark.parametrize("error", [None, OSError("no Java")], ids=["starts", "fails"])
def test_spark_that_starts_or_fails_does_not_take_the_signal(error: Exception | None) -> None:
    stop = Stop()
    with stop.listening():
        with suppress(OSError), signal_kept():
            # As PySpark does when it starts.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if error is not None:
                raise error
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert stop.at_once
