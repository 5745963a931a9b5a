"""Programs about keys of dictionaries, generators, decorators and memory of C.

They are run as a module of the user's own, behind the programs of `insides`.
"""

PROGRAMS = """
import array, ctypes, dataclasses
def wrong_length_beside_a_new_key():
    numbers, got = {}, []
    def write(): numbers["b"] = 1
    two(lambda: got.append(len(numbers)), write)
    assert got == [0]
def wrong_key_beside_an_update():
    numbers, got = {}, []
    two(lambda: got.append("b" in numbers), lambda: numbers.update(b=1))
    assert got == [False]
def wrong_get_beside_an_operator():
    numbers, got = {}, []
    two(lambda: got.append(numbers.get("b")), lambda: operator.setitem(numbers, "b", 1))
    assert got == [None]
def wrong_keys_beside_a_late_thread():
    numbers, got, lock = {}, [], threading.Lock()
    def late():
        with lock: pass
        thread = threading.Thread(target=numbers.setdefault, args=("b", 1))
        thread.start()
        thread.join()
    two(lambda: got.append([*numbers]), late)
    assert got == [[]]
def right_two_new_keys():
    numbers, lock, seen = {}, threading.Lock(), []
    def work(name):
        numbers[name] = 1
        with lock: seen.append(name)
    two(lambda: work("a"), lambda: work("b"))
    assert sorted(numbers) == sorted(seen)
def wrong_item_that_is_made():
    numbers, got = defaultdict(int), []
    two(lambda: got.append(len(numbers)), lambda: numbers["b"])
    assert got == [0]
def wrong_item_that_an_operator_makes():
    numbers = defaultdict(int)
    two_looks(lambda: operator.getitem(numbers, "b"), lambda: len(numbers))
def wrong_item_that_a_method_makes():
    numbers = defaultdict(int)
    two_looks(lambda: numbers.__getitem__("b"), lambda: len(numbers))
def wrong_item_that_a_map_makes():
    numbers = defaultdict(int)
    two_looks(lambda: [*map(numbers.__getitem__, "b")], lambda: len(numbers))
def wrong_item_that_a_getter_makes():
    numbers = defaultdict(int)
    two_looks(lambda: operator.itemgetter("b")(numbers), lambda: len(numbers))
def wrong_item_that_a_format_makes():
    numbers = defaultdict(int)
    two_looks(lambda: "{b}".format_map(numbers), lambda: len(numbers))
def wrong_item_that_a_percent_makes():
    numbers = defaultdict(int)
    two_looks(lambda: "%(b)s" % numbers, lambda: len(numbers))
def wrong_item_that_a_chain_of_mappings_makes():
    numbers = defaultdict(int)
    two_looks(lambda: collections.ChainMap(numbers)["b"], lambda: len(numbers))
def right_readers_of_a_defaultdict():
    numbers, lock, got = defaultdict(int, a=1), threading.Lock(), []
    def work():
        seen = dict(numbers), sorted(numbers), str(numbers), len(numbers), numbers.get("z")
        with lock: got.append(seen)
    two(work, work)
    assert got[0] == got[1]
def wrong_loop_through_a_list_of_python():
    numbers = UserList([1])
    two_looks(lambda: numbers.append(2), lambda: [one for one in numbers])
def wrong_merge_in_a_loop():
    numbers, got = [1, 2], []
    def look():
        for one in heapq.merge(numbers, [0]): got.append(one)
    two(look, lambda: numbers.append(3))
    assert got == [0, 1, 2]
def wrong_decorator():
    numbers = []
    def write():
        @numbers.append
        def made(): pass
    two_looks(write, lambda: len(numbers))
def wrong_decorator_of_a_class():
    numbers = []
    def write():
        @numbers.append
        class Made: pass
    two_looks(write, lambda: len(numbers))
def unknown_registration_by_a_decorator():
    @functools.singledispatch
    def made(value): return 0
    def write():
        @made.register
        def of_int(value: int): return 1
    two_looks(write, lambda: made(1))
def right_decorators():
    got, lock = [], threading.Lock()
    def work():
        @functools.wraps(two)
        def one(): pass
        @contextlib.contextmanager
        def managed(): yield 1
        @dataclasses.dataclass(slots=True, frozen=True)
        class Point:
            x: int = 0
            @property
            def y(self): return self.x
        @functools.total_ordering
        class Ordered:
            def __lt__(self, other): return True
        @functools.lru_cache
        def kept(x): return x
        with managed() as value: seen = one.__name__, value, Point(1).y, Ordered() <= 1, kept(2)
        with lock: got.append(seen)
    two(work, work)
    assert got == [("two", 1, 1, True, 2)] * 2
class Memory(ctypes.Structure): _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int)]
def wrong_field_of_a_structure():
    memory, got = Memory(), []
    def write(): memory.x = 1
    two(lambda: got.append(memory.x), write)
    assert got == [0]
def wrong_bytes_of_a_structure():
    memory, got = Memory(), []
    def write(): memory.x = 1
    two(lambda: got.append(bytes(memory)), write)
    assert got == [bytes(8)]
def unknown_field_behind_a_pointer():
    memory = Memory()
    pointer = ctypes.pointer(memory)
    def write(): pointer.contents.x = 1
    two_looks(write, lambda: memory.x)
class Slotted: __slots__ = ("n",)
def wrong_slot_by_its_descriptor():
    thing, got = Slotted(), []
    thing.n = 1
    two(lambda: got.append(thing.n), lambda: Slotted.n.__set__(thing, 2))
    assert got == [1]
def wrong_slot_that_its_descriptor_deletes():
    thing, got = Slotted(), []
    thing.n = 1
    two(lambda: got.append(hasattr(thing, "n")), lambda: Slotted.n.__delete__(thing))
    assert got == [True]
def wrong_slot_that_its_descriptor_reads():
    thing, got = Slotted(), []
    thing.n = 1
    def write(): thing.n = 2
    two(lambda: got.append(Slotted.n.__get__(thing)), write)
    assert got == [1]
def wrong_text_of_a_semaphore():
    places = threading.Semaphore()
    two_looks(places.acquire, lambda: str(places)[-8:])
def wrong_text_of_a_list_of_semaphores():
    places = threading.Semaphore()
    two_looks(places.acquire, lambda: f"{[places]}"[-9:])
def unknown_owner_of_a_condition():
    condition = threading.Condition()
    two_looks(condition.acquire, condition._is_owned)
def wrong_loop_through_a_chain_of_mappings():
    numbers = collections.ChainMap({})
    two_looks(lambda: numbers.maps[0].update(b=1), lambda: [one for one in numbers])
def wrong_copy_of_a_chain_of_mappings():
    numbers = collections.ChainMap({"a": 1})
    two_looks(lambda: numbers.maps[0].update(a=2), lambda: dict(numbers))
def wrong_truth_of_a_chain_of_mappings():
    numbers = collections.ChainMap({})
    two_looks(lambda: numbers.maps[0].update(b=1), lambda: not numbers)
def wrong_unpacking_of_a_chain_of_mappings():
    numbers = collections.ChainMap({"a": 1})
    def look():
        first, *others = numbers
        return others
    two_looks(lambda: numbers.maps[0].update(b=1), look)
def wrong_delegation_to_a_chain_of_mappings():
    numbers = collections.ChainMap({})
    def made(): yield from numbers
    two_looks(lambda: numbers.maps[0].update(b=1), lambda: [*made()])
def wrong_length_of_a_dictionary_of_python():
    numbers = collections.UserDict()
    two_looks(lambda: numbers.data.update(b=1), lambda: len(numbers))
def wrong_attributes_that_wraps_copies():
    def wrapped(): pass
    wrapped.n = 0
    def write(): wrapped.n = 1
    two_looks(write, lambda: functools.wraps(wrapped)(lambda: 1).n)
def unknown_defaults_that_change():
    def made(*, n=1): return n
    two_looks(lambda: made.__kwdefaults__.update(n=2), made)
def wrong_attribute_in_the_dict_of_an_error():
    error, got = ValueError(), []
    two(lambda: got.append(hasattr(error, "n")), lambda: vars(error).update(n=1))
    assert got == [False]
"""
