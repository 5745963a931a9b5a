"""The files of a folder, batch by batch, as they are moved in."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from wheelproof_spark.base.listing import NO_FILE, FoundFile, Input
from wheelproof_spark.stream.stop import Stop

POLL_SECONDS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The most files of a batch, and the seconds between two batches.

    None: no pause, and the stream ends when all present files are judged.
    """

    files: int = 1_000
    seconds: float | None = None


def follow_folder(
    source: Input,
    known: dict[str, int],
    pace: Pace,
    take: Callable[[Sequence[FoundFile]], None],
    stop: Stop,
    cancel: Callable[[], None],
) -> None:
    """Pass each batch of new files to `take`, until there are no more or a stop is requested.

    `known` has the sizes of the files of all earlier batches, by name. At a stop at once, `cancel`
    is called until the batch has ended. Raises the errors of `take`, and then KeyboardInterrupt.
    """
    pending, listed = list[FoundFile](), False
    with ThreadPoolExecutor(1) as thread:
        while not stop.asked:
            begun = time.monotonic()
            if not pending:
                if listed and pace.seconds is None:
                    return
                new = (file for file in source.files() if _is_new(file, known))
                pending = sorted(new, key=lambda file: (file.state.mtime_ns, file.name))
                listed = True
            some, pending = pending[: pace.files], pending[pace.files :]
            if some:
                # In a thread of its own, so that this one can hear the second Ctrl-C.
                taken = _awaited(thread.submit(_taken, source, some, take), stop, cancel)
                known |= {file.name: file.state.size for file in taken}
            if pace.seconds is not None:
                _rest(begun + pace.seconds, stop)


def _is_new(file: FoundFile, known: dict[str, int]) -> bool:
    """Tell whether a file is to be read: an empty one is not, until it has content.

    What was no file, as a dead link, is quarantined once, and read when it is a file.
    """
    if file.state == NO_FILE:
        return file.name not in known
    return known.get(file.name, 0) == 0 and file.state.size > 0


def _taken(
    source: Input, files: Sequence[FoundFile], take: Callable[[Sequence[FoundFile]], None]
) -> Sequence[FoundFile]:
    """Take the files that are still there, and return them."""
    brought = [found for file in files if (found := source.bring(file)) is not None]
    if brought:
        take(brought)
    return brought


def _awaited(
    batch: "Future[Sequence[FoundFile]]", stop: Stop, cancel: Callable[[], None]
) -> Sequence[FoundFile]:
    """Return the files of the batch when it has ended."""
    while not batch.done():
        wait([batch], POLL_SECONDS)
        if stop.at_once:
            cancel()
    if stop.at_once:
        raise KeyboardInterrupt
    return batch.result()


def _rest(until: float, stop: Stop) -> None:
    while not stop.asked and (left := until - time.monotonic()) > 0:
        time.sleep(min(left, POLL_SECONDS))
