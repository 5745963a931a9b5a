"""Containers and iterators, and expressions that read or write one, as `d`.

The expressions are separated by semicolons. Each writer has an effect that some reader tells.
"""

from collections.abc import Mapping

from support.explore.programs.kind import Kind

PRELUDE = """
import array, bisect, collections, copy, dataclasses, functools, heapq, io, itertools, json
import operator, pickle, random, threading, types

@dataclasses.dataclass
class Point:
    x: int = 0
    y: int = 0
class Thing:
    def __init__(self): self.a = 1
    def f(self): return self.a
class Slotted:
    __slots__ = ("a", "b")
    def __init__(self): self.a = 1
class List(list): pass
class Dict(dict): pass
class Missing(dict):
    def __missing__(self, key): return 7
"""
KINDS: Mapping[str, Kind] = {
    "list": Kind(
        "[1, 2]",
        """
        len(d); d[0]; d[-1]; d[:]; list(d); tuple(d); sum(d); max(d); 3 in d;
        d.index(2) if 2 in d else 9; d.count(1); [x for x in d]; {x for x in d}; d == [1, 2];
        bool(d); str(d); f"{d}"; json.dumps(d); copy.copy(d); copy.deepcopy(d); pickle.dumps(d);
        sorted(d); next(iter(d), None); [*d]; dict.fromkeys(d); list(map(str, d));
        list(zip(d, d)); list(reversed(d)); operator.itemgetter(0)(d); "%s" % d; repr(d);
        functools.reduce(operator.add, d, 0); list(enumerate(d)); any(d); d + [1]; d * 2;
        d < [2]; [y for x in [d] for y in x]; bisect.bisect(d, 5); set(d); bytes(d);
        collections.Counter(d)[1]; len(d) > 2 and d[2]; [d][0] == [1, 2];
        (lambda *a: len(a))(*d); list(itertools.chain(d)); list(itertools.islice(d, 1));
        heapq.nsmallest(1, d); d is None or len(d); not d; hash(tuple(d));
        operator.length_hint(d)
        """,
        """
        d.append(3); d.insert(0, 9); d.pop(); d.clear(); d.extend([3]); d.__setitem__(0, 9);
        d.reverse(); d.sort(reverse=True); d.remove(1); d.__delitem__(0); d.__iadd__([3]);
        operator.setitem(d, 0, 9); operator.delitem(d, 0); heapq.heappush(d, 0);
        random.Random(3).shuffle(d); bisect.insort(d, 0); list.append(d, 3); d.__init__([5]);
        operator.iadd(d, [3]); heapq.heapreplace(d, 9); [d.append(x) for x in (3,)];
        functools.partial(d.append, 3)(); list(map(d.append, [3])); getattr(d, "append")(3);
        operator.methodcaller("append", 3)(d)
        """,
    ),
    "dict": Kind(
        '{"a": 1}',
        """
        len(d); "b" in d; d.get("b"); d["a"]; list(d); d.items() == {"a": 1}.items();
        list(d.values()); list(d.keys()); d == {"a": 1}; bool(d); str(d); json.dumps(d);
        copy.copy(d); {**d}; dict(d); d | {}; sorted(d); next(iter(d), 0); max(d, default=0);
        d.copy(); f"{d}"; list(reversed(d)); operator.contains(d, "b");
        operator.itemgetter("a")(d); "b" not in d; [k for k in d]; {k: v for k, v in d.items()};
        dict(**d); "%(a)s" % d; "{a}".format(**d); d.keys() & {"b"}; set(d);
        list(zip(d, d.values())); sum(d.values()); [*d]; dict.get(d, "b"); pickle.dumps(d);
        any(d); len(d.items()); d.keys().isdisjoint(["b"]); (lambda **k: len(k))(**d);
        list(map(d.get, "ab")); list(filter(d.get, "ab")); collections.ChainMap(d).get("b");
        types.MappingProxyType(d).get("b"); not d; "a" in d.keys(); 1 in d.values();
        ("a", 1) in d.items()
        """,
        """
        d.__setitem__("b", 2); d.__setitem__("a", 2); d.update(b=2); d.update(a=2); d.pop("a");
        d.popitem(); d.clear(); d.setdefault("b", 2); d.__delitem__("a");
        operator.setitem(d, "b", 2); operator.setitem(d, "a", 2); operator.delitem(d, "a");
        d.__ior__({"b": 2}); operator.ior(d, {"b": 2}); dict.update(d, {"b": 2});
        dict.__setitem__(d, "b", 2); list(map(d.pop, "a")); list(map(d.setdefault, "b"));
        functools.partial(d.update, b=2)(); d.__init__(b=2); collections.ChainMap(d).update(b=2);
        collections.ChainMap(d).__setitem__("a", 5); getattr(d, "pop")("a");
        operator.methodcaller("clear")(d)
        """,
    ),
    "set": Kind(
        "{1}",
        """
        len(d); 2 in d; list(d); d == {1}; d | {5}; d & {2}; d - {1}; d <= {1}; bool(d); str(d);
        sorted(d); d.copy(); d.isdisjoint({2}); {2}.isdisjoint(d); {2} & d; {1}.issuperset(d);
        frozenset(d); copy.copy(d); sum(d); [*d]; [x for x in d]; next(iter(d), 0);
        {1, 2}.difference(d); operator.contains(d, 2); set().union(d); set().union(*[d]);
        max(d, default=0); d ^ {2}; d > set(); list(map(d.__contains__, [1, 2]));
        list(filter(d.__contains__, [1, 2])); {1: 0}.keys() & d; {1: 0}.keys() <= d
        """,
        """
        d.add(2); d.remove(1); d.discard(1); d.pop(); d.clear(); d.update({2}); d.__ior__({2});
        operator.ior(d, {2}); operator.isub(d, {1}); d.difference_update({1});
        d.intersection_update(()); d.symmetric_difference_update({2}); set.add(d, 2);
        list(map(d.add, [2])); d.__init__({5}); operator.methodcaller("add", 2)(d)
        """,
    ),
    "deque": Kind(
        "collections.deque([1, 2])",
        """
        len(d); d[0]; d[-1]; list(d); 2 in d; bool(d); str(d); d.index(1) if 1 in d else 7;
        d.count(1); d == collections.deque([1, 2]); sum(d); d.copy(); copy.copy(d);
        list(reversed(d)); [x for x in d]; d + d; next(iter(d), 0); sorted(d);
        operator.itemgetter(0)(d); d < collections.deque([5])
        """,
        """
        d.append(3); d.appendleft(0); d.pop(); d.popleft(); d.rotate(1); d.clear();
        d.extend([3]); d.extendleft([3]); d.remove(1); d.reverse(); d.insert(0, 7);
        d.__setitem__(0, 7); d.__delitem__(0); operator.iadd(d, [3]); d.__iadd__([3]);
        collections.deque.append(d, 3); list(map(d.append, [3])); operator.setitem(d, 0, 7)
        """,
    ),
    "defaultdict": Kind(
        "collections.defaultdict(int)",
        """
        len(d); "b" in d; list(d); d.get("b"); d == {}; dict(d); bool(d); sorted(d); str(d);
        {**d}; [k for k in d]; d.copy()
        """,
        """
        d["b"]; d.__getitem__("b"); operator.getitem(d, "b"); d.__setitem__("b", 1);
        d.setdefault("b", 1); d.update(b=1); list(map(d.__getitem__, "b"));
        operator.itemgetter("b")(d); "{b}".format_map(d); "%(b)s" % d;
        collections.ChainMap(d)["b"]; d.__missing__("b")
        """,
    ),
    "OrderedDict": Kind(
        "collections.OrderedDict(a=1, b=2)",
        """
        list(d); next(iter(d)); list(reversed(d)); d == collections.OrderedDict(a=1, b=2);
        len(d); d["a"]; str(d); d.get("c"); "c" in d; list(d.items()); {**d}; dict(d)
        """,
        """
        d.move_to_end("a"); d.popitem(); d.popitem(last=False); d.pop("a"); d.update(c=1);
        d.__setitem__("c", 1); d.clear(); operator.setitem(d, "a", 9); d.setdefault("c", 0);
        collections.OrderedDict.move_to_end(d, "a");
        operator.methodcaller("move_to_end", "a")(d); d.__delitem__("a")
        """,
    ),
    "object": Kind(
        "Thing()",
        """
        d.a; d.f(); vars(d).get("a"); d.__dict__["a"]; getattr(d, "a"); hasattr(d, "b");
        getattr(d, "b", 0); operator.attrgetter("a")(d); copy.copy(d).a; dict(vars(d));
        len(vars(d)); "b" in vars(d); "b" in d.__dict__; "b" in dir(d);
        object.__getattribute__(d, "a"); pickle.dumps(d); copy.deepcopy(d).a;
        operator.methodcaller("f")(d); list(map(operator.attrgetter("a"), [d]));
        getattr(d, "f")(); [k for k in vars(d)]; vars(d) == {"a": 1}
        """,
        """
        setattr(d, "a", 2); setattr(d, "b", 2); vars(d).update(a=2);
        d.__dict__.__setitem__("a", 2); d.__dict__.update(b=2); object.__setattr__(d, "a", 2);
        object.__setattr__(d, "b", 2); d.__setattr__("a", 2);
        d.__init__.__func__(d) or setattr(d, "a", 3); setattr(d, "f", lambda: 9);
        vars(d).__setitem__("b", 3); operator.setitem(vars(d), "a", 4);
        operator.setitem(d.__dict__, "b", 4); operator.methodcaller("__setattr__", "a", 4)(d);
        list(map(setattr, [d], ["a"], [3])); functools.partial(setattr, d, "a")(3);
        vars(d).clear() or vars(d).update(a=5)
        """,
    ),
    "slots": Kind(
        "Slotted()",
        """
        d.a; getattr(d, "a"); hasattr(d, "b"); getattr(d, "b", 0); operator.attrgetter("a")(d);
        copy.copy(d).a; Slotted.a.__get__(d); object.__getattribute__(d, "a");
        pickle.dumps(d, 4)
        """,
        """
        setattr(d, "a", 2); setattr(d, "b", 2); object.__setattr__(d, "a", 2);
        Slotted.a.__set__(d, 2); Slotted.b.__set__(d, 2); d.__setattr__("b", 2);
        operator.methodcaller("__setattr__", "b", 2)(d)
        """,
    ),
    "subclass of list": Kind(
        "List([1, 2])",
        """
        len(d); d[0]; list(d); sum(d); 3 in d; str(d); d == [1, 2]; bool(d); copy.copy(d); d[:];
        [x for x in d]; max(d); d + [1]
        """,
        """
        d.append(3); d.pop(); d.clear(); d.__setitem__(0, 9); operator.setitem(d, 0, 9);
        list.append(d, 3); operator.iadd(d, [3]); d.sort(reverse=True); list(map(d.append, [3]))
        """,
    ),
    "subclass of dict": Kind(
        "Dict(a=1)",
        """
        len(d); "b" in d; d.get("b"); d["a"]; list(d); d == {"a": 1}; bool(d); str(d);
        copy.copy(d); {**d}; dict(d); d | {}; sorted(d); [k for k in d]; list(d.values())
        """,
        """
        d.__setitem__("b", 2); d.update(a=2); d.pop("a"); d.clear(); d.setdefault("b", 2);
        operator.setitem(d, "b", 2); d.__ior__({"b": 2}); operator.ior(d, {"b": 2});
        dict.update(d, {"b": 2}); list(map(d.pop, "a"))
        """,
    ),
    "__missing__": Kind(
        "Missing(a=1)",
        """
        d["b"]; d["a"]; len(d); "b" in d; operator.getitem(d, "b"); operator.itemgetter("b")(d);
        list(map(d.__getitem__, "b")); "{b}".format_map(d); "%(b)s" % d
        """,
        """
        d.__setitem__("b", 2); d.update(a=2); d.pop("a"); d.clear(); d.setdefault("b", 2);
        operator.setitem(d, "b", 2)
        """,
    ),
    "bytearray": Kind(
        'bytearray(b"ab")',
        """
        len(d); d[0]; bytes(d); d == b"ab"; d.decode(); b"b" in d; d.find(b"b");
        int.from_bytes(d, "big"); d[:]; list(d); d.upper(); d + b""; b"".join([d]); str(d);
        d.startswith(b"a"); memoryview(d)[0]; bytes(memoryview(d)[:1]); hash(bytes(d)); sum(d);
        io.BytesIO(d).read(); [x for x in d]; d.hex(); d.split(b"b"); b"%s" % d; 97 in d
        """,
        """
        d.append(3); d.__setitem__(0, 9); d.clear(); d.extend(b"c"); d.pop(); d.reverse();
        operator.setitem(d, 0, 9); operator.iadd(d, b"c"); memoryview(d).__setitem__(0, 9);
        d.insert(0, 9); d.remove(97); io.BytesIO(b"zz").readinto(d); list(map(d.append, [3]));
        d.__init__(b"q"); d.__delitem__(0)
        """,
    ),
    "UserList": Kind(
        "collections.UserList([1, 2])",
        """
        len(d); d[0]; list(d); 3 in d; d == [1, 2]; bool(d); str(d); copy.copy(d).data; sum(d);
        d.data[0]; len(d.data); [x for x in d]
        """,
        """
        d.append(3); d.pop(); d.clear(); d.__setitem__(0, 9); d.data.append(3); d.insert(0, 7);
        setattr(d, "data", []); operator.setitem(d, 0, 9); operator.iadd(d, [3])
        """,
    ),
    "Counter": Kind(
        'collections.Counter("a")',
        """
        d["a"]; d["b"]; d.total(); d.most_common(1); list(d.elements()); len(d); "b" in d;
        d == collections.Counter("a"); +d; sum(d.values()); d.get("b"); list(d); d & d; d + d
        """,
        """
        d.update("b"); d.subtract("a"); d.__setitem__("a", 5); d.__setitem__("b", 5); d.clear();
        d.pop("a"); d.__iadd__(collections.Counter("b"));
        operator.iadd(d, collections.Counter("b")); d.__delitem__("a"); d.update(b=1);
        operator.setitem(d, "b", 2); d.setdefault("b", 3)
        """,
    ),
    "dataclass": Kind(
        "Point()",
        """
        d.x; d == Point(); repr(d); f"{d}"; dataclasses.asdict(d); dataclasses.astuple(d);
        dataclasses.replace(d, y=5); copy.copy(d).x; str(d); d != Point(1);
        [getattr(d, f.name) for f in dataclasses.fields(d)]
        """,
        """
        setattr(d, "x", 1); d.__init__(4); vars(d).update(x=3); object.__setattr__(d, "x", 3);
        dataclasses.replace(d).__init__ and setattr(d, "y", 9)
        """,
    ),
    "array": Kind(
        'array.array("i", [1, 2])',
        """
        len(d); d[0]; list(d); d.tolist(); d.tobytes(); bytes(d); sum(d);
        d == array.array("i", [1, 2]); 2 in d; d.count(1); memoryview(d)[0]; str(d); d[:];
        max(d); [x for x in d]
        """,
        """
        d.append(3); d.pop(); d.__setitem__(0, 9); d.extend([3]); d.fromlist([3]); d.reverse();
        d.byteswap(); operator.setitem(d, 0, 9); d.insert(0, 5); d.remove(1);
        d.frombytes(b"\\0\\0\\0\\1"); memoryview(d).__setitem__(0, 7);
        operator.iadd(d, array.array("i", [3]))
        """,
    ),
    "iterator": Kind(
        "iter([1, 2, 3])",
        """
        next(d); list(d); sum(d); max(d); [*d]; 2 in d; [x for x in d]; next(zip(d, d));
        operator.length_hint(d); list(map(str, d)); list(itertools.islice(d, 1));
        dict.fromkeys(d); d.__next__(); copy.copy(d).__next__(); any(x == 1 for x in d);
        (lambda a, *b: a)(*d); functools.reduce(operator.add, d); pickle.dumps(d)
        """,
        """
        next(d); list(d); d.__next__(); next(d, None); d.__setstate__(2); [*d];
        list(itertools.islice(d, 1)); [].extend(d); set().update(d); collections.deque(d);
        2 in d; next(zip(d)); min(d); operator.indexOf(d, 2)
        """,
    ),
}
