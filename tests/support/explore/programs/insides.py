"""Programs about what belongs to Python's own classes, and what their code changes there.

They are the text of a module of the user's own: Python's type checkers would not have what they do.
"""

PROGRAMS = """
import argparse, builtins, calendar, codecs, collections, concurrent.futures, contextlib
import contextvars, copy, csv, decimal, enum, functools, gc, heapq, io, itertools, logging, math
import operator, os, queue
import re, sys, threading, time, traceback, typing, unittest, weakref
from collections import UserList
from collections import defaultdict
from concurrent.futures import Future, ThreadPoolExecutor
class Seen: n = 0
def two(*works):
    threads = [threading.Thread(target=one) for one in works]
    for one in threads: one.start()
    for one in threads: one.join()
def two_looks(write, look):
    # Something is seen, also where what counts is not.
    lock, seen = threading.Lock(), Seen()
    def writes():
        with lock: seen.n += 1
        write()
    def looks():
        with lock: seen.n += 1
        one, other = look(), look()
        assert one == other
    two(writes, looks)
def wrong_sum_of_floats():
    numbers = [1.0]
    two_looks(lambda: numbers.append(2.0), lambda: math.fsum(numbers))
def wrong_match_of_bytes():
    text = bytearray(b"a")
    two_looks(lambda: text.extend(b"b"), lambda: bool(re.fullmatch(b"a", text)))
def wrong_match_by_a_pattern():
    text, pattern = bytearray(b"a"), re.compile(b"a")
    two_looks(lambda: text.extend(b"b"), lambda: bool(pattern.fullmatch(text)))
def wrong_text_of_a_match():
    text = bytearray(b"a")
    match = re.match(b"a", text)
    two_looks(lambda: text.__setitem__(0, 98), lambda: match.group())
def wrong_assertion():
    numbers, case = [1], unittest.TestCase()
    def look():
        try: case.assertEqual(numbers, [1])
        except AssertionError: return False
        return True
    two_looks(lambda: numbers.append(2), look)
def wrong_message():
    numbers, stream, logger = [1], io.StringIO(), logging.Logger("own_insides")
    logger.addHandler(logging.StreamHandler(stream))
    def look():
        stream.seek(0)
        stream.truncate()
        logger.warning("%s", numbers)
        return stream.getvalue()
    two_looks(lambda: numbers.append(2), look)
def wrong_record():
    numbers = [1]
    record = logging.LogRecord("", 0, "", 0, "%s", (numbers,), None)
    two_looks(lambda: numbers.append(2), record.getMessage)
def wrong_formatted_record():
    record = logging.LogRecord("", 0, "", 0, "1", (), None)
    two_looks(lambda: setattr(record, "msg", "2"), lambda: logging.Formatter().format(record))
def wrong_text_of_an_error():
    error = ValueError(1)
    def work(): error.args = (2,)
    two_looks(work, lambda: traceback.format_exception_only(error))
def wrong_wait():
    futures = [Future()]
    futures[0].set_result(1)
    two_looks(lambda: futures.append(futures[0]) or futures.pop(0) and futures.clear(),
              lambda: len(concurrent.futures.wait(futures).done))
def wrong_referents():
    numbers = []
    two_looks(lambda: numbers.append(1), lambda: len(gc.get_referents(numbers)))
def wrong_size():
    numbers = []
    two_looks(lambda: numbers.append(1), lambda: sys.getsizeof(numbers))
def wrong_flag_of_a_file():
    reading, writing = os.pipe()
    try:
        two_looks(lambda: os.set_inheritable(reading, True), lambda: os.get_inheritable(reading))
    finally:
        os.close(reading)
        os.close(writing)
def wrong_member():
    class Sort(enum.Enum): A = 1
    def work(): Sort._value2member_map_[2] = Sort.A
    def look():
        try: return Sort(2)
        except ValueError: return None
    two_looks(work, look)
def unknown_builtin():
    builtins.made_up = 0
    def work(): builtins.made_up = 1
    two_looks(work, lambda: made_up)
def unknown_value_of_a_member():
    class Sort(enum.Enum): A = 1
    def work(): Sort.A._value_ = 2
    two_looks(work, lambda: Sort.A.value)
def unknown_time_zone():
    def work():
        os.environ["TZ"] = "UTC-3"
        time.tzset()
    two_looks(work, lambda: time.localtime(0).tm_hour)
def unknown_dialect():
    two_looks(lambda: csv.register_dialect("own", delimiter=";"), csv.list_dialects)
def unknown_level():
    two_looks(lambda: logging.addLevelName(33, "OWN"), lambda: logging.getLevelName(33))
def unknown_codec():
    def look():
        try: return codecs.lookup("own_codec").name
        except LookupError: return None
    def find(name): return codecs.lookup("utf-8") if name == "own_codec" else None
    two_looks(lambda: codecs.register(find), look)
    codecs.unregister(find)
def unknown_mask():
    two_looks(lambda: os.umask(0o22), lambda: os.umask(0o22))
def unknown_hints():
    class Typed: n: int
    def work(): Typed.__annotations__["n"] = str
    two_looks(work, lambda: typing.get_type_hints(Typed)["n"])
def unknown_references():
    number, kept = object(), []
    two_looks(lambda: kept.append(number), lambda: sys.getrefcount(number))
def right_assertion():
    numbers, case, lock = [1], unittest.TestCase(), threading.Lock()
    def work():
        with lock:
            numbers.append(len(numbers) + 1)
            case.assertEqual(len(numbers), numbers[-1])
            case.assertIn(1, numbers)
    two(work, work)
def wrong_value_of_a_semaphore():
    semaphore = threading.Semaphore(1)
    two_looks(semaphore.acquire, lambda: semaphore._value)
def wrong_value_behind_with():
    semaphore = threading.Semaphore(2)
    def work():
        with semaphore: assert semaphore._value == 1
    two(work, work)
def wrong_value_by_getattr():
    semaphore = threading.Semaphore(1)
    two_looks(semaphore.acquire, lambda: getattr(semaphore, "_value"))
def wrong_waiters():
    condition = threading.Condition()
    def wait():
        with condition: condition.wait(1)
    two_looks(wait, lambda: len(condition._waiters))
def wrong_barrier():
    barrier = threading.Barrier(2)
    two_looks(barrier.abort, lambda: barrier._state)
def wrong_items():
    items = queue.Queue()
    two_looks(lambda: items.put(1), lambda: list(items.queue))
class Items(queue.Queue):
    def all(self): return list(self.queue)
def wrong_items_of_a_subclass():
    items = Items()
    two_looks(lambda: items.put(1), items.all)
def wrong_heap():
    items = queue.PriorityQueue()
    two_looks(lambda: items.put(1), lambda: len(items.queue))
def wrong_unfinished():
    items = queue.Queue()
    two_looks(lambda: items.put(1), lambda: items.unfinished_tasks)
def wrong_stack():
    stack = contextlib.ExitStack()
    two_looks(lambda: stack.callback(int), lambda: len(stack._exit_callbacks))
def wrong_name():
    thread = threading.Thread(target=int)
    def rename(): thread.name = "other"
    two_looks(rename, lambda: thread.name)
def wrong_name_by_repr():
    thread = threading.Thread(target=int)
    def rename(): thread.name = "other"
    two_looks(rename, lambda: repr(thread))
def wrong_old_name():
    thread = threading.Thread(target=int)
    two_looks(lambda: thread.setName("other"), lambda: thread.getName())
def wrong_daemon():
    thread = threading.Thread(target=int)
    def change(): thread.daemon = True
    two_looks(change, lambda: thread.daemon)
def wrong_namespace_by_repr():
    space = argparse.Namespace(n=0)
    def write(): space.n = 1
    two_looks(write, lambda: repr(space))
def wrong_length_of_a_user_list():
    items = UserList()
    two_looks(lambda: items.append(1), lambda: len(items))
def wrong_length_of_a_weak_set():
    one, some = Seen(), weakref.WeakSet()
    two_looks(lambda: some.add(one), lambda: len(some))
def wrong_finalizer():
    one = Seen()
    end = weakref.finalize(one, int)
    two_looks(end.detach, lambda: end.alive)
def wrong_precision():
    context = decimal.Context(prec=3)
    def write(): context.prec = 5
    two_looks(write, lambda: context.divide(1, 3))
def wrong_line():
    lines = csv.reader(["a", "b", "c"])
    two_looks(lambda: next(lines), lambda: lines.line_num)
def wrong_row():
    rows = csv.DictReader(["a", "b", "c"])
    two_looks(lambda: next(rows), lambda: rows.line_num)
def wrong_text_of_a_writer():
    text = io.StringIO()
    writer = csv.writer(text)
    two_looks(lambda: writer.writerow([1]), text.getvalue)
def wrong_text_of_a_writer_of_rows():
    text = io.StringIO()
    writer = csv.DictWriter(text, ["a"])
    two_looks(writer.writeheader, text.getvalue)
def wrong_suite():
    suite = unittest.TestSuite()
    two_looks(lambda: suite.addTest(unittest.TestCase()), suite.countTestCases)
def wrong_result_of_tests():
    result = unittest.TestResult()
    two_looks(result.stop, lambda: result.shouldStop)
def wrong_dict_of_an_object():
    weeks = calendar.Calendar()
    two_looks(lambda: weeks.setfirstweekday(3), lambda: vars(weeks)["_firstweekday"])
def wrong_value_in_a_context():
    number, context = contextvars.ContextVar("number"), contextvars.copy_context()
    two_looks(lambda: context.run(number.set, 1), lambda: context.get(number))
def wrong_entry_of_a_context():
    lock, context = threading.Lock(), contextvars.copy_context()
    def inside():
        with lock: pass
    def work():
        try: context.run(inside)
        except RuntimeError: raise AssertionError("it is entered already") from None
    two(work, work)
def wrong_threshold():
    import gc
    two_looks(lambda: gc.set_threshold(900), gc.get_threshold)
def wrong_timeout_of_sockets():
    import socket
    two_looks(lambda: socket.setdefaulttimeout(3), socket.getdefaulttimeout)
def wrong_prompt():
    import sys
    def write(): sys.ps1 = "$"
    two_looks(write, lambda: hasattr(sys, "ps1"))
def wrong_array_of_c():
    import ctypes
    array = (ctypes.c_int * 3)()
    def write(): array[0] = 1
    two_looks(write, lambda: array[0])
def wrong_dict_of_a_function():
    def one(): pass
    def write(): one.n = 1
    two_looks(write, lambda: vars(one).get("n"))
def wrong_dict_of_a_local_class():
    class Local:
        def __init__(self): self.n = 0
    one = Local()
    def write(): one.n = 1
    two_looks(write, lambda: one.__dict__["n"])
def wrong_dict_of_a_local_class_itself():
    class Local: n = 0
    def write(): Local.n = 1
    two_looks(write, lambda: vars(Local)["n"])
def wrong_cached_property():
    class Local:
        @functools.cached_property
        def n(self): return 1
    one = Local()
    two_looks(lambda: one.n, lambda: "n" in one.__dict__)
def wrong_cause():
    error = ValueError()
    def write():
        try: raise error from KeyError()
        except ValueError: pass
    two_looks(write, lambda: error.__cause__)
def wrong_traceback():
    error = ValueError()
    def write():
        try: raise error
        except ValueError: pass
    two_looks(write, lambda: error.__traceback__)
def wrong_name_of_a_wrapper():
    def wrapper(): pass
    two_looks(lambda: functools.update_wrapper(wrapper, two), lambda: wrapper.__name__)
def wrong_text_of_a_lock():
    lock = threading.Lock()
    two_looks(lock.acquire, lambda: repr(lock))
def wrong_text_of_a_reentrant_lock():
    lock = threading.RLock()
    two_looks(lock.acquire, lambda: str(lock))
def wrong_dictionary_of_a_new_class():
    space = {}
    two_looks(lambda: space.update(n=1), lambda: hasattr(type("Made", (), space), "n"))
def wrong_readiness():
    import os, select
    there, here = os.pipe()
    two_looks(lambda: os.write(here, b"x"), lambda: select.select([there], [], [], 0))
class Finalised:
    def __init__(self, ended): self.ended, self.n = ended, 0
    def __del__(self): self.ended.append(self.n)
def wrong_finaliser():
    ended = []
    held = [Finalised(ended)]
    held[0].n += 1
    two_looks(held.clear, lambda: len(ended))
def wrong_call_of_a_finaliser():
    held, ended = [Seen()], []
    weakref.finalize(held[0], ended.append, 1)
    two_looks(held.clear, lambda: len(ended))
def wrong_finaliser_of_a_local():
    ended = []
    def work():
        one = Finalised(ended)
        one.n += 1
    two_looks(work, lambda: len(ended))
def unknown_finaliser_in_a_list():
    ended = []
    def work():
        some = [Finalised(ended)]
        some.append(1)
    two_looks(work, lambda: len(ended))
def refused_finaliser_in_a_list():
    ended = []
    two(lambda: ended.append(0), int)
    def work():
        some = [Finalised(ended)]
        some.append(1)
    work()
    assert ended == [0, 0]
def wrong_beside_a_list_that_lives():
    ended = []
    two(lambda: ended.append(0), int)
    some = [Finalised(ended)]
    some.append(1)
    assert ended == [0, 0]
def unknown_death():
    seen = Seen()
    seen.held = Seen()
    reference = weakref.ref(seen.held)
    def drop(): seen.held = None
    two_looks(drop, lambda: reference() is None)
def unknown_death_of_what_is_finalised():
    held = [Seen()]
    end = weakref.finalize(held[0], int)
    two_looks(held.clear, lambda: end.alive)
def unknown_death_in_a_list():
    held = [Seen()]
    reference = weakref.ref(held[0])
    two_looks(held.clear, lambda: reference() is None)
def unknown_death_in_a_dictionary():
    held, values = [Seen()], weakref.WeakValueDictionary()
    values["n"] = held[0]
    two_looks(held.clear, lambda: len(values))
def unknown_death_in_a_set():
    held, some = [Seen()], weakref.WeakSet()
    some.add(held[0])
    two_looks(held.clear, lambda: len(some))
def unknown_death_of_a_local():
    some = weakref.WeakSet()
    def work():
        one = Seen()
        some.add(one)
    two_looks(work, lambda: len(some))
def unknown_filters():
    import warnings
    two_looks(lambda: warnings.simplefilter("error"), lambda: len(warnings.filters))
def unknown_handler():
    import signal
    def ignore(): signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    two_looks(ignore, lambda: signal.getsignal(signal.SIGUSR1))
def unknown_collector():
    import gc
    two_looks(gc.disable, gc.isenabled)
def unknown_subclasses():
    class Base: made = []
    def define():
        class Made(Base): pass
        Base.made.append(Made)
    two_looks(define, lambda: len(Base.__subclasses__()))
def unknown_cell():
    n = 0
    def write():
        nonlocal n
        n = 1
    cell = write.__closure__[0]
    two_looks(write, lambda: cell.cell_contents)
def right_reference_to_what_lives():
    seen, lock = Seen(), threading.Lock()
    reference = weakref.ref(seen)
    def work():
        with lock: reference().n += 1
    two(work, work)
    assert seen.n == 2
def unknown_finaliser_in_a_cell():
    ended = []
    def work():
        one = Finalised(ended)
        def inside():
            nonlocal one
            one.n += 1
            one = one
        inside()
        lock = threading.Lock()
    two_looks(work, lambda: len(ended))
def right_tasks_in_a_list():
    import asyncio
    async def main():
        seen = []
        async def work(): seen.append(1)
        tasks = [asyncio.ensure_future(work()) for _ in range(2)]
        tasks.append(asyncio.ensure_future(work()))
        await asyncio.gather(*tasks)
        assert len(seen) == 3
    asyncio.run(main())
def right_pool_that_is_finalised():
    lock, closed = threading.Lock(), []
    def close(items):
        with lock: closed.append(items.get())
    def work():
        one, items = Seen(), queue.Queue()
        items.put(1)
        weakref.finalize(one, close, items)
    two(work, work)
    assert closed == [1, 1]
def right_set_of_what_lives():
    held, lock, some = [Seen(), Seen()], threading.Lock(), weakref.WeakSet()
    def work():
        with lock: some.add(held[len(some)])
    two(work, work)
    assert len(some) == 2
def right_finaliser():
    lock, ended = threading.Lock(), []
    class Mine(Finalised):
        def __del__(self):
            with lock: super().__del__()
    def work():
        one = Mine(ended)
        one.n += 1
    two(work, work)
    assert ended == [1, 1]
def right_look_at_ones_module():
    import sys
    here, lock = sys.modules[__name__], threading.Lock()
    def work():
        with lock: assert sys.modules[__name__] is here
    two(work, work)
def right_weak_keys():
    lock, seen = threading.Lock(), Seen()
    def work():
        numbers = weakref.WeakKeyDictionary({seen: 0})
        with lock: numbers[seen] += 1
        assert numbers[seen] == 1
    two(work, work)
def right_wrappers():
    def work():
        @functools.wraps(two)
        def inner(): return inner.__name__
        assert inner() == "two"
    lock = threading.Lock()
    def locked():
        with lock: work()
    two(locked, locked)
def right_errors():
    lock, seen = threading.Lock(), []
    class Mine(Exception): pass
    def work():
        try:
            error = Mine()
            raise error
        except Mine as caught:
            with lock: seen.append(caught.__traceback__ is None)
    two(work, work)
    assert seen == [False, False]
def right_context_under_a_lock():
    number, lock = contextvars.ContextVar("number", default=0), threading.Lock()
    context = contextvars.copy_context()
    def add(): number.set(number.get() + 1)
    def work():
        with lock: context.run(add)
    two(work, work)
    assert context[number] == 2
def two_in_a_row(numbers):
    # Something else is seen.
    lock = threading.Lock()
    def work():
        with lock: pass
        one, other = next(numbers), next(numbers)
        assert other == one + 1
    two(work, work)
def wrong_counter():
    two_in_a_row(itertools.count())
def wrong_iterator():
    two_in_a_row(iter(range(4)))
def wrong_factory():
    lock, made = threading.Lock(), []
    class Made:
        def __init__(self): made.append(self)
    by_key = defaultdict(Made)
    def work():
        with lock: pass
        by_key["key"]
    two(work, work)
    assert len(made) == 1
def unknown_flag():
    event = threading.Event()
    two_looks(event.set, lambda: event._flag)
def unknown_start():
    thread = threading.Thread(target=int)
    two_looks(thread.start, lambda: thread._started)
def unknown_state_of_a_future():
    future = Future()
    two_looks(lambda: future.set_result(1), lambda: future._state)
def unknown_threads_of_a_pool():
    with ThreadPoolExecutor(1) as pool:
        two_looks(lambda: pool.submit(int), lambda: len(pool._threads))
def unknown_dict():
    semaphore = threading.Semaphore(1)
    two_looks(semaphore.acquire, lambda: semaphore.__dict__["_value"])
def unknown_vars():
    semaphore = threading.Semaphore(1)
    two_looks(semaphore.acquire, lambda: vars(semaphore)["_value"])
def unknown_attrgetter():
    semaphore = threading.Semaphore(1)
    two_looks(semaphore.acquire, lambda: operator.attrgetter("_value")(semaphore))
def right_items_under_the_mutex():
    items = queue.Queue()
    def clear():
        with items.mutex:
            assert len(items.queue) == len(items.queue)
            items.queue.clear()
    two(clear, lambda: items.put(1))
def right_value_behind_with():
    semaphore, seen = threading.Semaphore(1), Seen()
    def work():
        with semaphore:
            assert semaphore._value == 0
            seen.n += 1
    two(work, work)
    assert seen.n == 2
def right_waiters_under_the_lock():
    condition, done = threading.Condition(), []
    def wait():
        with condition:
            while not done: condition.wait()
    def wake():
        with condition:
            done.append(1)
            condition.notify(len(condition._waiters) or 1)
    two(wait, wake)
class Worker(threading.Thread):
    def __init__(self, name, seen):
        super().__init__(name=name, daemon=True)
        self.seen = seen
    def run(self): self.seen.append(self.name)
def right_names_of_workers():
    seen = []
    workers = [Worker(name, seen) for name in "ab"]
    for one in workers: one.start()
    for one in workers: one.join()
    assert sorted(seen) == ["a", "b"]
def right_daemon_before_the_start():
    timer = threading.Timer(1, int)
    timer.daemon = True
    two(timer.cancel, timer.cancel)
"""
