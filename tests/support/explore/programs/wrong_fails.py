"""Right programs that once failed or passed for no reason, and programs that got no verdict.

They belong to the module of `wrong_passes`, whose names they use.
"""

from collections.abc import Mapping, Sequence

PROGRAMS = """
# The loop that runs was taken for that of a thread of the pool.
def executor_of_a_loop():
    async def main():
        loop = asyncio.get_running_loop()
        box, lock = Box(), threading.Lock()
        def work():
            with lock:
                box.n += 1
        await asyncio.gather(
            loop.run_in_executor(None, work), loop.run_in_executor(None, work)
        )
        assert box.n == 2
    asyncio.run(main())

def two_to_thread():
    async def main():
        got = await asyncio.gather(asyncio.to_thread(plain), asyncio.to_thread(one_more))
        assert got == [0, 1]
    asyncio.run(main())

def tasks_of_one_loop():
    async def main():
        box = Box()
        async def work():
            box.n += 1
        await asyncio.gather(work(), work())
        assert box.n == 2
    asyncio.run(main())

PARTS = [1]

def parameters_with_names_of_builtins():
    lock, box = threading.Lock(), Box()
    def add(slice, globals):
        with lock:
            box.n += sum(PARTS[slice:globals])
    two(functools.partial(add, 0, 1), lambda: add(globals=1, slice=0))
    assert box.n == 2

USER = contextvars.ContextVar("USER", default="nobody")

def context_of_each_thread() -> Scenario:
    lock = threading.Lock()
    def work():
        with lock:
            assert USER.get() == "nobody"
            USER.set(threading.current_thread().name)
        with lock:
            assert USER.get() == threading.current_thread().name
    return Scenario(threads={"a": work, "b": work})

def hook_of_the_program():
    lock, failed, before = threading.Lock(), [], threading.excepthook
    def work():
        with lock:
            raise ValueError("handled by the hook")
    def hook(args):
        with lock:
            failed.append(str(args.exc_value))
    threading.excepthook = hook
    two(work, work)
    threading.excepthook = before
    assert failed == ["handled by the hook"] * 2

def lock_of_threading():
    lock, box = threading.Lock(), Box()
    def work():
        with lock:
            box.n += 1
    two(work, work)
    assert box.n == 2

# What the module has, and what a run leaves there, steers who takes the lock.
def steered_by(change, count):
    lock, box = threading.Lock(), Box()
    def work():
        change()
        if count() == 2:
            with lock:
                box.n += 1
        with lock:
            pass
    two(work, work)
    assert box.n == 1

BYTES, LIST, DICT = bytearray(), [], {}

def steered_by_bytes():
    steered_by(lambda: BYTES.append(1), lambda: len(BYTES))

def steered_by_a_list():
    steered_by(lambda: LIST.append(1), lambda: len(LIST))

class Key:
    def __init__(self, n):
        self.n = n
    def __hash__(self):
        return 1
    def __eq__(self, other):
        return self.n == other.n

def steered_by_keys():
    names = itertools.count()
    steered_by(lambda: DICT.setdefault(Key(next(names)), 1), lambda: len(DICT))

def steered_by_what_is_not_seen() -> Scenario:
    said, first, second = [], threading.Lock(), threading.Lock()
    def use():
        with first if said else second:
            pass
    def use_often():
        for _ in range(4):
            use()
    def use_second():
        for _ in range(2):
            with second:
                pass
    def say():
        use()
        with first:
            said.append(1)
    return Scenario(threads={"uses": use_often, "uses the second": use_second, "says": say})
"""

RIGHT: Mapping[str, Sequence[str]] = {
    "executor_of_a_loop": (),
    # In every order of turns it has 5,110 classes.
    "two_to_thread": ("--first-in-first-out",),
    "tasks_of_one_loop": (),
    "parameters_with_names_of_builtins": (),
    "context_of_each_thread": (),
    "hook_of_the_program": (),
    "lock_of_threading": (),
}
"""Those that pass, in both modes, each with its options."""

STEERED = ("steered_by_bytes", "steered_by_a_list", "steered_by_keys")
"""Those that once ended in an internal error; they fail."""

STEERED_UNSEEN = "steered_by_what_is_not_seen"
"""The one whose code is not looked at: `--instrument none`."""
