"""What a module makes when it is imported, before any run: its state, and its locks."""

from wheelproof_lab.worlds.constructs.construct import Construct, made_before


def _state(name: str, before: str, read: str, write: str, declares: str = "pass") -> Construct:
    return made_before(f"import: {name}", before, read, write, declares=declares)


def _lock(name: str, before: str, lock: str) -> Construct:
    """Return a row whose lock is made at import; what it guards is, too."""
    return made_before(f"lock: {name}", f"{before}\nc = S()", "c.n", "c.n = N", lock=lock)


_LOCK = "threading.Lock()"
_GET_MADE = """made = None
def get_made():
    global made
    if made is None: made = S()
    return made"""
_GET_KEPT = """kept = {}
def get_kept(k):
    if k not in kept: kept[k] = [0]
    return kept[k]"""
_KEEPING = """def keeping(v=None, kept=[0]):
    if v is not None: kept[0] = v
    return kept[0]"""
_CACHED = """box = [0]
@functools.lru_cache
def cached(): return box[0]"""

MADE_BEFORE: tuple[Construct, ...] = (
    _state("attribute", "s = S()", "s.n", "s.n = N"),
    _state("slot", "s = Slotted()", "s.n", "s.n = N"),
    _state("property", "s = Prop()", "s.n", "s.n = N"),
    _state("global", "made_n = 0", "made_n", "made_n = N", "global made_n"),
    _state("class attribute", "Kind.n = 0", "Kind.n", "Kind.n = N"),
    _state("list of a class", "Kind.all = [0]", "Kind.all[0]", "Kind.all[0] = N"),
    _state("attribute of a function", "def s(): pass\ns.n = 0", "s.n", "s.n = N"),
    _state("attribute of a member of an enum", "E.A.n = 0", "E.A.n", "E.A.n = N"),
    _state("default that is changed", _KEEPING, "keeping()", "keeping(N)"),
    _state("closure", "s = closure(S())", "s[0]()", "s[1](N)"),
    _state("bound methods", "s = Partial(); get, put = s.look, s.put", "get()", "put('n', N)"),
    _state("partial", "s = [0]; put = functools.partial(s.__setitem__, 0)", "s[0]", "put(N)"),
    _state("list", "s = [0]", "s[0]", "s[0] = N"),
    _state("list in a tuple", "s = ([0],)", "s[0][0]", "s[0][0] = N"),
    _state("list in a named tuple", "s = Point([0])", "s.x[0]", "s.x[0] = N"),
    _state("list in a frozen dataclass", "s = Frozen([0])", "s.n[0]", "s.n[0] = N"),
    _state("object in a list in a dict", "s = {'a': [S()]}", "s['a'][0].n", "s['a'][0].n = N"),
    _state("dict", "s = {'n': 0}", "s['n']", "s['n'] = N"),
    _state("defaultdict", "s = collections.defaultdict(int)", "s['n']", "s['n'] = N"),
    _state("OrderedDict", "s = collections.OrderedDict(n=0)", "s['n']", "s['n'] = N"),
    _state("Counter", "s = collections.Counter()", "s['n']", "s['n'] = N"),
    _state("ChainMap", "s = collections.ChainMap({}, {'n': 0})", "s['n']", "s['n'] = N"),
    _state("UserDict", "s = collections.UserDict(n=0)", "s['n']", "s['n'] = N"),
    _state("view of a dict", "d = {'n': 0}; s = types.MappingProxyType(d)", "s['n']", "d['n'] = N"),
    _state(
        "WeakKeyDictionary", "k = S(); s = weakref.WeakKeyDictionary({k: 0})", "s[k]", "s[k] = N"
    ),
    _state("set", "s = {0}", "max(s)", "s.add(N)"),
    _state("deque", "s = collections.deque([0])", "s[-1]", "s.append(N)"),
    _state("array", "s = array.array('i', [0])", "s[0]", "s[0] = N"),
    _state("SimpleNamespace", "s = types.SimpleNamespace(n=0)", "s.n", "s.n = N"),
    _state(
        "StringIO",
        "s = io.StringIO('0')",
        "int(s.getvalue() or 0)",
        "s.seek(0); s.truncate(); s.write(str(N))",
    ),
    _state(
        "count",
        "s = itertools.count()",
        "int(repr(s)[6:-1])",
        "while int(repr(s)[6:-1]) < N: next(s)",
    ),
    _state("generator", "s = kept_by_a_generator(); next(s)", "asked(s, None)", "asked(s, N)"),
    _state(
        "ContextVar", "s = contextvars.ContextVar('s', default=[0])", "s.get()[0]", "s.get()[0] = N"
    ),
    _state("lru_cache", _CACHED, "cached()", "box[0] = N; cached.cache_clear()"),
    _state("cached_property", "s = Cached()", "s.box[0]", "s.box[0] = N"),
    _state("singleton of a class", "Single.one = None", "Single.get().n", "Single.get().n = N"),
    _state("singleton of a module", _GET_MADE, "get_made().n", "get_made().n = N"),
    _state("memory of a function", _GET_KEPT, "get_kept(1)[0]", "get_kept(1)[0] = N"),
    _state("thread-local", "s = threading.local(); c = S()", "by_local(s, c)", "c.n = N"),
    _state(
        "Event",
        "s = threading.Event(), threading.Event()",
        "sum(e.is_set() for e in s)",
        "[e.set() for e in s[:N]]",
    ),
    _state("Queue", "s = queue.Queue()", "s.qsize()", "while s.qsize() < N: s.put(0)"),
    _state("SimpleQueue", "s = queue.SimpleQueue()", "s.qsize()", "while s.qsize() < N: s.put(0)"),
    _state(
        "Logger",
        "s = logging.getLogger(__name__); s.setLevel(20)",
        "s.level - 20",
        "s.setLevel(20 + N)",
    ),
    _lock("global", f"s = {_LOCK}", "s"),
    _lock("RLock", "s = threading.RLock()", "s"),
    _lock("Condition", "s = threading.Condition()", "s"),
    _lock("Semaphore", "s = threading.Semaphore(1)", "s"),
    _lock("BoundedSemaphore", "s = threading.BoundedSemaphore(1)", "s"),
    _lock("attribute", f"s = S(); s.lock = {_LOCK}", "s.lock"),
    _lock("slot", f"s = Slotted(); s.n = {_LOCK}", "s.n"),
    _lock("class attribute", f"Kind.lock = {_LOCK}", "Kind.lock"),
    _lock("attribute of a function", f"def s(): pass\ns.lock = {_LOCK}", "s.lock"),
    _lock("default of a function", f"def s(lock={_LOCK}): return lock", "s()"),
    _lock("closure", f"s = returning({_LOCK})", "s()"),
    _lock("partial", f"s = functools.partial(as_it_is, {_LOCK})", "s()"),
    _lock("object of a bound method", f"s = Partial(); s.n = {_LOCK}; get = s.look", "get()"),
    _lock("list", f"s = [{_LOCK}]", "s[0]"),
    _lock("tuple", f"s = (0, ({_LOCK},))", "s[1][0]"),
    _lock("named tuple", f"s = Point({_LOCK})", "s.x"),
    _lock("frozen dataclass", f"s = Frozen({_LOCK})", "s.n"),
    _lock("set", f"s = {{{_LOCK}}}", "next(iter(s))"),
    _lock("deque", f"s = collections.deque([{_LOCK}])", "s[0]"),
    _lock("dict", f"s = {{'a': {_LOCK}}}", "s['a']"),
    _lock("defaultdict", "s = collections.defaultdict(threading.Lock)", "s['a']"),
    _lock("key of a dict", f"s = {{{_LOCK}: 0}}", "next(iter(s))"),
    _lock("ContextVar", f"s = contextvars.ContextVar('s', default={_LOCK})", "s.get()"),
    _lock("lru_cache", "s = functools.lru_cache(threading.Lock); s()", "s()"),
    _lock("generator", f"s = for_ever({_LOCK}); next(s)", "next(s)"),
    _lock("argument of an exception", f"s = ValueError({_LOCK})", "s.args[0]"),
)
