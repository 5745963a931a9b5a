"""Programs that fail in plain Python and that once passed, each with the verdict it has to have.

Most are two looks of one thread beside a write of another one. Each thread takes a lock and counts
first: so something is seen, and what decides is whether the construct is seen as well.
"""

from dataclasses import dataclass
from textwrap import indent

INCONCLUSIVE = "inconclusive"
FAILS = "AssertionError"


@dataclass(frozen=True, slots=True)
class Looks:
    """A set-up, a statement that writes, an expression that differs behind it, and the verdict."""

    setup: str
    write: str
    look: str
    said: str = FAILS

    def text(self, name: str) -> str:
        """Return the function of the program."""
        return _LOOKS.format(
            name=name,
            setup=indent(self.setup, "    "),
            write=indent(self.write, "        "),
            look=self.look,
        )


_LOOKS = """
def looks_{name}():
{setup}
    lock, seen = threading.Lock(), Box()
    def writes():
        with lock:
            seen.n += 1
{write}
    def looks():
        with lock:
            seen.n += 1
        one = {look}
        other = {look}
        assert one == other, (one, other)
    two(writes, looks)
"""

PRELUDE = """
import asyncio, bisect, contextlib, contextvars, copy, functools, heapq, itertools, json
import operator, sys, threading, time, weakref
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

class Box:
    n = 0
    def get(self):
        return self.n

@dataclass
class Point:
    n: int

class Numbers(list):
    pass

class Names(dict):
    pass

GETS = (lambda s: s.n), (lambda s: s.n)

def plain():
    return 0

def one_more():
    return 1

def two(*works):
    threads = [threading.Thread(target=one) for one in works]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
"""

LOOKS = {
    # What is seen everywhere: if this one passes, the others say nothing.
    "attribute": Looks("s = Box()", "s.n = 1", "s.n"),
    "comprehension": Looks("s = [0]", "s.append(1)", "[x for x in s]"),
    "view": Looks("s = {1: 0}; v = s.values()", "s[1] = 1", "list(v)"),
    "iter": Looks("s = [0]", "s[0] = 1", "next(iter(s))"),
    "iter_of_a_call": Looks("s = [0]", "s[0] = 1", "next(iter(s.copy, None))"),
    "method_kept": Looks("s = [0]; add = s.append", "add(1)", "len(s)"),
    "method_by_getattr": Looks("s = [0]", "getattr(s, 'append')(1)", "len(s)"),
    "method_of_the_class": Looks("s = [0]", "list.append(s, 1)", "len(s)"),
    "partial": Looks("s = [0]; add = functools.partial(s.append, 1)", "add()", "len(s)"),
    "map": Looks("s = [0]", "list(map(s.append, [1]))", "len(s)"),
    "setattr": Looks("s = Box()", "setattr(s, 'n', 1)", "s.n"),
    "operator_setitem": Looks("s = [0]", "operator.setitem(s, 0, 1)", "s[0]"),
    "operator_itemgetter": Looks("s = [0]; get = operator.itemgetter(0)", "s[0] = 1", "get(s)"),
    "heapq": Looks("s = [0]", "heapq.heappush(s, 1)", "len(s)"),
    "bisect": Looks("s = [0]", "bisect.insort(s, 1)", "len(s)"),
    "copy": Looks("s = [0]", "s[0] = 1", "copy.copy(s)"),
    "json": Looks("s = [0]; whole = {'a': s}", "s[0] = 1", "json.dumps(whole)"),
    "join": Looks("s = ['a']", "s[0] = 'b'", "''.join(s)"),
    "format": Looks("s = [0]", "s[0] = 1", "'{}'.format(s)"),
    "operator_on_a_list": Looks("s = [0]", "s[0] = 1", "s + [0]"),
    "star": Looks("s = [0]", "s[0] = 1", "[*s]"),
    "double_star": Looks("s = {'n': 0}", "s['n'] = 1", "{**s}"),
    "subclass_of_list": Looks("s = Numbers()", "s.append(1)", "len(s)"),
    "subclass_of_dict": Looks("s = Names(n=0)", "s['n'] = 1", "s['n']"),
    "class_attribute_of_an_instance": Looks(
        "class Kind:\n    n = 0\ns = Kind()", "type(s).n = 1", "s.n"
    ),
    "method_replaced": Looks("s = Box(); s.get = plain", "s.get = one_more", "s.get()"),
    "method_of_a_class_replaced": Looks(
        "class Kind:\n    def get(self): return 0\ns = Kind()",
        "Kind.get = lambda self: 1",
        "s.get()",
    ),
    "attribute_of_a_function": Looks("def s(): pass\ns.n = 0", "s.n = 1", "s.n"),
    "attribute_of_a_module": Looks(
        "here = sys.modules[__name__]; here.kept = 0", "here.kept = 1", "here.kept"
    ),
    "attribute_of_an_exception": Looks("s = ValueError(); s.n = 0", "s.n = 1", "s.n"),
    "dict_of_an_object": Looks("s = Box(); s.n = 0", "s.__dict__['n'] = 1", "s.n"),
    "vars": Looks("s = Box(); s.n = 0", "vars(s)['n'] = 1", "s.n"),
    "globals": Looks("globals()['KEPT'] = 0", "globals()['KEPT'] = 1", "KEPT", INCONCLUSIVE),
    "dataclass_equality": Looks("s = Point(0)", "s.n = 1", "s == Point(0)"),
    "default": Looks("s = Box()", "s.n = 1", "(lambda a=s.n: a)()"),
    "lambdas_of_one_line": Looks("s = Box()", "s.n = 1", "GETS[0](s)"),
    "count": Looks("s = itertools.count()", "next(s)", "repr(s)"),
    "cache": Looks("s = functools.lru_cache(lambda n: n)", "s(1)", "s.cache_info().currsize"),
    "weak_reference": Looks(
        "s = [Box()]; r = weakref.ref(s[0])", "s.clear()", "r() is None", INCONCLUSIVE
    ),
    "key_of_a_sort": Looks(
        "s = [1, 0]; box = Box()\ndef by(x): return x + box.n", "s.sort(key=by)", "len(s)"
    ),
    "equal_keys": Looks("s = {1: 0}", "s[True] = 1", "s[1]"),
    "name_of_a_thread": Looks(
        "s = threading.Thread(target=plain, name='a')", "s.name = 'b'", "s.name"
    ),
    "value_of_a_semaphore": Looks("s = threading.Semaphore(1)", "s.acquire()", "s._value"),
}

WHOLE = """
def class_body():
    s, lock, seen = Box(), threading.Lock(), Box()
    def writes():
        with lock:
            seen.n += 1
        s.n = 1
    def looks():
        with lock:
            seen.n += 1
        class One:
            n = s.n
        class Other:
            n = s.n
        assert One.n == Other.n
    two(writes, looks)

def shared_generator():
    lock, seen = threading.Lock(), Box()
    numbers = (n for n in range(9))
    def work():
        with lock:
            seen.n += 1
        one = next(numbers)
        other = next(numbers)
        assert other == one + 1
    two(work, work)

def list_of_a_defaultdict():
    lock, seen, box = threading.Lock(), Box(), Box()
    made = defaultdict(lambda: [box.n])
    def work():
        with lock:
            seen.n += 1
        made[1].append(1)
    two(work, work)
    assert made == {1: [0, 1, 1]}

def shared_iterator():
    lock, seen, numbers = threading.Lock(), Box(), iter(range(9))
    def work():
        with lock:
            seen.n += 1
        one = next(numbers)
        other = next(numbers)
        assert other == one + 1
    two(work, work)

def shared_count():
    lock, seen, numbers = threading.Lock(), Box(), itertools.count()
    def work():
        with lock:
            seen.n += 1
        one = next(numbers)
        other = next(numbers)
        assert other == one + 1
    two(work, work)

def module_imported_in_a_run():
    import own_known.late as late
    lock, seen, box = threading.Lock(), Box(), Box()
    def work():
        with lock:
            seen.n += 1
        late.add(box)
    two(work, work)
    assert box.n == 2

class Single:
    made = None
    def __new__(cls):
        if cls.made is None:
            cls.made = object.__new__(cls)
        return cls.made

def singleton():
    lock, seen, got = threading.Lock(), Box(), []
    def work():
        with lock:
            seen.n += 1
        got.append(Single())
    two(work, work)
    assert got[0] is got[1]

class Dies:
    def __init__(self, box):
        self.box = box
    def __del__(self):
        self.box.n += 1

def finaliser():
    lock, box = threading.Lock(), Box()
    def work():
        one = Dies(box)
        with lock:
            one.n = 1
        del one
    two(work, work)
    assert box.n == 0, "a finaliser has run"

# A1: whatever is a step inside of a turn.
async def adds_in_two_turns(box, between):
    n = box.n
    between()
    await asyncio.sleep(0)
    box.n = n + 1

async def both(work):
    box = Box()
    await asyncio.gather(work(box), work(box))
    assert box.n == 2

def turns_with_a_clock():
    asyncio.run(both(lambda box: adds_in_two_turns(box, time.time)))

def turns_with_a_lock():
    lock = threading.Lock()
    def use():
        with lock:
            pass
    asyncio.run(both(lambda box: adds_in_two_turns(box, use)))

# A2: who looks at a lock, and who gives back what another one holds.
def look_at_a_lock():
    lock = threading.Lock()
    def work():
        with lock:
            pass
    thread = threading.Thread(target=work)
    thread.start()
    assert not lock.locked()
    thread.join()

def release_by_another():
    lock = threading.Lock()
    def work():
        with lock:
            pass
    thread = threading.Thread(target=work)
    thread.start()
    with contextlib.suppress(RuntimeError):
        lock.release()
    thread.join()

# A3
def join_before_start():
    lock, late = threading.Lock(), threading.Thread(target=plain)
    def use():
        with lock:
            pass
    two(late.start, late.join, use, use)

# A4: in Python 3.13 `threading.Lock` is a class of C.
def deadlock():
    one, other, first = threading.Lock(), threading.Lock(), threading.RLock()
    def forth():
        with first:
            pass
        with one, other:
            pass
    def back():
        with first:
            pass
        with other, one:
            pass
    two(forth, back)

# D
def attribute_beside_a_lock():
    lock, box, used = threading.Lock(), Box(), set()
    def work():
        with lock:
            used.add(threading.get_ident())
        box.n += 1
    two(work, work)
    assert box.n == 2
"""

WHOLE_SAID = {
    "class_body": INCONCLUSIVE,
    "shared_generator": "ValueError: generator already executing",
    "shared_iterator": FAILS,
    "shared_count": FAILS,
    "list_of_a_defaultdict": FAILS,
    "module_imported_in_a_run": FAILS,
    "singleton": FAILS,
    "finaliser": FAILS,
    "turns_with_a_clock": FAILS,
    "turns_with_a_lock": FAILS,
    "look_at_a_lock": FAILS,
    "release_by_another": "RuntimeError: release unlocked lock",
    "join_before_start": "RuntimeError: cannot join thread before it is started",
    "deadlock": "deadlock",
    "attribute_beside_a_lock": FAILS,
}
"""What the verdict on each has to say: the error that plain Python raises, or that it is none."""
