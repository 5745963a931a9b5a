"""Code that has never heard of a model checker: what is called `right_` has to pass."""

import operator
import threading
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from queue import Queue
from typing import Never

total = 0


def _together(*actions: Callable[[], object]) -> None:
    threads = [threading.Thread(target=action) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _both(action: Callable[[], object]) -> None:
    _together(action, action)


def _message(*parts: object) -> tuple[object, ...]:
    return parts


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def increment(self) -> None:
        self.count += 1


GONE = weakref.proxy(Counter())
"""A proxy of an object that is no more: whoever asks it for its class gets an error."""


def reader(counter: Counter) -> Callable[[], int]:
    """Return a function that is made anew at each call, out of code that may be instrumented."""
    return lambda: counter.count


class Slotted:
    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def increment(self) -> None:
        self.count += 1


def lost_update() -> None:
    counter = Counter()
    _both(counter.increment)
    assert counter.count == 2


def a_lost_update_made_later() -> Callable[[], None]:
    numbers = {"a": 0}

    def add() -> None:
        numbers["a"] += 1

    def lost_update_made_later() -> None:
        numbers["a"] = 0
        _both(add)
        assert numbers["a"] == 2

    return lost_update_made_later


def lost_update_by_a_function() -> None:
    numbers = {"a": 0}

    def add() -> None:
        operator.setitem(numbers, "a", operator.getitem(numbers, "a") + 1)

    _both(add)
    assert numbers["a"] == 2


def lost_update_through_a_view() -> None:
    numbers = {"a": 0}
    view = numbers.values()

    def add() -> None:
        for number in view:
            numbers["a"] = number + 1

    _both(add)
    assert numbers["a"] == 2


def lost_update_in_a_subclass() -> None:
    class Numbers(set[int]):
        pass

    numbers = Numbers()

    def add() -> None:
        numbers.add(len(numbers))

    _both(add)
    assert len(numbers) == 2


def lost_update_in_slots() -> None:
    counter = Slotted()
    _both(counter.increment)
    assert counter.count == 2


def lost_update_of_a_global() -> None:
    global total
    total = 0

    def add() -> None:
        global total
        total += 1

    _both(add)
    assert total == 2


def lost_update_of_a_variable() -> None:
    count = 0

    def increment() -> None:
        nonlocal count
        count += 1

    _both(increment)
    assert count == 2


def lost_update_of_an_item() -> None:
    counts = {"a": 0}

    def increment() -> None:
        counts["a"] += 1

    _both(increment)
    assert counts["a"] == 2


def lost_update_by_a_pattern() -> None:
    counter = Counter()

    def increment() -> None:
        match _message(1, 2, counter):
            case (Counter(count=-1), *_) | [] | (2, _, Counter()):
                raise AssertionError
            case (int(step), *_, Counter(count=value)):
                counter.count = value + step
            case _:
                raise AssertionError

    _both(increment)
    assert counter.count == 2


def lost_update_of_what_a_pattern_binds() -> None:
    global total
    total = 0

    def add() -> None:
        global total
        match (total + 1,):
            case (total,):
                pass

    _both(add)
    assert total == 2


def lost_update_by_a_walrus() -> None:
    count = 0

    def increment() -> None:
        nonlocal count
        assert (count := count + 1)

    _both(increment)
    assert count == 2


def lost_update_by_with() -> None:
    counter = Counter()

    def increment() -> None:
        with nullcontext(1) as step, nullcontext(counter.count + step) as counter.count:
            pass

    _both(increment)
    assert counter.count == 2


def check_then_act() -> None:
    cache: dict[str, object] = {}
    made: list[int] = []
    lock = threading.Lock()

    def get() -> None:
        if "key" not in cache:
            with lock:
                made.append(1)
            cache["key"] = object()

    _both(get)
    assert len(made) == 1


class Ticket:
    """A lock-free counter, as it is written by those who trust in `+=`."""

    def __init__(self) -> None:
        self.next = 0

    def take(self) -> int:
        mine = self.next
        self.next = mine + 1
        return mine


def lock_free_counter() -> None:
    ticket = Ticket()
    taken: Queue[int] = Queue()
    _both(lambda: taken.put(ticket.take()))
    assert {taken.get(), taken.get()} == {0, 1}


class Settings:
    def __init__(self) -> None:
        self.url = ""

    def load(self) -> "Settings":
        self.url = "somewhere"
        return self


class Holder:
    instance: Settings | None = None

    @classmethod
    def get(cls) -> Settings:
        if cls.instance is None:
            cls.instance = Settings()
            cls.instance.load()
        return cls.instance


def unsafe_publication() -> None:
    Holder.instance = None

    def use() -> None:
        assert Holder.get().url

    _both(use)


def iteration() -> None:
    names = {"a": 1, "b": 2}

    def add() -> None:
        names["c"] = 3

    def go_through() -> None:
        for name in names:
            assert names[name]

    _together(add, go_through)


def equal_keys() -> None:
    numbers: dict[int, int] = {1: 0}

    def look() -> None:
        first = numbers[1]
        assert first == numbers[1]

    def add() -> None:
        numbers[True] = 1

    _together(add, look)


def a_list_that_is_sorted(note: Callable[[tuple[int, int]], None]) -> Callable[[], None]:
    """Python empties a list while it sorts it: whoever looks meanwhile sees none of its items."""

    def sorts() -> None:
        counter, numbers = Counter(), [2, 1]

        def key(number: int) -> int:
            counter.count += 1
            return number

        def look() -> None:
            count = counter.count
            note((count, len(numbers)))

        _together(look, lambda: numbers.sort(key=key))

    return sorts


class Guarded(dict[str, int]):
    """Who goes through it has to hold its lock, which the model checker does not."""

    def __init__(self, lock: threading.Lock) -> None:
        super().__init__(a=1)
        self.lock = lock

    def values(self) -> Never:
        raise NotImplementedError

    def items(self) -> Never:
        raise NotImplementedError

    def __iter__(self) -> Never:
        raise NotImplementedError

    def add(self) -> None:
        with self.lock:
            super().__setitem__("a", super().__getitem__("a") + 1)


guarded = Guarded(threading.Lock())


def right_container_whose_methods_raise() -> None:
    _both(guarded.add)
    assert guarded["a"] == 3


class Shown(Counter):
    def __repr__(self) -> str:
        return str(self.count)


def lists_that_two_threads_show() -> None:
    """CPython keeps for each thread what it shows; one that shows a list of itself shows "..."."""
    shown, texts = Shown(), list[str]()
    items = [shown]

    def show() -> None:
        texts.append(repr(items))

    def write() -> None:
        shown.count = 1

    _together(show, show, write)
    assert {*texts} <= {"[0]", "[1]"}


def right_with_a_lock() -> None:
    counter, lock = Counter(), threading.Lock()

    def increment() -> None:
        with lock:
            counter.increment()

    _both(increment)
    assert counter.count == 2


def right_by_handing_over() -> None:
    queue: Queue[Counter] = Queue()

    def take() -> None:
        counter = queue.get()
        counter.increment()
        assert counter.count == 2

    def give() -> None:
        counter = Counter()
        counter.increment()
        queue.put(counter)

    _together(take, give)


def right_by_an_event() -> None:
    counter, done = Counter(), threading.Event()

    def work() -> None:
        counter.increment()
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.wait():
        pass
    assert counter.count == 1
    assert thread.name


def right_by_a_pattern() -> None:
    """What a pattern has no need to read is not read."""
    counter, done = Counter(), threading.Event()

    def give() -> None:
        counter.count = 1
        done.set()

    def take() -> None:
        match _message(done.is_set(), counter):
            case (True, Counter(count=count)):
                assert count == 1
            case (_, Counter() | Counter(count=2)):
                pass
            case _:
                raise AssertionError

    _together(give, take)


def right_with_different_keys() -> None:
    counts: dict[str, int] = {}
    lock = threading.Lock()

    def count(name: str) -> None:
        with lock:
            pass
        counts[name] = 1
        counts[name] += 1

    threads = [threading.Thread(target=count, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == {"a": 2, "b": 2}


def right_with_names_of_builtins() -> None:
    counts, lock = [0, 0], threading.Lock()

    def add(slice: int, globals: int) -> None:  # noqa: A002
        global total
        with lock:
            total = counts[:slice][0] + globals
            counts[0] = total

    _both(lambda: add(1, 1))
    assert counts[:1] == [2]


def nothing_shared() -> None:
    def work() -> None:
        counter = Counter()
        counter.increment()
        assert [counter.count, *range(2)] == [1, 0, 1]

    _both(work)


NUMBERS: tuple[Callable[[], int], ...] = (lambda: 1, lambda: 2, lambda: 3)
"""Three functions of one name on one line: none may get the code of another one."""


def evaluation_as_ever() -> None:
    """All that is rewritten does what it did: said of one thread, in the values that it gives."""
    seen: list[object] = []

    class Odd:
        __private = 1
        shared = 0

        def __init__(self) -> None:
            self.items = [1, 2, 3]
            self.__hidden = 5

        @property
        def half(self) -> float:
            return self.__hidden / 2

        def use(self) -> None:
            self.items[0], (self.items[-1], other) = 7, (8, 9)
            self.items[1:2] += [4, 5]
            seen.extend((list(self.items), other, self.half, self.__private, Odd.shared))
            del self.items[0]
            for self.items[0] in range(3):
                pass
            first, *self.rest = self.items
            seen.extend((first, self.rest, 4 in self.items, 40 not in self.items))
            seen.append([item for item in self.items if item and self.items != []])
            numbers = {"a": 1, "b": 2}
            numbers["a"] |= 2
            numbers.update(a=numbers["a"], name=4, self=5, container=6)
            del numbers["name"], numbers["self"], numbers["container"]
            value = numbers.setdefault("c", 3) or numbers.pop("c")
            seen.extend((sorted(numbers.items()), value, len(numbers), f"{self.items[0]:>2}"))
            text: str = "x" if numbers else "y"
            with threading.Lock() as self.got:
                text += "z"
            seen.extend((text, self.got, super().__class__ is type(self)))
            seen.extend(number() for number in NUMBERS)
            try:
                del self.got
                seen.append(self.got)
            except AttributeError as error:
                seen.append(type(error).__name__)

    class Proxy:
        def __init__(self) -> None:
            self.real = Odd()

        def __getattribute__(self, name: str) -> object:
            return getattr(object.__getattribute__(self, "real"), name)

    def work() -> None:
        Odd().use()
        seen.append(isinstance(Proxy(), Odd) and Proxy().half)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    expected = [[7, 2, 4, 5, 8], 9, 2.5, 1, 0, 2, [4, 5, 8], True, True, [2, 4, 5, 8]]
    expected += [[("a", 3), ("b", 2), ("c", 3)], 3, 3, " 2", "xz", True, False]
    expected += [1, 2, 3, "AttributeError", 2.5]
    assert seen == expected, seen
