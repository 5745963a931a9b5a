"""Released packages that go wrong when threads share one of their objects.

Each docstring says how. `python -m wheelproof_lab pages corpus` installs the releases and runs all.
"""

import functools
import sqlite3
import threading
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from typing import Any
from unittest.mock import patch


def together(*actions: Callable[[], object]) -> None:
    """Do each action in a thread of its own, and wait for all."""
    threads = [threading.Thread(target=action) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def zict_lru_evicts_too_many() -> None:
    """Two threads add a key to a full cache; each evicts one key more than is needed."""
    cache = import_module("zict").LRU(1, {})
    together(lambda: cache.update(a=1), lambda: cache.update(b=2))
    assert len(cache) == 1, f"a cache of one place keeps {len(cache)} keys"


def zict_setdefault() -> None:
    """setdefault is two steps, each with the lock: two threads are both given their own value."""
    cache = import_module("zict").LRU(9, {})
    got: list[int] = []

    def ask(value: int) -> None:
        got.append(cache.setdefault("key", value))

    together(lambda: ask(1), lambda: ask(2))
    assert got[0] == got[1], f"one key, two values: {got}"


def _two_hits() -> list[bool]:
    """Hit a limit of one twice at once, and return which of the hits passed."""
    limits = import_module("limits")
    storage = limits.storage.MemoryStorage()
    limiter = limits.strategies.FixedWindowRateLimiter(storage)
    item = limits.RateLimitItemPerHour(1)
    passed: list[bool] = []

    def hit() -> None:
        passed.append(limiter.hit(item, "user"))

    together(hit, hit)
    storage.timer.cancel()
    return passed


def limits_two_hits_pass() -> None:
    """The first hit of a key forgets the hit that another thread has just counted."""
    passed = _two_hits()
    assert sum(passed) < 2, f"{sum(passed)} hits passed a limit of one"


def limits_both_hits_refused() -> None:
    """Two hits are counted before either looks at the count: a limit of one passes none."""
    assert any(_two_hits()), "a limit of one refused both of two hits"


def cached_property_deadlock() -> None:
    """One lock for all instances: properties that read each other, of other objects, deadlock."""

    class Left:
        def __init__(self, right: "Right | None" = None) -> None:
            self.right = right

        @functools.cached_property
        def value(self) -> int:
            return self.right.value if self.right else 1

    class Right:
        def __init__(self, left: Left | None = None) -> None:
            self.left = left

        @functools.cached_property
        def value(self) -> int:
            return self.left.value if self.left else 1

    together(lambda: Left(Right()).value, lambda: Right(Left()).value)


def http_client_version() -> None:
    """version() changes the shared client: a request goes to the version of another thread."""
    client = import_module("python_http_client").Client(host="http://host")
    urls: list[str] = []

    def send(_opener: object, request: urllib.request.Request, timeout: object = None) -> None:
        urls.append(request.full_url)
        raise ConnectionError(timeout)

    def get(version: int) -> None:
        with suppress(ConnectionError):
            client.version(version).mail.get(query_params={"want": version})

    with patch.object(urllib.request.OpenerDirector, "open", send):
        together(lambda: get(2), lambda: get(3))
    assert sorted(urls) == ["http://host/v2/mail?want=2", "http://host/v3/mail?want=3"], urls


def http_client_headers() -> None:
    """Two requests of one client, each with a token of its own: one goes out with the other's."""
    module = import_module("python_http_client.client")
    sent: dict[str, str] = {}

    def send(
        _client: object, _opener: object, request: urllib.request.Request, **_: object
    ) -> None:
        sent[request.full_url] = request.headers["Token"]
        raise ConnectionError

    def get(user: str) -> None:
        try:
            client.get(request_headers={"Token": user}, query_params={"user": user})
        except ConnectionError:
            return

    client = type("Client", (module.Client,), {"_make_request": send})("http://host")
    together(lambda: get("a"), lambda: get("b"))
    assert sent == {f"http://host?user={user}": user for user in "ab"}, sent


def expiringdict_setdefault() -> None:
    """setdefault is not one step: two threads are both given their own value."""
    cache = import_module("expiringdict").ExpiringDict(max_len=9, max_age_seconds=3600)
    got: list[int] = []
    together(
        lambda: got.append(cache.setdefault("key", 1)),
        lambda: got.append(cache.setdefault("key", 2)),
    )
    assert got[0] == got[1], f"one key, two values: {got}"


def circuitbreaker_lost_failure() -> None:
    """Two failures at once are counted as one, so the circuit stays closed."""
    breaker = import_module("circuitbreaker").CircuitBreaker(failure_threshold=2)

    def fail() -> None:
        try:
            with breaker:
                raise OSError
        except OSError:
            return

    together(fail, fail)
    assert breaker.opened, f"two failures, counted {breaker.failure_count}"


def pybreaker_false_notice() -> None:
    """Reading the state while the circuit opens tells the listeners that it closed again."""
    pybreaker = import_module("pybreaker")
    told: list[str] = []

    def state_change(_listener: object, _breaker: object, _old: object, new: Any) -> None:
        told.append(new.name)

    bases = (pybreaker.CircuitBreakerListener,)
    listener = type("Listener", bases, {"state_change": state_change})()
    breaker = pybreaker.CircuitBreaker(listeners=[listener])
    together(breaker.open, lambda: breaker.state)
    assert told == ["open"], f"the circuit opened once, the listener was told {told}"


def pykka_ask_unanswered() -> None:
    """A question that comes just after a stopping actor emptied its inbox is never answered."""
    pykka = import_module("pykka")

    def answer(_actor: object, message: object) -> object:
        return message

    kind: Any = type("Actor", (pykka.ThreadingActor,), {"on_receive": answer})
    actor = kind.start()

    def ask() -> None:
        try:
            actor.ask("hello")
        except pykka.ActorDeadError:
            return

    together(ask, lambda: actor.stop(block=False))


def pyrate_limiter_two_buckets() -> None:
    """Two first calls each make a bucket for one name: both pass, or the wrong lock is released."""
    pyrate = import_module("pyrate_limiter")
    limiter = pyrate.Limiter(pyrate.RequestRate(1, 3600))
    results: list[str] = []

    def acquire() -> None:
        try:
            limiter.try_acquire("name")
            results.append("passed")
        except pyrate.BucketFullException:
            results.append("full")
        except RuntimeError as error:
            results.append(str(error))

    together(acquire, acquire)
    assert sorted(results) == ["full", "passed"], results


def watchdog_emitter_not_started() -> None:
    """A path that is scheduled while the observer starts is never watched."""
    api = import_module("watchdog.observers.api")
    handler = import_module("watchdog.events").FileSystemEventHandler()

    emitter = type("Emitter", (api.EventEmitter,), {"run": lambda _emitter: None})
    observer = api.BaseObserver(emitter)
    together(observer.start, lambda: observer.schedule(handler, "."))
    started = [emitter.ident is not None for emitter in observer.emitters]
    observer.stop()
    observer.join()
    assert started == [True], "the observer runs, the emitter was never started"


def dbutils_shared_connection_gone() -> None:
    """A thread waits for a shared connection that is closed, and pops from an empty list."""
    pool = import_module("dbutils.pooled_db").PooledDB(
        sqlite3, maxshared=1, blocking=True, database=":memory:", check_same_thread=False
    )

    def work() -> None:
        connection = pool.connection()
        connection.begin()
        connection.close()

    together(work, work)
    pool.close()


def dateutil_cached_rule() -> None:
    """Whoever finishes a cached rule keeps its lock: another thread waits for it for ever."""
    rrule = import_module("dateutil.rrule")
    rule = rrule.rrule(rrule.DAILY, dtstart=datetime(2020, 1, 1), count=1, cache=True)
    together(lambda: list(rule), lambda: list(rule))


def apscheduler_shutdown() -> None:
    """A job that is due while the scheduler shuts down kills the thread of the scheduler."""
    background = import_module("apscheduler.schedulers.background")
    executor = import_module("apscheduler.executors.debug").DebugExecutor()
    scheduler = background.BackgroundScheduler(timezone=UTC, executors={"default": executor})
    scheduler.add_job(lambda: None, id="job")
    scheduler.start()
    scheduler.get_jobs()
    scheduler.shutdown()


def socketio_two_callbacks() -> None:
    """The first two messages to a client, sent at once, get one number: a callback is lost."""
    socketio = import_module("socketio")
    server = socketio.Server(async_mode="threading")
    sid = server.manager.connect("transport", "/")
    called: list[str] = []

    def emit(name: str) -> None:
        server.emit("event", to=sid, callback=lambda: called.append(name))

    with patch.object(server, "_send_packet", lambda _sid, packet: numbers.append(packet.id)):
        numbers: list[int] = []
        together(lambda: emit("a"), lambda: emit("b"))
    for number in numbers:
        server.manager.trigger_callback(sid, number, [])
    assert sorted(called) == ["a", "b"], f"both were acknowledged, called {called}"


def urllib3_pool_closed() -> None:
    """A manager drops the pool of a host that another thread has just been given, and closes it."""
    urllib3 = import_module("urllib3")
    manager = urllib3.PoolManager(num_pools=1, retries=False)

    def request() -> None:
        with suppress(urllib3.exceptions.NewConnectionError):
            manager.request("GET", "http://a/")

    with patch("urllib3.util.connection.create_connection", side_effect=OSError):
        together(request, lambda: manager.connection_from_host("b"))


def kafka_callback_lost() -> None:
    """A callback that is added while the future completes is never called."""
    future = import_module("kafka.future").Future()
    called: list[int] = []
    together(lambda: future.success(1), lambda: future.add_callback(called.append))
    assert called == [1], f"the future succeeded, the callback was called {len(called)} times"


def passlib_lazy_context() -> None:
    """Two threads are the first to use a lazy context: one of them finds it half made."""
    context = import_module("passlib.context").LazyCryptContext(["plaintext"])
    together(lambda: context.schemes(), lambda: context.schemes())


def filelock_two_singletons() -> None:
    """Two threads ask for the singleton of a path: each makes one, and locks beside the other."""
    module = import_module("filelock")
    got: list[object] = []
    together(*[lambda: got.append(module.FileLock("path", is_singleton=True))] * 2)
    assert got[0] is got[1], "one path, two singletons"


def expiringdict_iteration() -> None:
    """Each method locks the cache, iterating does not: it raises, if another thread adds."""
    cache = import_module("expiringdict").ExpiringDict(max_len=10, max_age_seconds=100)
    cache["a"] = 1

    def add() -> None:
        cache["b"] = 2

    together(add, lambda: [cache[key] for key in cache])


def huey_two_get_one_number() -> None:
    """A counter is incremented with the lock and read without: two callers get one number."""
    storage = import_module("huey.storage").MemoryStorage()
    got: list[int] = []
    together(*[lambda: got.append(storage.incr("key"))] * 2)
    assert sorted(got) == [1, 2], f"two increments returned {got}"


def reactivex_failure_told_as_end() -> None:
    """A subscriber comes as the subject fails: it is told that the sequence completed."""
    subject = import_module("reactivex.subject").Subject()
    told: list[str] = []

    def subscribe() -> None:
        subject.subscribe(
            on_error=lambda _error: told.append("error"),
            on_completed=lambda: told.append("completed"),
        )

    together(subscribe, lambda: subject.on_error(ValueError()))
    assert told == ["error"], f"the subject failed, a subscriber was told {told}"


def reactivex_dispose_raises() -> None:
    """A subscription to a ReplaySubject is disposed of as the subject completes: ValueError."""
    subject = import_module("reactivex.subject").ReplaySubject()
    subscription = subject.subscribe()
    together(subscription.dispose, subject.on_completed)
