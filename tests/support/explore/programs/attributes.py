"""Programs about attributes, and about functions of C that other code calls.

They are run as a module of the user's own, behind `two` and `two_looks`. Python's type checkers
would not have what they do.
"""

PROGRAMS = """
@typing.runtime_checkable
class Closes(typing.Protocol):
    def close(self): ...
def wrong_method_of_an_object():
    class Thing:
        def f(self): return 1
    thing = Thing()
    two_looks(lambda: setattr(thing, "f", lambda: 2), lambda: thing.f())
def wrong_new_method_of_a_class():
    class Thing: pass
    two_looks(lambda: setattr(Thing, "f", print), lambda: hasattr(Thing, "f"))
def wrong_method_in_a_dict():
    class Thing:
        def f(self): return 1
    thing = Thing()
    def work(): vars(thing)["f"] = lambda: 2
    two_looks(work, lambda: thing.f())
def wrong_property_of_a_class():
    class Thing: n = property(lambda self: 1)
    thing = Thing()
    two_looks(lambda: setattr(Thing, "n", property(lambda self: 2)), lambda: thing.n)
def wrong_method_of_a_superclass():
    class Base:
        def f(self): return 1
    class Thing(Base):
        def f(self): return super().f()
    thing = Thing()
    two_looks(lambda: setattr(Base, "f", lambda self: 2), lambda: thing.f())
def wrong_attribute_of_a_method():
    class Thing:
        def f(self): pass
    two_looks(lambda: setattr(Thing.f, "n", 1), lambda: hasattr(Thing().f, "n"))
def wrong_attribute_that_a_class_inherits():
    class Base: n = 1
    class Thing(Base): pass
    got = []
    two(lambda: setattr(Thing, "n", 2), lambda: got.append(Thing().n))
    assert got == [2]
def wrong_counter_that_a_class_inherits():
    class Base: n = 0
    class Thing(Base): pass
    def work(): Thing.n = Thing.n + 1
    two(work, work)
    assert Thing.n == 2
def wrong_new_attribute_of_a_class():
    class Thing: pass
    thing, got = Thing(), []
    two(lambda: got.append(hasattr(thing, "n")), lambda: setattr(Thing, "n", 1))
    assert got == [False]
def wrong_property_before_an_attribute():
    class Thing:
        def __init__(self): self.n = 1
    thing, got = Thing(), []
    two(lambda: got.append(thing.n), lambda: setattr(Thing, "n", property(lambda self: 2)))
    assert got == [1]
def wrong_attribute_that_a_class_loses():
    class Thing: n = 1
    thing, got = Thing(), []
    def work(): del Thing.n
    two(work, lambda: got.append(hasattr(thing, "n")))
    assert got == [False]
def unknown_special_method():
    class Thing:
        def __len__(self): return 1
    two_looks(lambda: setattr(Thing, "__len__", lambda self: 2), lambda: len(Thing()))
def right_counter_that_a_class_inherits():
    class Base: n = 0
    class Thing(Base): pass
    lock = threading.Lock()
    def work():
        with lock: Thing.n = Thing.n + 1
    two(work, work)
    assert (Thing.n, Base.n) == (2, 0)
def right_method_of_an_object():
    class Thing:
        def __init__(self): self.f = self.g
        def f(self): return 1
        def g(self): return 2
    lock, seen = threading.Lock(), Seen()
    def work():
        thing = Thing()
        with lock: seen.n += thing.f()
    two(work, work)
    assert seen.n == 4
def wrong_protocol():
    thing = type("Thing", (), {})()
    two_looks(lambda: setattr(thing, "close", print), lambda: isinstance(thing, Closes))
def wrong_one_of_two_protocols():
    thing = type("Thing", (), {})()
    two_looks(lambda: setattr(thing, "close", print), lambda: isinstance(thing, int | Closes))
def wrong_protocol_in_a_case():
    thing = type("Thing", (), {})()
    def look():
        match thing:
            case Closes(): return True
        return False
    two_looks(lambda: setattr(thing, "close", print), look)
def wrong_protocol_of_a_class():
    class Thing: pass
    # What `issubclass` has said of a class stays so.
    two(lambda: setattr(Thing, "close", print), lambda: issubclass(Thing, Closes))
    assert issubclass(Thing, Closes)
def wrong_names():
    thing = type("Thing", (), {})()
    two_looks(lambda: setattr(thing, "n", 1), lambda: "n" in dir(thing))
def wrong_names_of_a_class():
    class Thing: pass
    two_looks(lambda: setattr(Thing, "n", 1), lambda: "n" in dir(Thing))
def wrong_names_by_a_class():
    class Thing: pass
    thing = Thing()
    two_looks(lambda: setattr(Thing, "n", 1), lambda: "n" in dir(thing))
def unknown_names_of_a_module():
    two_looks(lambda: setattr(calendar, "made_up", 1), lambda: "made_up" in dir(calendar))
def right_protocol():
    class Thing:
        def close(self): pass
    things, lock = [], threading.Lock()
    def work():
        with lock:
            thing = Thing()
            assert isinstance(thing, Closes) and isinstance(things, list) and dir(thing)
            things.append(thing)
    two(work, work)
    assert len(things) == 2
def wrong_copy():
    thing, got = Seen(), []
    two(lambda: got.append(len(vars(copy.copy(thing)))), lambda: setattr(thing, "m", 1))
    assert got == [0]
def wrong_copy_of_what_is_deleted():
    thing, got = Seen(), []
    thing.m = 1
    two(lambda: delattr(thing, "m"), lambda: got.append(len(vars(copy.copy(thing)))))
    assert got == [0]
def wrong_copy_of_what_its_slot_deletes():
    thing, got = Seen(), []
    thing.m = 1
    delete = lambda: object.__delattr__(thing, "m")
    two(delete, lambda: got.append(len(vars(copy.copy(thing)))))
    assert got == [0]
def wrong_getter():
    thing = Seen()
    def look():
        try: return operator.attrgetter("m")(thing)
        except AttributeError: return None
    two_looks(lambda: setattr(thing, "m", 1), look)
def wrong_getter_in_a_map():
    thing, get = Seen(), operator.attrgetter("n")
    two_looks(lambda: setattr(thing, "n", 1), lambda: sum(map(get, [thing])))
def wrong_getter_in_a_loop():
    thing, get = Seen(), operator.attrgetter("n")
    two_looks(lambda: setattr(thing, "n", 1), lambda: [n for n in map(get, [thing])])
def wrong_setter_in_a_map():
    thing = Seen()
    two_looks(lambda: [*map(functools.partial(setattr, thing, "n"), [1])], lambda: thing.n)
def right_module_of_a_class_that_is_made():
    lock, seen = threading.Lock(), Seen()
    def work():
        made = type("Made", (), {}), collections.namedtuple("Made", "n"), enum.Enum("Made", "n")
        assert [one.__module__ for one in made] == [__name__] * 3
        with lock: seen.n += 1
    two(work, work)
def wrong_attribute_of_a_class_that_is_made():
    made = type("Made", (), {"n": 0})
    def work(): made.n = made.n + 1
    two(work, work)
    assert made.n == 2
def unknown_evaluation_in_a_map():
    two_looks(lambda: Seen().n, lambda: [*map(eval, ["1"])])
def called_by(call, done):
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(call)
        assert not done()
def wrong_append_by_a_pool():
    numbers = []
    called_by(functools.partial(list.append, numbers, 1), lambda: numbers)
def wrong_push_by_a_pool():
    numbers = []
    called_by(functools.partial(heapq.heappush, numbers, 1), lambda: numbers)
def wrong_setter_by_a_pool():
    thing = Seen()
    called_by(functools.partial(setattr, thing, "n", 1), lambda: thing.n)
def wrong_key_by_a_pool():
    numbers = [1]
    called_by(functools.partial(max, [numbers], key=list.pop), lambda: not numbers)
def wrong_getter_by_a_pool():
    thing = Seen()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(functools.partial(getattr, thing, "n"))
        thing.n = 1
        assert future.result() == 0
def wrong_push_by_a_thread():
    numbers, got = [], []
    threads = [threading.Thread(target=heapq.heappush, args=(numbers, 1)),
               threading.Thread(target=lambda: got.append(len(numbers)))]
    for one in threads: one.start()
    for one in threads: one.join()
    assert got == [1]
def wrong_append_by_a_timer():
    numbers = []
    threading.Timer(0, list.append, (numbers, 1)).start()
    assert numbers == []
def wrong_append_by_a_stack():
    numbers = []
    def work():
        with contextlib.ExitStack() as stack: stack.callback(list.append, numbers, 1)
    two_looks(work, lambda: len(numbers))
def wrong_append_by_a_future():
    numbers, future = [], Future()
    future.add_done_callback(functools.partial(list.append, numbers))
    two_looks(lambda: future.set_result(1), lambda: len(numbers))
def wrong_append_by_a_finaliser():
    numbers, thing = [], Seen()
    finalise = weakref.finalize(thing, list.append, numbers, 1)
    two_looks(finalise, lambda: len(numbers))
def unknown_place_of_a_generator():
    numbers = iter(n for n in (1, 2))
    two_looks(lambda: next(numbers), lambda: numbers.gi_frame.f_lasti)
"""
