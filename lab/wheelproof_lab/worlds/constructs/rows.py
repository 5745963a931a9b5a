"""The ways of Python to read and to write what threads share: one row for each.

A row is a lost update: each of two threads reads a number by `read`, and stores the next one, `N`,
by `write`. A lock stands beside it. Explored, the program has to fail, or to be inconclusive; with
both under the lock it has to pass, or to be inconclusive. A thread that reads twice beside one that
writes has to fail, too: that shows that the read alone is seen.
"""

from typing import NamedTuple


class Construct(NamedTuple):
    """A way to read and a way to write; `declares` is what the thread's function says first."""

    name: str
    setup: str
    read: str
    write: str
    declares: str = "pass"


CONSTRUCTS: tuple[Construct, ...] = (
    Construct("attribute", "s = S()", "s.n", "s.n = N"),
    Construct("getattr and setattr", "s = S()", "getattr(s, 'n')", "setattr(s, 'n', N)"),
    Construct("object.__setattr__", "s = S()", "s.n", "object.__setattr__(s, 'n', N)"),
    Construct("vars", "s = S()", "vars(s)['n']", "vars(s)['n'] = N"),
    Construct("__dict__", "s = S()", "s.__dict__['n']", "s.__dict__['n'] = N"),
    Construct("__dict__.update", "s = S()", "s.n", "s.__dict__.update(n=N)"),
    Construct("attrgetter", "s = S(); read = operator.attrgetter('n')", "read(s)", "s.n = N"),
    Construct("slots", "s = Slotted()", "s.n", "s.n = N"),
    Construct("slots by getattr", "s = Slotted()", "getattr(s, 'n')", "setattr(s, 'n', N)"),
    Construct("property", "s = Prop()", "s.n", "s.n = N"),
    Construct("descriptor", "s = Desc()", "s.n", "s.n = N"),
    Construct("class attribute", "Kind.n = 0; s = Kind", "Kind.n", "Kind.n = N"),
    Construct(
        "class attribute through the instance", "Kind.n = 0; s = Kind()", "s.n", "type(s).n = N"
    ),
    Construct("function attribute", "def s(): pass\n    s.n = 0", "s.n", "s.n = N"),
    Construct(
        "module attribute",
        "here = sys.modules[__name__]; here.module_n = 0",
        "here.module_n",
        "here.module_n = N",
    ),
    Construct("exception attribute", "s = ValueError(); s.n = 0", "s.n", "s.n = N"),
    Construct("exception args", "s = ValueError(0)", "s.args[0]", "s.args = (N,)"),
    Construct("SimpleNamespace", "s = types.SimpleNamespace(n=0)", "s.n", "s.n = N"),
    Construct("global", "global G; G = 0", "G", "globals_set(N)"),
    Construct("globals()", "global G; G = 0", "globals()['G']", "globals()['G'] = N"),
    Construct("nonlocal", "c = 0", "c", "c = N", "nonlocal c"),
    Construct("list item", "s = [0]", "s[0]", "s[0] = N"),
    Construct("list slice", "s = [0]", "s[:][0]", "s[:] = [N]"),
    Construct("dict item", "s = {'n': 0}", "s['n']", "s['n'] = N"),
    Construct("dict get update", "s = {'n': 0}", "s.get('n')", "s.update(n=N)"),
    Construct("dict |=", "s = {'n': 0}", "s['n']", "s |= {'n': N}", "nonlocal s"),
    Construct(
        "dict setdefault pop", "s = {'n': 0}", "s.setdefault('n', 0)", "s.pop('n'); s['n'] = N"
    ),
    Construct(
        "unbound dict methods",
        "s = {'n': 0}",
        "dict.__getitem__(s, 'n')",
        "dict.__setitem__(s, 'n', N)",
    ),
    Construct(
        "operator item", "s = {'n': 0}", "operator.getitem(s, 'n')", "operator.setitem(s, 'n', N)"
    ),
    Construct(
        "itemgetter", "s = {'n': 0}; read = operator.itemgetter('n')", "read(s)", "s['n'] = N"
    ),
    Construct(
        "alias of a method",
        "s = {'n': 0}; get, put = s.get, s.__setitem__",
        "get('n')",
        "put('n', N)",
    ),
    Construct(
        "partial of a method",
        "s = {'n': 0}; put = functools.partial(s.__setitem__, 'n')",
        "s['n']",
        "put(N)",
    ),
    Construct(
        "getattr of a method",
        "s = {'n': 0}",
        "getattr(s, 'get')('n')",
        "getattr(s, '__setitem__')('n', N)",
    ),
    Construct(
        "method through map",
        "s = [0]",
        "list(map(s.__getitem__, [0]))[0]",
        "list(map(s.__setitem__, [0], [N]))",
    ),
    Construct(
        "method as a thread's target",
        "s = {'n': 0}",
        "s['n']",
        "t = threading.Thread(target=s.__setitem__, args=('n', N)); t.start(); t.join()",
    ),
    Construct(
        "method in a pool",
        "s = {'n': 0}",
        "s['n']",
        "concurrent.futures.ThreadPoolExecutor(1).submit(s.__setitem__, 'n', N).result()",
    ),
    Construct("comprehension", "s = [0]", "[x for x in s][0]", "s[0] = N"),
    Construct("set comprehension", "s = [0]", "max({x for x in s})", "s[0] = N"),
    Construct(
        "dict comprehension", "s = {'n': 0}", "{k: v for k, v in s.items()}['n']", "s['n'] = N"
    ),
    Construct("generator expression", "s = [0]", "sum(x for x in s)", "s[0] = N"),
    Construct("for loop", "s = [0]", "first(s)", "s[0] = N"),
    Construct("for over a view", "s = {'n': 0}", "first(s.values())", "s['n'] = N"),
    Construct("view kept", "s = {'n': 0}; v = s.values()", "first(v)", "s['n'] = N"),
    Construct("view in list", "s = {'n': 0}", "list(s.values())[0]", "s['n'] = N"),
    Construct("iter next", "s = [0]", "next(iter(s))", "s[0] = N"),
    Construct("sum", "s = [0]", "sum(s)", "s[0] = N"),
    Construct("sorted", "s = [0]", "sorted(s)[0]", "s[0] = N"),
    Construct("tuple", "s = [0]", "tuple(s)[0]", "s[0] = N"),
    Construct("star in a list", "s = [0]", "[*s][0]", "s[0] = N"),
    Construct("star in a call", "s = [0]", "max(*s, -1)", "s[0] = N"),
    Construct("double star in a dict", "s = {'n': 0}", "{**s}['n']", "s['n'] = N"),
    Construct("double star in a call", "s = {'n': 0}", "dict(**s)['n']", "s['n'] = N"),
    Construct("unpacking", "s = [0]", "unpacked(s)", "s[0] = N"),
    Construct("list +", "s = [0]", "(s + [1])[0]", "s[0] = N"),
    Construct("list *", "s = [0]", "(s * 2)[0]", "s[0] = N"),
    Construct("dict |", "s = {'n': 0}", "(s | {})['n']", "s['n'] = N"),
    Construct("list ==", "s = [0]", "(1 if s == [1] else (2 if s == [2] else 0))", "s[0] = N"),
    Construct("f-string", "s = [0]", "int(f'{s}'[1:-1])", "s[0] = N"),
    Construct("format", "s = [0]", "int('{}'.format(s)[1:-1])", "s[0] = N"),
    Construct("percent", "s = [0]", "int(('%s' % s)[1:-1])", "s[0] = N"),
    Construct("str", "s = [0]", "int(str(s)[1:-1])", "s[0] = N"),
    Construct("repr", "s = [0]", "int(repr(s)[1:-1])", "s[0] = N"),
    Construct("join", "s = ['0']", "int(''.join(s))", "s[0] = str(N)"),
    Construct("json", "s = [0]", "json.loads(json.dumps(s))[0]", "s[0] = N"),
    Construct(
        "json nested",
        "s = [0]; tt = {'a': [s]}",
        "json.loads(json.dumps(tt))['a'][0][0]",
        "s[0] = N",
    ),
    Construct("copy", "s = [0]", "copy.copy(s)[0]", "s[0] = N"),
    Construct("deepcopy", "s = [0]; tt = [s]", "copy.deepcopy(tt)[0][0]", "s[0] = N"),
    Construct("pickle of an object", "s = S()", "pickle.loads(pickle.dumps(s)).n", "s.n = N"),
    Construct("copy of an object", "s = S()", "copy.copy(s).n", "s.n = N"),
    Construct("heapq", "s = []", "len(s)", "N; heapq.heappush(s, N) if len(s) < N else None"),
    Construct("heapq nsmallest", "s = [0]", "heapq.nsmallest(1, s)[0]", "s[0] = N"),
    Construct("bisect", "s = [0]", "bisect.bisect([1, 2], s[0])", "bisect.insort(s, N); s.pop(0)"),
    Construct("itertools.chain", "s = [0]", "list(itertools.chain(s))[0]", "s[0] = N"),
    Construct(
        "zip enumerate reversed", "s = [0]", "next(zip(s))[0] + next(enumerate(s))[0]", "s[0] = N"
    ),
    Construct("map filter", "s = [0]", "list(map(int, s))[0]", "s[0] = N"),
    Construct("filter lambda", "s = [0]", "list(filter(lambda x: True, s))[0]", "s[0] = N"),
    Construct("any all", "s = [0]", "(0 if not any(s) else s[0])", "s[0] = N"),
    Construct("in", "s = [0]", "(1 if 1 in s else (2 if 2 in s else 0))", "s[0] = N"),
    Construct("dict subclass", "s = SubDict(n=0)", "s['n']", "s['n'] = N"),
    Construct("list subclass", "s = SubList([0])", "s[0]", "s[0] = N"),
    Construct("set subclass", "s = SubSet()", "len(s)", "s.add(N)"),
    Construct("defaultdict", "s = collections.defaultdict(int)", "s['n']", "s['n'] = N"),
    Construct(
        "defaultdict with own factory", "s = collections.defaultdict(zero)", "s['n']", "s['n'] = N"
    ),
    Construct("Counter", "s = collections.Counter()", "s['n']", "s['n'] = N"),
    Construct(
        "Counter update",
        "s = collections.Counter()",
        "s['n']",
        "s.subtract(n=s['n']); s.update(n=N)",
    ),
    Construct("OrderedDict", "s = collections.OrderedDict(n=0)", "s['n']", "s['n'] = N"),
    Construct("ChainMap", "s = collections.ChainMap({'n': 0})", "s['n']", "s['n'] = N"),
    Construct("deque", "s = collections.deque([0])", "s[0]", "s[0] = N"),
    Construct("deque pop append", "s = collections.deque([0])", "s[-1]", "s.append(N)"),
    Construct("UserDict", "s = collections.UserDict(n=0)", "s['n']", "s['n'] = N"),
    Construct("array", "s = array.array('i', [0])", "s[0]", "s[0] = N"),
    Construct("bytearray", "s = bytearray(1)", "s[0]", "s[0] = N"),
    Construct("memoryview", "b = bytearray(1); s = memoryview(b)", "s[0]", "s[0] = N"),
    Construct(
        "memoryview and bytearray", "b = bytearray(1); s = memoryview(b)", "b[0]", "s[0] = N"
    ),
    Construct("struct.pack_into", "s = bytearray(1)", "s[0]", "struct.pack_into('b', s, 0, N)"),
    Construct("set", "s = set()", "len(s)", "s.add(N)"),
    Construct("set |=", "s = set()", "len(s)", "s |= {N}", "nonlocal s"),
    Construct(
        "StringIO", "s = io.StringIO('0')", "int(s.getvalue())", "s.seek(0); s.write(str(N))"
    ),
    Construct("itertools.count", "s = itertools.count(); tt = S()", "tt.n", "tt.n = N; next(s)"),
    Construct("lru_cache", "s = S(); cached = functools.lru_cache(s_made)", "s.n", "s.n = N"),
    Construct(
        "dataclass ==",
        "s = Data(0)",
        "(1 if s == Data(1) else (2 if s == Data(2) else 0))",
        "s.n = N",
    ),
    Construct("dataclass replace", "s = Data(0)", "dataclasses.replace(s).n", "s.n = N"),
    Construct("dataclass asdict", "s = Data(0)", "dataclasses.asdict(s)['n']", "s.n = N"),
    Construct("eval", "s = S()", "eval('s.n', {'s': s})", "exec('s.n = n', {'s': s, 'n': N})"),
    Construct("match", "s = [0]", "matched(s)", "s[0] = N"),
    Construct("sort key", "s = S(); l = [2, 1]", "s.n", "l.sort(key=lambda x: bump(s, N))"),
    Construct(
        "default argument",
        "def s(v=None, box=[0]):\n        if v is not None: box[0] = v\n        return box[0]",
        "s()",
        "s(N)",
    ),
    Construct(
        "two lambdas on a line",
        "s = S(); read, put = lambda: s.n, lambda v: setattr(s, 'n', v)",
        "read()",
        "put(N)",
    ),
    Construct("weakref", "s = S(); w = weakref.ref(s)", "w().n", "w().n = N"),
    Construct("weakref proxy", "s = S(); w = weakref.proxy(s)", "w.n", "w.n = N"),
    Construct("class body", "s = S()", "read_in_class(s)", "s.n = N"),
    Construct("enum member attribute", "s = E.A; s.n = 0", "s.n", "s.n = N"),
    Construct("__getattr__", "s = Dyn()", "s.anything", "s.anything = N"),
    Construct("metaclass attribute", "Kind.n = 0", "Kind.n", "setattr(Kind, 'n', N)"),
    Construct("replaced method", "s = S(); s.m = lambda: 0", "s.m()", "s.m = returning(N)"),
    Construct(
        "replaced class method",
        "Kind.m = lambda self: 0; s = Kind()",
        "s.m()",
        "Kind.m = returning1(N)",
    ),
    Construct("equal keys 1 and True", "s = {1: 0}", "s[1]", "s[True] = N"),
    Construct("walrus", "s = S()", "(y := s.n)", "s.n = N"),
    Construct(
        "delattr",
        "s = S()",
        "getattr(s, 'n', 0)",
        "delattr(s, 'n') if hasattr(s, 'n') else None; s.n = N",
    ),
    Construct(
        "str.join of dict values", "s = {'a': '0'}", "int(''.join(s.values()))", "s['a'] = str(N)"
    ),
    Construct("max key", "s = [0]", "max(s, key=lambda x: x)", "s[0] = N"),
    Construct("reduce", "s = [0]", "functools.reduce(operator.add, s, 0)", "s[0] = N"),
    Construct("iterator of own class", "s = Own()", "sum(s)", "s.n = N"),
    Construct("own __len__", "s = Own()", "len(s)", "s.n = N"),
    Construct("own __eq__", "s = Own()", "(1 if s == 1 else (2 if s == 2 else 0))", "s.n = N"),
    Construct("own __format__", "s = Own()", "int(f'{s}')", "s.n = N"),
    Construct("own __add__", "s = Own()", "s + 0", "s.n = N"),
    Construct(
        "own __contains__", "s = Own()", "(1 if 1 in s else (2 if 2 in s else 0))", "s.n = N"
    ),
    Construct("own __call__", "s = Own()", "s()", "s.n = N"),
    Construct("own __enter__", "s = Own()", "entered(s)", "s.n = N"),
)
