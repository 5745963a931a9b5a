"""Classes of a package that is not instrumented, and expressions that read or write an object.

The special methods of some write as well, as those of a cache that keeps what was used last. A
reader of such an object is a writer beside another one.
"""

from collections.abc import Mapping

from support.explore.programs.kind import Kind

PACKAGE = "kinds_package"
PACKAGE_TEXT = '''
class Value:
    """Its methods look, and say what it was set to."""
    def __init__(self, n=0): self.n = n
    def set(self, n): self.n = n
    def get(self): return self.n
    def __eq__(self, other): return self.n == getattr(other, "n", other)
    def __lt__(self, other): return self.n == 1
    def __gt__(self, other): return self.n == 1
    def __hash__(self): return 7
    def __bool__(self): return self.n == 1
    def __len__(self): return self.n
    def __contains__(self, item): return self.n == 1
    def __getitem__(self, key): return self.n
    def __iter__(self): return iter([self.n])
    def __reversed__(self): return iter([self.n])
    def __index__(self): return self.n
    def __int__(self): return self.n
    def __float__(self): return float(self.n)
    def __complex__(self): return complex(self.n)
    def __abs__(self): return self.n
    def __neg__(self): return self.n
    def __round__(self, digits=0): return self.n
    def __add__(self, other): return self.n
    def __radd__(self, other): return self.n
    def __matmul__(self, other): return self.n
    def __divmod__(self, other): return self.n
    def __repr__(self): return str(self.n)
    def __str__(self): return str(self.n)
    def __format__(self, spec): return str(self.n)
    def __bytes__(self): return bytes(str(self.n), "ascii")
    def __fspath__(self): return str(self.n)
    def __copy__(self): return Value(self.n)
    def __deepcopy__(self, memo): return Value(self.n)
    def __reduce__(self): return Value, (self.n,)
    def __dir__(self): return [str(self.n)]
    def __call__(self, *given): return self.n
    def __enter__(self): return self.n
    def __exit__(self, *error): pass
    def __instancecheck__(self, other): return self.n == 1
    def keys(self): return [str(self.n)]
    def __getattr__(self, name):
        if name != "dynamic": raise AttributeError(name)
        return self.n

class Used(Value):
    """Its methods say what it was, and set it to 1."""

def _using(method):
    def used(self, *given):
        said = method(self, *given)
        self.n = 1
        return said
    return used

for _name, _method in list(vars(Value).items()):
    if callable(_method) and _name not in ("__init__", "__getattr__", "set"):
        setattr(Used, _name, _using(_method))

class Bag(list):
    def set(self, n): self[0] = n
class Recent(dict):
    """A look at it adds an item."""
    def _used(self):
        n = dict.__len__(self)
        dict.__setitem__(self, n, 1)
        return n
    def get(self, key): return self._used()
    def copy(self): return self._used()
    def items(self): return [self._used()]
    def __getitem__(self, key): return self._used()
    def __contains__(self, key): return self._used() > 0
    def __iter__(self): return iter([self._used()])
    def __len__(self): return self._used()
    def __or__(self, other): return self._used()
    def __eq__(self, other): return self._used() > 0
class Steps:
    def __init__(self): self.n = 0
    def __iter__(self): return self
    def __next__(self):
        said, self.n = self.n, 1
        return said
class Walks:
    def __init__(self): self.n = 0
    def set(self, n): self.n = n
    def walk(self):
        said, self.n = self.n, 1
        yield said
        yield self.n
        self.n = 2
    def look(self):
        yield self.n
        yield self.n
    def __iter__(self): return self.walk()
class _Counted(type):
    n = 0
    def set(cls, n): cls.n = n
    def __contains__(cls, item): return cls.n == 1
    def __len__(cls): return cls.n
    def __iter__(cls): return iter([cls.n])
    def __getitem__(cls, key): return cls.n
    def __call__(cls): return cls.n
    def __getattr__(cls, name):
        if name != "dynamic": raise AttributeError(name)
        return cls.n
def counted(): return _Counted("Counted", (), {})
class Filler:
    """Its methods write what they are given."""
    def fill(self, given): given.append(1)
    def get(self, given): given.append(1)
    def __contains__(self, given): given.append(1)
    def __add__(self, given): given.append(1)
    def __eq__(self, given): given.append(1)
    def __getitem__(self, given): given.append(1)
    def __setitem__(self, key, given): given.append(1)
class FillerDict(dict):
    def fill(self, given): given.append(1)
    def get(self, given): given.append(1)
    def __or__(self, given): given.append(1)
    def __eq__(self, given): given.append(1)
    def __setitem__(self, key, given): given.append(1)
FILLER, FILLER_DICT = Filler(), FillerDict()
KEYS = {Value(1): 1, (Value(1), 1): 2}
'''
PRELUDE = """
import bisect, collections, copy, datetime, heapq, io, json, logging, operator, os, reprlib
def by_match(d):
    match d:
        case 1: return 1
        case _: return 2
def by_with(d):
    with d as n: return n
def by_for(d):
    for one in d: return one
def by_star(d):
    first, *_ = d
    return first
def by_in_place(d):
    total = 0
    total += d
    return total
def by_and(d): return 1 if d and True else 0
def put(o, k, v): o[k] = v
def by_priority(d):
    waiting = queue.PriorityQueue()
    for one in (Value(9), d): waiting.put((1, one))
    return waiting.get()[1].n
def logged(d):
    logger, shown = logging.Logger("own"), io.StringIO()
    logger.addHandler(logging.StreamHandler(shown))
    logger.warning("%s", d)
    return shown.getvalue()
def dealt(d):
    cards = collections.deque([1, 2])
    cards.rotate(d)
    return cards
"""
_READERS = """
d in [5]; 5 in [d]; d in {Value(1): 1}; {Value(1): 1}.get(d); str({Value(1): 1, d: 2});
str({Value(1), d}); (d, 1) in {(Value(1), 1)}; max([d, Value(1)]).n; sorted([Value(9), d])[0].n;
heapq.nsmallest(1, [Value(9), d])[0].n; bisect.bisect([d], 5); [d].count(5); [5, d].index(d);
(d,) == (5,); [d] == [5]; [d] < [5]; repr([d]); f"{[d]}"; f"{d!r:>3}"; "%s" % d; "%s" % (d,);
"{}".format(d); "{0[0]}".format(d); "abc"[d:]; [10, 11][d]; [1] * d; len(range(d)); abs(d);
list(map(abs, [d])); any([d]); all([d]); sum([d]); list(zip(d)); list(enumerate(d));
next(reversed(d)); copy.copy(d).n; copy.deepcopy([d])[0].n; bytes(d); float(d); complex(d); int(d);
round(d); divmod(d, 2); d.dynamic; getattr(d, "dynamic"); dir(d); d(); by_match(d); by_with(d);
by_for(d); by_star(d); by_in_place(d); by_and(d); d != 5; not d; 1 if d else 2; [*d]; {**d}; d @ 1;
(lambda *a: a)(*d); (lambda **a: a)(**d); functools.partial(abs, d)(); collections.deque(d);
d in collections.deque([5]); collections.Counter(d); json.dumps([1, 2][:d]); os.fspath(d);
os.path.join("a", d); operator.index(d); operator.contains(d, 5); operator.itemgetter(0)(d);
isinstance(3, d); [d, 5].remove(5); str(d); slice(d).indices(9); chr(d); hex(d); pow(2, d); 5 in d;
d[0]; len(d); {}.update(d); KEYS.get(d); (d, 1) in KEYS; KEYS[d, 1]; d in KEYS.keys();
(d, 1) in {Value(1): 1}.items(); len({n for n in [Value(1), d]}); len(dict.fromkeys([Value(1), d]));
[0].insert(d, 1); [0, 1].pop(d); datetime.date(2000, 1, d); os.path.basename(d);
by_priority(d); logged(d); reprlib.repr([d]); d in collections.UserList([1]); dealt(d);
memoryview(b"abc")[d:].tobytes(); dict(d);
operator.iadd([], d); set().union(d); str(frozenset([d]));
bool(d); d.get(); -d; d + 1; 1 + d; d < 5; d == 5; list(d); set([d, Value(1)]) == 1
"""
_OF_ITERATORS = """
by_for(d); next(iter(d)); list(itertools.islice(d, 1)); list(zip([1], d)); next(map(abs, d));
1 in itertools.islice(d, 1)
"""
_FILLERS = """
FILLER.fill(d); FILLER.get(d); FILLER + d; FILLER == d; FILLER[d]; d in FILLER; put(FILLER, 1, d);
FILLER_DICT.fill(d); FILLER_DICT.get(d); FILLER_DICT | d; FILLER_DICT == d; put(FILLER_DICT, 1, d);
FILLER.__setitem__(1, d); FILLER_DICT.__setitem__(1, d)
"""
KINDS: Mapping[str, Kind] = {
    "Value": Kind("Value()", _READERS, "d.set(1)"),
    "Used": Kind("Used()", _READERS, "d == 5; len(d); repr(d); d[0]; d.get()"),
    "Bag": Kind(
        "Bag([0])",
        """
        list(d); d[0]; d.count(1); d == [1]; sorted(d); sum(d); 1 in d; repr(d); tuple(d);
        list(zip(d)); d.copy(); d * 1; d + []; operator.iadd([], d); [*d]; by_star(d);
        json.dumps(d); copy.deepcopy(d)
        """,
        "d.set(1)",
    ),
    "Recent": Kind(
        "Recent()",
        """
        d[0]; 0 in d; d.get(1); [x for x in d]; list(d); list(d.items()); len(d); d.copy(); d | {};
        d == {}; {**d}; sorted(d); bool(d); str({}.update(d))
        """,
        "len(d); d.get(1); d[0]",
    ),
    "Steps": Kind("Steps()", _OF_ITERATORS, _OF_ITERATORS),
    "Walks": Kind(
        "Walks()",
        f"{_OF_ITERATORS}; list(d.walk()); list(d.look()); next(d.look()); sum(d.walk())",
        "d.set(1); list(d); by_for(d); next(d.walk())",
    ),
    "class of a metaclass": Kind(
        "counted()", "1 in d; len(d); list(d); d[0]; d(); d.dynamic", "d.set(1)"
    ),
    "what a package fills": Kind("[]", "len(d); list(d); d == []", _FILLERS),
}
