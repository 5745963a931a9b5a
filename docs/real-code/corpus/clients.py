"""Clients of servers that go wrong when threads share their pool, their worker or their queue.

Each docstring says how. `python -m wheelproof_lab pages corpus` installs the releases and runs all.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any
from unittest.mock import Mock, patch

from threads import together


def kombu_limit_exceeded() -> None:
    """A connection is counted after it was taken from the queue: a second thread makes another."""
    kombu = import_module("kombu")
    pool = kombu.Connection("memory://").Pool(limit=1)
    taken: list[object] = []

    def take() -> None:
        with suppress(kombu.exceptions.ConnectionLimitExceeded):
            taken.append(pool.acquire())

    together(take, take)
    assert len(taken) == 1, f"a limit of one, {len(taken)} connections taken"


def sentry_worker_killed() -> None:
    """A thread asks whether the worker lives while another one kills it: AttributeError."""
    worker = import_module("sentry_sdk.worker").BackgroundWorker()
    with patch.object(worker, "_target"):
        worker.start()
    together(lambda: worker.is_alive, worker.kill)


def _records_lost(size: int, *actions: Callable[[Any], object]) -> None:
    """Use a batch processor in two threads, and look for a record of which nobody tells."""
    module = import_module("opentelemetry.sdk._shared_internal")
    exported: list[str] = []
    told: list[int] = []
    exporter = Mock(export=exported.extend, shutdown=lambda: None)
    metrics = Mock(drop_items=lambda count, *_why: told.append(count))
    # No time passes: the worker waits for the shutdown, and the shutdown for the worker.
    forever = property(lambda _self: None, lambda _self, _seconds: None)
    kind = type("Processor", (module.BatchProcessor,), {"_schedule_delay": forever})
    processor = kind(exporter, 1, 2 * size, 1, size, "Span", metrics)
    worker = processor._worker_thread
    worker.join = lambda _seconds: threading.Thread.join(worker)
    together(*(partial(action, processor) for action in actions))
    processor.shutdown()
    records = sum(action is _emit for action in actions)
    lost = records - len(exported) - len(told)
    assert not lost, f"{records} emitted, {len(exported)} exported, {len(told)} told as dropped"


def _emit(processor: Any) -> None:
    processor.emit("a record")


def otel_lost_at_shutdown() -> None:
    """A record that comes as the processor shuts down is neither exported nor told as dropped."""
    _records_lost(9, _emit, lambda processor: processor.shutdown())


def otel_lost_when_full() -> None:
    """Two threads fill the last place of the queue: one record is dropped, and nobody is told."""
    _records_lost(1, _emit, _emit)


def elastic_transport_nodes() -> None:
    """A thread looks for a live node while another one marks a node as dead: RuntimeError."""
    module = import_module("elastic_transport")
    configs = [module.NodeConfig("http", "host", port) for port in (1, 2)]
    pool = module.NodePool(configs, lambda config: Mock(config=config), randomize_nodes=False)
    together(pool.get, lambda: pool.mark_dead(pool.all()[0]))


def paho_two_wait_for_publish() -> None:
    """Two threads wait until a message is published: one of them is told."""
    message = import_module("paho.mqtt.client").MQTTMessageInfo(1)
    waits = message.wait_for_publish
    together(waits, waits, message._set_as_published)
