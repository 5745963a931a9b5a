"""Running something on another thread and waiting for it, never without an end."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")
_STUCK_AFTER_S = 120.0


class Answer(Future[T]):
    """What a call on another thread returns or raises."""

    def result(self, timeout: float | None = _STUCK_AFTER_S) -> T:
        return super().result(timeout)


def started(call: Callable[[], T]) -> Answer[T]:
    """Run `call` on a new thread."""
    answer: Answer[T] = Answer()

    def work() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return answer


def on_another_thread(call: Callable[[], T]) -> T:
    """Run `call` on a new thread and wait for its answer."""
    return started(call).result()


def await_event(event: threading.Event) -> None:
    """Wait for an event that another thread is going to set."""
    assert event.wait(_STUCK_AFTER_S), "no thread sets the event"


def take(semaphore: threading.Semaphore) -> None:
    """Take one permit that another thread is going to release."""
    assert semaphore.acquire(timeout=_STUCK_AFTER_S), "no thread releases the semaphore"
