"""The defects of released packages, and of Python's own library, that the table tells of."""

from dataclasses import dataclass

PYTHON = "CPython"
"""The package whose release is that of the interpreter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A defect of the release `broken`; the program `name` of a file of the corpus shows it.

    `mended` is the first release without it that was tried; without one, `why_not_mended` says why.
    `instrument` are the packages whose state is seen, beside locks and turns. `reported` is
    where it was reported, empty if nowhere that we know of.
    """

    name: str
    package: str
    broken: str
    what: str
    instrument: tuple[str, ...] = ("none",)
    mended: str = ""
    why_not_mended: str = "the newest release has it"
    reported: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `wheelproof explore`."""
        return tuple(word for name in self.instrument for word in ("--instrument", name))

    @property
    def is_python(self) -> bool:
        """Whether it is one of Python's own library."""
        return self.package == PYTHON


TASKS: tuple[Defect, ...] = (
    Defect(
        name="anyio_lock_cancelled",
        package="anyio",
        broken="4.13.0",
        mended="4.14.0",
        what="after a waiter is cancelled, no task gets the free lock",
        reported="agronholm/anyio#1145",
    ),
    Defect(
        name="anyio_semaphore_cancelled",
        package="anyio",
        broken="4.13.0",
        mended="4.14.0",
        what="after a waiter is cancelled, no task gets the free place",
        reported="agronholm/anyio#1145",
    ),
    Defect(
        name="anyio_limiter_exceeded",
        package="anyio",
        broken="4.13.0",
        mended="4.14.2",
        what="two tasks hold the only token",
        reported="agronholm/anyio#1170",
    ),
    Defect(
        name="anyio_limiter_cancelled",
        package="anyio",
        broken="4.9.0",
        mended="4.16.0",
        what="a token given to a cancelled waiter is lost",
        reported="agronholm/anyio#947",
    ),
    Defect(
        name="anyio_condition_cancelled",
        package="anyio",
        broken="4.12.1",
        mended="4.13.0",
        what="a notification given to a cancelled waiter is lost",
        reported="agronholm/anyio#1075",
    ),
    Defect(
        name="asyncio_condition_cancelled",
        package=PYTHON,
        broken="3.11",
        mended="3.13",
        what="a notification given to a cancelled waiter is lost",
        reported="python/cpython#112202",
    ),
    Defect(
        name="fair_rlock_two_owners",
        package="fair-async-rlock",
        broken="1.0.6",
        mended="1.0.7",
        what="two tasks hold the lock",
        reported="Joshuaalbert/FairAsyncRLock#17",
    ),
    Defect(
        name="fair_rlock_cancelled",
        package="fair-async-rlock",
        broken="1.0.5",
        mended="1.0.7",
        what="a lock given to a cancelled waiter is never free again",
        reported="Joshuaalbert/FairAsyncRLock#14",
    ),
    Defect(
        name="aiorwlock_reader_cancelled",
        package="aiorwlock",
        broken="1.5.0",
        mended="1.5.1",
        what="after a reader is cancelled, no task may write",
        reported="aio-libs/aiorwlock#400",
    ),
    Defect(
        name="aiorwlock_writer_cancelled",
        package="aiorwlock",
        broken="1.5.0",
        mended="1.5.1",
        what="after a writer is cancelled, no task may read",
        reported="aio-libs/aiorwlock#400",
    ),
    Defect(
        name="aiorwlock_two_writers",
        package="aiorwlock",
        broken="1.1.0",
        mended="1.2.0",
        what="two writers hold the lock at once",
        reported="aio-libs/aiorwlock#235",
    ),
    Defect(
        name="redis_connect_cancelled",
        package="redis",
        broken="5.0.1",
        mended="5.0.2",
        what="a task cancelled while it connects deadlocks with itself",
        reported="redis/redis-py#3056",
    ),
    Defect(
        name="redis_anothers_answer",
        package="redis",
        broken="4.5.3",
        mended="4.5.5",
        what="a command gets the answer of a cancelled command",
        reported="redis/redis-py#2665, CVE-2023-28859",
    ),
    Defect(
        name="asyncio_wait_for_cancelled",
        package=PYTHON,
        broken="3.11",
        mended="3.12",
        what="cancel() answers True, and the task goes on",
        reported="python/cpython#86296",
    ),
    Defect(
        name="aiomysql_closed_connection",
        package="aiomysql",
        broken="0.3.2",
        what="a closed connection is returned, and no waiter is notified",
    ),
    Defect(
        name="aiojobs_limit_exceeded",
        package="aiojobs",
        broken="1.4.0",
        what="a pending job is closed, and two jobs run at a limit of one",
    ),
    Defect(
        name="async_lru_forgets",
        package="async-lru",
        broken="2.4.0",
        what="an invalidated call also removes the next cached value",
    ),
    Defect(
        name="httpcore_cancelled",
        package="httpcore[asyncio]",
        broken="1.0.9",
        what="a cancelled request keeps its connection for ever",
        reported="encode/httpcore#1093",
    ),
    Defect(
        name="aiosqlite_two_closes",
        package="aiosqlite",
        broken="0.22.1",
        what="two tasks close a connection, and one waits for ever",
    ),
    Defect(
        name="aiohttp_cancelled_as_its_turn_comes",
        package="aiohttp",
        broken="3.14.5",
        what="a request is cancelled while it gets its turn, and the next request waits for ever",
    ),
    Defect(
        name="psycopg_worker_not_cancelled",
        package="psycopg-pool",
        broken="3.3.3",
        what="a worker goes on after its cancellation, and asyncio.run waits for ever",
    ),
    Defect(
        name="psycopg_two_waits",
        package="psycopg-pool",
        broken="3.3.3",
        what="AssertionError if two tasks wait until the pool is full",
    ),
    Defect(
        name="psycopg_too_many_connections",
        package="psycopg-pool",
        broken="3.3.3",
        what="resize() makes more connections than the limit",
    ),
    Defect(
        name="aiokafka_gives_up_too_early",
        package="aiokafka",
        broken="0.14.0",
        what="send_batch() gives up before its time-out",
    ),
)
"""Those of tasks.py."""

THREADS: tuple[Defect, ...] = (
    Defect(
        name="zict_lru_evicts_too_many",
        package="zict",
        broken="3.0.0",
        what="two threads evict one key too many",
        instrument=("zict",),
    ),
    Defect(
        name="zict_setdefault",
        package="zict",
        broken="3.0.0",
        what="one key has two values",
        reported="dask/zict#99",
    ),
    Defect(
        name="limits_two_hits_pass",
        package="limits",
        broken="5.8.0",
        what="two hits pass a limit of one",
        instrument=("limits",),
    ),
    Defect(
        name="limits_both_hits_refused",
        package="limits",
        broken="5.8.0",
        what="a limit of one refuses both of two hits",
        instrument=("limits",),
    ),
    Defect(
        name="cached_property_deadlock",
        package=PYTHON,
        broken="3.11",
        mended="3.12",
        what="two properties that read each other deadlock",
        instrument=(),
        reported="python/cpython#87634",
    ),
    Defect(
        name="http_client_version",
        package="python-http-client",
        broken="3.3.7",
        what="a request goes to the API version that another thread has set",
        instrument=("python_http_client",),
    ),
    Defect(
        name="http_client_headers",
        package="python-http-client",
        broken="3.3.7",
        what="a request is sent with the token of another request",
        instrument=("python_http_client",),
    ),
    Defect(
        name="expiringdict_setdefault",
        package="expiringdict",
        broken="1.2.2",
        what="one key has two values",
    ),
    Defect(
        name="circuitbreaker_lost_failure",
        package="circuitbreaker",
        broken="2.1.3",
        what="two failures are counted as one",
        instrument=("circuitbreaker",),
    ),
    Defect(
        name="pybreaker_false_notice",
        package="pybreaker",
        broken="1.4.1",
        what="listeners are told that an open circuit closed",
        instrument=("pybreaker",),
    ),
    Defect(
        name="pykka_ask_unanswered",
        package="pykka",
        broken="4.5.0",
        what="a question to a stopping actor is never answered",
    ),
    Defect(
        name="pyrate_limiter_two_buckets",
        package="pyrate-limiter",
        broken="2.10.0",
        why_not_mended="later versions have no such buckets",
        what="two first calls make two buckets",
        instrument=("pyrate_limiter",),
        reported="vutran1710/PyrateLimiter#108",
    ),
    Defect(
        name="watchdog_emitter_not_started",
        package="watchdog",
        broken="6.0.0",
        what="a path scheduled while the observer starts is not watched",
        instrument=("watchdog",),
        reported="gorakhargosh/watchdog#1044",
    ),
    Defect(
        name="dbutils_shared_connection_gone",
        package="DBUtils",
        broken="3.1.2",
        mended="3.2.0",
        what="a waiter pops from an empty list of connections",
    ),
    Defect(
        name="dateutil_cached_rule",
        package="python-dateutil",
        broken="3.0.0",
        mended="4.0.0",
        what="a thread waits for ever for a cached rule",
    ),
    Defect(
        name="apscheduler_shutdown",
        package="APScheduler",
        broken="3.11.3",
        what="JobLookupError ends the scheduler's thread at shutdown",
    ),
    Defect(
        name="socketio_two_callbacks",
        package="python-socketio",
        broken="5.16.3",
        what="two messages get one number, a callback is lost",
        instrument=("socketio.base_manager",),
    ),
    Defect(
        name="urllib3_pool_closed",
        package="urllib3",
        broken="1.26.15",
        mended="1.26.16",
        what="a pool that a thread has just got is closed",
        instrument=("urllib3.connectionpool",),
        reported="urllib3/urllib3#1252",
    ),
    Defect(
        name="kafka_callback_lost",
        package="kafka-python",
        broken="2.1.0",
        mended="2.1.1",
        what="a callback added while the future completes is never called",
        instrument=("kafka.future",),
        reported="dpkp/kafka-python#2291",
    ),
    Defect(
        name="passlib_lazy_context",
        package="passlib",
        broken="1.7.4",
        what="two threads use the context first, and one finds it half made",
        instrument=("passlib.context",),
    ),
    Defect(
        name="filelock_two_singletons",
        package="filelock",
        broken="3.29.0",
        mended="3.30.0",
        what="one path has two singleton locks",
        instrument=("filelock",),
    ),
    Defect(
        name="expiringdict_iteration",
        package="expiringdict",
        broken="1.2.2",
        what="an iteration raises if another thread adds",
        instrument=(),
    ),
    Defect(
        name="huey_two_get_one_number",
        package="huey",
        broken="3.5.4",
        what="two increments return the same number",
        instrument=("huey.storage",),
    ),
    Defect(
        name="reactivex_failure_told_as_end",
        package="reactivex",
        broken="6.1.0",
        what="a subscriber to a failing subject is told that it completed",
        instrument=("reactivex.subject", "reactivex.observer"),
    ),
    Defect(
        name="reactivex_dispose_raises",
        package="reactivex",
        broken="6.1.0",
        what="ValueError from a subscription that is disposed of at the end",
        instrument=("reactivex.subject",),
    ),
)
"""Those of threads.py."""

CLIENTS: tuple[Defect, ...] = (
    Defect(
        name="kombu_limit_exceeded",
        package="kombu",
        broken="5.7.0",
        what="two connections are taken at a limit of one",
        instrument=("kombu.resource",),
    ),
    Defect(
        name="sentry_worker_killed",
        package="sentry-sdk",
        broken="2.75.0",
        what="AttributeError in a thread that sends while the worker is killed",
        instrument=("sentry_sdk.worker",),
    ),
    Defect(
        name="otel_lost_at_shutdown",
        package="opentelemetry-sdk",
        broken="1.45.2",
        what="a record is neither exported nor counted as dropped",
        instrument=("opentelemetry.sdk._shared_internal",),
    ),
    Defect(
        name="otel_lost_when_full",
        package="opentelemetry-sdk",
        broken="1.45.2",
        what="a record is dropped from a full queue and not counted",
        instrument=("opentelemetry.sdk._shared_internal",),
    ),
    Defect(
        name="elastic_transport_nodes",
        package="elastic-transport",
        broken="9.4.2",
        what="RuntimeError while another thread marks a node as dead",
        instrument=("elastic_transport._node_pool",),
    ),
    Defect(
        name="paho_two_wait_for_publish",
        package="paho-mqtt",
        broken="2.2.0",
        what="two threads wait for a message, and one is never notified",
    ),
    Defect(
        name="neo4j_failed_connection",
        package="neo4j",
        broken="6.4.1",
        what="a connection fails, and the thread that waits for its place is not notified",
    ),
    Defect(
        name="s3transfer_cancelled",
        package="s3transfer",
        broken="0.19.3",
        what="cancel() deadlocks with a done callback that sets an exception",
    ),
    Defect(
        name="cheroot_stop_hangs",
        package="cheroot",
        broken="11.1.2",
        what="stop() never returns if the pool grows meanwhile",
    ),
    Defect(
        name="pubsub_key_is_stuck",
        package="google-cloud-pubsub",
        broken="2.44.0",
        what="after a message that is too large, its ordering key is stuck",
    ),
    Defect(
        name="pubsub_memory_is_lost",
        package="google-cloud-pubsub",
        broken="2.44.0",
        what="a message that is too large keeps its place in the flow control",
    ),
    Defect(
        name="pubsub_no_timer_after_a_failure",
        package="google-cloud-pubsub",
        broken="2.44.0",
        what="after a thread that cannot be started, nothing is sent by time any more",
    ),
    Defect(
        name="more_executors_cancelled_below",
        package="more-executors",
        broken="2.11.4",
        what="a future never ends if the future that it wraps is cancelled",
    ),
    Defect(
        name="more_executors_two_cancels",
        package="more-executors",
        broken="2.11.4",
        what="AssertionError from cancel() while retries end",
    ),
    Defect(
        name="kazoo_callback_twice",
        package="kazoo",
        broken="2.11.0",
        what="a callback is called twice",
    ),
    Defect(
        name="kazoo_callback_lost",
        package="kazoo",
        broken="2.11.0",
        what="a callback is lost while the handler stops",
    ),
    Defect(
        name="sqlalchemy_failed_connection",
        package="SQLAlchemy",
        broken="2.1.9",
        what="a connection fails, and the thread that waits for its place is not notified",
        instrument=("sqlalchemy.pool.impl",),
    ),
)

DEFECTS = {"tasks": TASKS, "threads": THREADS, "clients": CLIENTS}
"""All of them, by the name of the file with their programs."""
