"""Objects, functions, streams and primitives, and expressions that read or write one, as `d`.

The expressions are separated by semicolons. Each writer has an effect that some reader tells.
"""

from collections.abc import Mapping

from support.explore.programs.kind import Kind

PRELUDE = """
import concurrent.futures, contextvars, csv, decimal, hashlib, os, queue, struct, weakref, zlib
from types import SimpleNamespace
class Kept:
    total = 0
    items = []
    def f(self): return 1
    @property
    def p(self): return self._p
    @p.setter
    def p(self, v): self._p = v
    def __init__(self): self._p = 1
class Sub(Kept): pass
def make_class():
    class Made(Kept):
        total = 0
        items = []
    return Made
def make_function():
    n = 1
    def counter(a=1, *, k=2): return a, k, n
    counter.hits = 0
    return counter
@dataclasses.dataclass
class Node:
    value: int = 0
    children: list = dataclasses.field(default_factory=list)
    @property
    def size(self): return len(self.children)
    def __len__(self): return len(self.children)
    def __iter__(self): return iter(self.children)
    def __contains__(self, x): return x in self.children
    def __eq__(self, o): return self.value == o.value
    def __hash__(self): return 1
    def __lt__(self, o): return self.value < o.value
    def __bool__(self): return bool(self.children)
    def __getitem__(self, i): return self.children[i]
    def __call__(self): return self.value
    def __enter__(self): return self
    def __exit__(self, *e): return None
    def __add__(self, o): return self.value + o
    def __format__(self, s): return str(self.value)
    def __index__(self): return self.value
    def __reversed__(self): return reversed(self.children)
class Lazy:
    def __init__(self): self.made = 0
    @functools.cached_property
    def value(self):
        self.made += 1
        return self.made
    @functools.lru_cache
    def kept(self): return self.made
class Fallback:
    def __init__(self): self.held = {}
    def __getattr__(self, name):
        try: return self.__dict__["held"][name]
        except KeyError: raise AttributeError(name)
class Tracks:
    def __init__(self): object.__setattr__(self, "log", [])
    def __setattr__(self, n, v): self.log.append(n); object.__setattr__(self, n, v)
    def __delattr__(self, n): self.log.append(n); object.__delattr__(self, n)
def set_key(d, k, v): d[k] = v
def del_key(d, k): del d[k]
def set_attr(d, n, v): setattr(d, n, v)
def nested_list(): return [[1], [2]]
KEPT = Kept()
"""
KINDS: Mapping[str, Kind] = {
    "Lock": Kind(
        "threading.Lock()",
        """
        d.locked(); d.acquire(blocking=False); d.acquire(False); str(d)[1:9];
        d.acquire(timeout=0)
        """,
        """
        d.acquire(); d.__enter__()
        """,
    ),
    "RLock": Kind(
        "threading.RLock()",
        """
        d.acquire(blocking=False); str(d)[1:9]
        """,
        """
        d.acquire(); d.__enter__()
        """,
    ),
    "Event": Kind(
        "threading.Event()",
        """
        d.is_set(); d.wait(0); str(d)[-8:]
        """,
        """
        d.set()
        """,
    ),
    "Semaphore": Kind(
        "threading.Semaphore(1)",
        """
        d._value; d.acquire(blocking=False); d.acquire(timeout=0); str(d)[-8:]
        """,
        """
        d.acquire(); d.release(); d.release(2); d.__enter__()
        """,
    ),
    "Condition": Kind(
        "threading.Condition()",
        """
        d.acquire(blocking=False); d._is_owned(); len(d._waiters)
        """,
        """
        d.acquire()
        """,
    ),
    "Queue": Kind(
        "queue.Queue(2)",
        """
        d.qsize(); d.empty(); d.full(); d.get_nowait(); d.get(block=False); len(d.queue);
        list(d.queue); d.unfinished_tasks; d.queue[0]; bool(d.queue)
        """,
        """
        d.put(1); d.put_nowait(1); d.queue.append(1); [d.put(1) for _ in 'ab']; d._put(1)
        """,
    ),
    "SimpleQueue": Kind(
        "queue.SimpleQueue()",
        """
        d.qsize(); d.empty(); d.get_nowait(); d.get(block=False); d.get(timeout=0)
        """,
        """
        d.put(1); d.put_nowait(1)
        """,
    ),
    "PriorityQueue": Kind(
        "queue.PriorityQueue()",
        """
        d.qsize(); d.empty(); d.get_nowait(); d.queue[0]; len(d.queue)
        """,
        """
        d.put(1); d.put_nowait(0)
        """,
    ),
    "Future": Kind(
        "concurrent.futures.Future()",
        """
        d.done(); d.cancelled(); d.running(); d.result(timeout=0); d.exception(timeout=0);
        d.cancel(); str(d)[-9:]; d._state
        """,
        """
        d.set_result(1); d.set_exception(KeyError()); d.cancel();
        d.set_running_or_notify_cancel()
        """,
    ),
    "StringIO": Kind(
        "io.StringIO('ab')",
        """
        d.getvalue(); d.read(); d.readline(); d.tell(); list(d); d.closed; d.read(1); next(d);
        d.readlines()
        """,
        """
        d.write('z'); d.read(1); d.seek(1); d.truncate(0); d.close(); d.writelines(['zz']);
        print('q', file=d); csv.writer(d).writerow([9]); d.readline(); next(d)
        """,
    ),
    "BytesIO": Kind(
        "io.BytesIO(b'ab')",
        """
        d.getvalue(); d.read(); d.tell(); d.getbuffer()[0]; bytes(d.getbuffer()); d.closed;
        d.read1(1); d.readinto(bytearray(1)); list(d)
        """,
        """
        d.write(b'z'); d.read(1); d.seek(1); d.truncate(0); d.close();
        d.getbuffer().__setitem__(0, 9); set_key(d.getbuffer(), 0, 9)
        """,
    ),
    "class": Kind(
        "make_class()",
        """
        d.total; d().total; d.items; len(d.items); d().f(); hasattr(d, 'q');
        getattr(d, 'q', 0); vars(d).get('q'); 'q' in vars(d); 'q' in dir(d); d().p;
        d.__dict__.get('total'); d.f(None); sorted(k for k in vars(d) if k[0] != '_');
        issubclass(d, Kept); d.__bases__ == (Kept,); d.__name__; str(d)[-6:];
        operator.attrgetter('total')(d); type(d()).total
        """,
        """
        setattr(d, 'total', 5); set_attr(d, 'q', 1); d.items.append(3);
        setattr(d, 'f', lambda self: 9); setattr(d, 'p', 7); delattr(d, 'total');
        type.__setattr__(d, 'total', 8); setattr(d, '__name__', 'Zz'); d.items.extend([1]);
        Kept.__setattr__(d(), 'total', 3) or set_attr(d, 'total', 3);
        type.__delattr__(d, 'total')
        """,
    ),
    "superclass": Kind(
        "Sub()",
        """
        d.f(); d.total; Sub.total; hasattr(d, 'zq'); getattr(Sub, 'zq', 0); super(Sub, d).f();
        type(d).f(d); Sub().f()
        """,
        """
        setattr(Kept, 'f', lambda self: 5); setattr(Kept, 'total', 6); setattr(Kept, 'zq', 1);
        setattr(Sub, 'f', lambda self: 5); setattr(Sub, 'total', 6)
        """,
    ),
    "function": Kind(
        "make_function()",
        """
        d(); d.hits; d.__defaults__; d.__kwdefaults__; vars(d); d.__name__; hasattr(d, 'zq');
        d.__doc__; d.__dict__.get('hits'); str(d)[10:18]; copy.copy(d).hits;
        functools.wraps(d)(lambda: 1).hits; d.__closure__[0].cell_contents
        """,
        """
        setattr(d, 'hits', 1); setattr(d, '__defaults__', (5,));
        setattr(d, '__kwdefaults__', {'k': 9}); vars(d).update(hits=3); setattr(d, 'zq', 1);
        setattr(d, '__name__', 'zz'); setattr(d, '__doc__', 'zz');
        d.__kwdefaults__.update(k=8); setattr(d.__closure__[0], 'cell_contents', 5);
        delattr(d, 'hits')
        """,
    ),
    "node": Kind(
        "Node(1, [3])",
        """
        d.size; len(d); list(d); 3 in d; 5 in d; d == Node(1); d < Node(2); bool(d); d[0]; d();
        d + 1; f'{d}'; [x for x in d]; operator.index(d); [0, 1, 2][d]; list(reversed(d));
        sum(d); max(d); (lambda *a: len(a))(*d); d.value; copy.deepcopy(d).children;
        copy.copy(d).size; dataclasses.asdict(d); repr(d); any(x == 5 for x in d);
        sorted([d, Node(2)])[0].value; {Node(1): 1}.get(d); [Node(1)].index(d); not d;
        d in [Node(1)]; min(d, Node(3)).value; [*d]; next(iter(d)); hash(d) and d.size;
        weakref.proxy(d).value; len(weakref.proxy(d)); weakref.ref(d)().value;
        map(str, d); operator.itemgetter(0)(d); operator.contains(d, 5); len(d.children)
        """,
        """
        d.children.append(5); setattr(d, 'value', 2); d.children.clear();
        setattr(d, 'children', []); d.children.insert(0, 9); vars(d).update(value=4);
        set_key(d.children, 0, 7); del_key(d.children, 0); d.children.extend([5]);
        operator.iadd(d.children, [5]); heapq.heappush(d.children, 1); d.__init__(9)
        """,
    ),
    "lazy": Kind(
        "Lazy()",
        """
        d.value; d.made; d.kept(); 'value' in vars(d); hasattr(d, 'value') and d.made
        """,
        """
        d.value; setattr(d, 'made', 5); d.kept() and setattr(d, 'made', 4);
        vars(d).update(value=9); setattr(d, 'value', 8)
        """,
    ),
    "fallback": Kind(
        "Fallback()",
        """
        hasattr(d, 'x'); getattr(d, 'x', 0); d.held; len(d.held); operator.attrgetter('x')(d)
        """,
        """
        d.held.update(x=1); set_key(d.held, 'x', 2); setattr(d, 'x', 3); vars(d).update(x=4)
        """,
    ),
    "tracks": Kind(
        "Tracks()",
        """
        len(d.log); hasattr(d, 'a'); d.log; getattr(d, 'a', 0)
        """,
        """
        setattr(d, 'a', 1); set_attr(d, 'a', 2); object.__setattr__(d, 'a', 1);
        vars(d).update(a=1); d.__setattr__('a', 3)
        """,
    ),
    "namespace": Kind(
        "SimpleNamespace(a=1)",
        """
        d.a; vars(d); d == SimpleNamespace(a=1); str(d); hasattr(d, 'b'); copy.copy(d).a;
        len(vars(d)); getattr(d, 'b', 0)
        """,
        """
        setattr(d, 'a', 2); setattr(d, 'b', 2); vars(d).update(a=3); d.__dict__.update(b=1);
        delattr(d, 'a'); d.__init__(a=5)
        """,
    ),
    "nested": Kind(
        "nested_list()",
        """
        d[0][0]; d == [[1], [2]]; str(d); copy.deepcopy(d); sum(d, []); json.dumps(d);
        [y for x in d for y in x]; sorted(d); max(d); [1, 5] in d;
        d.index([1, 5]) if [1, 5] in d else 9; d.count([1]);
        list(itertools.chain.from_iterable(d)); d < [[1], [3]]; pickle.dumps(d);
        tuple(map(tuple, d)); list(zip(*d)); [len(x) for x in d];
        functools.reduce(operator.add, d); dict(enumerate(map(len, d))); f'{d}'; repr(d);
        '%s' % d; list(map(len, d)); list(map(sum, d)); max(d, key=len); sorted(d, key=len);
        all(len(x) == 1 for x in d)
        """,
        """
        d[0].append(5); d[0].clear(); set_key(d[0], 0, 9); d[1].insert(0, 0);
        heapq.heappush(d[0], 0); d[0].extend([5]); d.append([0]); operator.iadd(d[0], [5]);
        [x.append(5) for x in d]; list(map(list.clear, d)); d.__getitem__(0).append(5);
        operator.itemgetter(0)(d).append(5)
        """,
    ),
    "ContextVar": Kind(
        "contextvars.copy_context()",
        """
        len(d); list(d)
        """,
        """
        d.run(contextvars.ContextVar('q').set, 1)
        """,
    ),
    "WeakSet": Kind(
        "weakref.WeakSet()",
        """
        len(d); list(d); bool(d); KEPT in d
        """,
        """
        d.add(KEPT); d.update([KEPT])
        """,
    ),
    "WeakDict": Kind(
        "weakref.WeakValueDictionary()",
        """
        len(d); d.get('a'); list(d); 'a' in d; dict(d)
        """,
        """
        set_key(d, 'a', KEPT); d.update(a=KEPT); d.setdefault('a', KEPT)
        """,
    ),
    "Random": Kind(
        "random.Random(1)",
        """
        d.random(); d.randint(1, 99); d.getstate()[1][-1]; d.choice('abcdef');
        d.sample(range(99), 2); d.shuffle([1, 2]) or d.random(); d.getrandbits(9);
        d.gauss(0, 1)
        """,
        """
        d.random(); d.seed(9); d.getrandbits(1); d.setstate(random.Random(5).getstate());
        d.choice('ab'); d.gauss(0, 1); d.randbytes(1)
        """,
    ),
    "hash": Kind(
        "hashlib.md5()",
        """
        d.hexdigest(); d.copy().digest()
        """,
        """
        d.update(b'a')
        """,
    ),
    "zip": Kind(
        "zlib.compressobj()",
        """
        d.copy().flush()
        """,
        """
        d.compress(b'aa')
        """,
    ),
    "decimal": Kind(
        "decimal.Context(prec=3)",
        """
        d.prec; d.divide(1, 3); d.flags[decimal.Inexact]; str(d)[:14]; d.copy().prec;
        d.create_decimal('1.23456')
        """,
        """
        setattr(d, 'prec', 9); d.divide(1, 3); d.clear_flags() or setattr(d, 'prec', 4)
        """,
    ),
    "module": Kind(
        "types.ModuleType('zq')",
        """
        hasattr(d, 'a'); getattr(d, 'a', 0); vars(d).get('a'); 'a' in dir(d);
        d.__dict__.get('a'); 'a' in vars(d)
        """,
        """
        setattr(d, 'a', 1); set_attr(d, 'a', 2); vars(d).update(a=3); exec('a = 4', vars(d));
        set_key(d.__dict__, 'a', 5)
        """,
    ),
    "exception": Kind(
        "ValueError(1)",
        """
        d.args; str(d); repr(d); getattr(d, '__notes__', 0); d.__cause__; hasattr(d, 'q');
        d.__suppress_context__; d.with_traceback(None).args
        """,
        """
        setattr(d, 'args', (2,)); d.add_note('x'); setattr(d, '__cause__', KeyError());
        setattr(d, 'q', 1); d.__init__(3); d.__setstate__({'q': 1}); vars(d).update(q=2)
        """,
    ),
    "memoryview": Kind(
        "memoryview(bytearray(b'abcd'))",
        """
        d[0]; bytes(d); d.tolist(); d == b'abcd'; d.obj[0]; d[1:3].tobytes(); list(d); d.hex();
        struct.unpack_from('i', d); int.from_bytes(d, 'big'); b''.join([d]);
        hashlib.md5(d).hexdigest(); zlib.crc32(d)
        """,
        """
        set_key(d, 0, 9); set_key(d, slice(0, 2), b'zz'); struct.pack_into('i', d, 0, 7);
        set_key(d.obj, 0, 9); io.BytesIO(b'zz').readinto(d); d.cast('b').__setitem__(0, 5)
        """,
    ),
    "chain": Kind(
        "collections.ChainMap({'a': 1}, {'b': 2})",
        """
        d['a']; d.get('b'); len(d); list(d); dict(d); 'c' in d; d.maps[0]; {**d};
        d == {'a': 1, 'b': 2}; d.new_child()['a']; d.parents['b']
        """,
        """
        set_key(d, 'a', 9); set_key(d, 'c', 9); d.maps[1].update(b=9); d.pop('a'); d.clear();
        d.maps.append({'c': 5}); d.update(c=1); d.popitem(); setattr(d, 'maps', [{}]);
        d.setdefault('c', 3)
        """,
    ),
    "userdict": Kind(
        "collections.UserDict(a=1)",
        """
        d['a']; d.get('b'); len(d); list(d); dict(d); 'b' in d; d.data; d == {'a': 1}; str(d);
        {**d}; d.copy().get('b'); bool(d); list(d.items()); list(d.values()); [k for k in d];
        sorted(d)
        """,
        """
        set_key(d, 'a', 9); set_key(d, 'b', 9); d.update(b=1); d.pop('a'); d.clear();
        d.data.update(b=1); setattr(d, 'data', {}); d.setdefault('b', 3); d.popitem();
        operator.ior(d, {'b': 1})
        """,
    ),
    "userstring": Kind(
        "collections.UserString('ab')",
        """
        str(d); len(d); d + 'c'; d.data; d == 'ab'; d.upper(); 'a' in d; d[0]
        """,
        """
        setattr(d, 'data', 'zz')
        """,
    ),
    "pool_iter": Kind(
        "map(str, [1, 2, 3])",
        """
        next(d); list(d); [*d]; 'x' in d
        """,
        """
        next(d); list(d)
        """,
    ),
    "enumerate": Kind(
        "enumerate('abc')",
        """
        next(d); list(d)
        """,
        """
        next(d); list(d)
        """,
    ),
    "reversed": Kind(
        "reversed([1, 2, 3])",
        """
        next(d); list(d); operator.length_hint(d)
        """,
        """
        next(d); list(d); d.__setstate__(0)
        """,
    ),
    "cycle": Kind(
        "itertools.cycle('ab')",
        """
        next(d); [next(d), next(d)]
        """,
        """
        next(d)
        """,
    ),
    "count": Kind(
        "itertools.count()",
        """
        next(d); str(d)
        """,
        """
        next(d); next(d)
        """,
    ),
    "accumulate": Kind(
        "itertools.accumulate([1, 2, 3])",
        """
        next(d); list(d)
        """,
        """
        next(d)
        """,
    ),
    "dict_values": Kind(
        "{'a': 1, 'b': 2}.values()",
        """
        list(d); len(d); sum(d)
        """,
        """
        d.mapping
        """,
    ),
    "genfn": Kind(
        "(x for x in [1, 2, 3])",
        """
        next(d); list(d); d.gi_running; sum(d); [*d]
        """,
        """
        next(d); list(d); d.close(); d.send(None)
        """,
    ),
}
