"""Clients of servers that go wrong when threads share their pool, their worker or their queue.

Each docstring says how. `python -m wheelproof_lab pages corpus` installs the releases and runs all.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, Mock, patch

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


def neo4j_failed_connection() -> None:
    """A connection fails and gives its place back; the thread that waits for it is not told."""
    pool_module = import_module("neo4j._sync.io._pool")
    error = import_module("neo4j.exceptions").AuthError
    opener = Mock(
        side_effect=[error("not yet"), Mock(ssr_enabled=False, unresolved_address="host")]
    )
    config = import_module("neo4j._sync.config").PoolConfig(max_connection_pool_size=1, auth=Mock())
    workspace = import_module("neo4j._conf").WorkspaceConfig()
    pool = pool_module.DirectBoltPool(opener, config, workspace, "host")

    def use() -> None:
        with suppress(error):
            pool.release(pool.acquire("WRITE", float("inf"), None, None, None, None))

    together(use, use)


def s3transfer_cancelled() -> None:
    """A transfer is cancelled before it begins; its done callback sets its exception: deadlock."""
    module = import_module("s3transfer.futures")
    coordinator = module.TransferCoordinator()
    future = module.TransferFuture(Mock(), coordinator)
    coordinator.add_done_callback(lambda: future.set_exception(OSError()))
    future.cancel()


def cheroot_stop_hangs() -> None:
    """A pool grows while it is stopped: the new thread takes the request that an old one needs."""
    module = import_module("cheroot.workers.threadpool")
    server = SimpleNamespace(stats={"Worker Threads": {}, "Enabled": False}, error_log=Mock())

    def begun(worker: Any) -> threading.Event:
        event: threading.Event = vars(worker).setdefault("begun", threading.Event())
        return event

    def begin(worker: Any, now: bool) -> None:
        if now:
            begun(worker).set()

    # The pool looks at `ready` in a loop of sleeps. Here the look waits.
    ready = property(lambda worker: begun(worker).wait(), begin)
    worker = type("Worker", (module.WorkerThread,), {"ready": ready})
    with patch.object(module, "WorkerThread", worker):
        server.requests = pool = module.ThreadPool(server, min=1, max=2)
        pool.start()
        together(partial(pool.grow, 1), pool.stop)
    pool.stop()


def _publisher(**settings: object) -> Any:
    """Make a publisher of Pub/Sub whose server takes every message."""
    client = import_module("google.cloud.pubsub_v1.publisher.client")
    types = import_module("google.cloud.pubsub_v1.types")
    generated = client.publisher_client.PublisherClient
    with patch.object(generated, "__init__", lambda made: setattr(made, "_transport", MagicMock())):
        publisher = client.Client(types.BatchSettings(), types.PublisherOptions(**settings))
    publisher._gapic_publish = lambda messages, **_others: SimpleNamespace(message_ids=messages)
    return publisher


def _publish(publisher: Any, size: int, **key: str) -> Any:
    """Publish so many bytes; None if that is too large for the server."""
    errors = import_module("google.cloud.pubsub_v1.publisher.exceptions")
    with suppress(errors.MessageTooLargeError):
        return publisher.publish("projects/p/topics/t", b"x" * size, **key)
    return None


def pubsub_key_is_stuck() -> None:
    """The timer sends the empty batch of a refused message; what comes later is never sent."""
    publisher = _publisher(enable_message_ordering=True)

    def publish() -> None:
        _publish(publisher, 10**7, ordering_key="key")
        _publish(publisher, 1, ordering_key="key").result()

    together(publish, publisher.ensure_cleanup_and_commit_timer_runs)


def pubsub_memory_is_lost() -> None:
    """A refused message keeps its place in the flow control, and the next one waits for ever."""
    types = import_module("google.cloud.pubsub_v1.types")
    flow = types.PublishFlowControl(1, 10**8, types.LimitExceededBehavior.BLOCK)
    publisher = _publisher(flow_control=flow)
    _publish(publisher, 10**7)
    _publish(publisher, 1)


def pubsub_no_timer_after_a_failure() -> None:
    """The timer's thread cannot be started, once: later messages wait for a timer for ever."""
    client = import_module("google.cloud.pubsub_v1.publisher.client")
    publisher = _publisher()
    thread = Mock(start=Mock(side_effect=RuntimeError("can't start new thread")))
    with (
        patch.object(client, "threading", Mock(Thread=Mock(return_value=thread))),
        suppress(RuntimeError),
    ):
        _publish(publisher, 1)
    _publish(publisher, 1).result()


def more_executors_cancelled_below() -> None:
    """The future below is cancelled, by its time-out for instance: the one above never ends."""
    below = Future[int]()
    above = import_module("more_executors").f_map(below, str)
    together(below.cancel, partial(wait, [above]))


def more_executors_two_cancels() -> None:
    """A future is cancelled twice while its last failure is taken over: AssertionError."""
    executors = import_module("more_executors").Executors
    begun = threading.Event()

    def fail() -> None:
        begun.set()
        raise OSError

    with executors.thread_pool(max_workers=1).with_retry(sleep=0, max_sleep=0) as executor:
        future = executor.submit(fail)
        begun.wait()
        future.cancel()
        future.cancel()


def _kazoo_result() -> Any:
    handler = import_module("kazoo.handlers.threading").SequentialThreadingHandler()
    return handler.async_result()


def kazoo_callback_twice() -> None:
    """A callback is added after the result was set: the one before it is called again."""
    result = _kazoo_result()
    called: list[int] = []
    result.rawlink(lambda _result: called.append(1))
    together(result.set, lambda: result.rawlink(lambda _result: called.append(2)))
    assert sorted(called) == [1, 2], f"two callbacks, called: {called}"


def kazoo_callback_lost() -> None:
    """A result is set while the handler stops: its callback comes into a queue that has ended."""
    result = _kazoo_result()
    called: list[object] = []
    result.rawlink(called.append)
    result._handler.start()
    together(result.set, result._handler.stop)
    assert called, "the result is set, and its callback was not called"


def sqlalchemy_failed_connection() -> None:
    """A connection fails and gives its place back; the thread that waits for it is not told."""
    connect = Mock(side_effect=[OSError, MagicMock()])
    pools = import_module("sqlalchemy.pool")
    pool = pools.QueuePool(connect, pool_size=1, max_overflow=0, timeout=None)

    def use() -> None:
        with suppress(OSError):
            pool.connect().close()

    together(use, use)
