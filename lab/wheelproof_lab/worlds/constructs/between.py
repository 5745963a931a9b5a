"""Code of C that calls functions of Python, and goes on with what threads share behind the call."""

from wheelproof_lab.worlds.constructs.construct import Construct

_ONE_OR_TWO = "(1 if {0} else 2 if {1} else 0)"
_EQUAL = _ONE_OR_TWO.format("s == [Same(1)]", "s == [Same(2)]")
_CHAINED = _ONE_OR_TWO.format("[1] == s == [1]", "[2] == s == [2]")
_LAZY = _ONE_OR_TWO.format("0 < s[0] < int(2)", "1 < s[0] < int(3)")
_MEMBER = _ONE_OR_TWO.format("Same(1) in s", "Same(2) in s")
_ALL = _ONE_OR_TWO.format("all(x == 1 for x in s)", "all(x == 2 for x in s)")
_SAME = "s = [Same(0)]"
_COUNTER = "s = collections.Counter()"
_KEYED = "s = {Same(7): 0}"

BETWEEN: tuple[Construct, ...] = (
    Construct(
        "sort by a local key",
        "s = [0]",
        "max(s, default=0)",
        "s.append(N)\ntry: s.sort(key=lambda x: x)\nexcept ValueError: pass",
    ),
    Construct("extend by a generator", "s = [0]", "s[-1]", "s.extend(x for x in (0, N))"),
    Construct("extend by map", "s = [0]", "s[-1]", "s.extend(map(lambda x: x, (0, N)))"),
    Construct(
        "update by a generator", "s = {'n': 0}", "s['n']", "s.update((k, N) for k in ('m', 'n'))"
    ),
    Construct("set update by a generator", "s = {0}", "max(s)", "s.update(x for x in (0, N))"),
    Construct(
        "deque extend by a generator",
        "s = collections.deque([0])",
        "s[-1]",
        "s.extend(x for x in (0, N))",
    ),
    Construct(
        "array extend by a generator",
        "s = array.array('i', [0])",
        "s[-1]",
        "s.extend(x for x in (0, N))",
    ),
    Construct("slice from a generator", "s = [0]", "s[0]", "s[:] = (x for x in (N,))"),
    Construct(
        "in place from a generator", "s = [0]", "s[-1]", "s += (x for x in (0, N))", "nonlocal s"
    ),
    Construct("in place from a list", "s = [0]", "added([], s)[0]", "s[0] = N"),
    Construct("in place from map", "s = [0]", "added([], map(lambda x: x, s))[0]", "s[0] = N"),
    Construct("equal lists of objects", _SAME, _EQUAL, "s[0].n = N"),
    Construct("chained == of lists", "s = [0]", _CHAINED, "s[0] = N"),
    Construct("chained comparison with a call", "s = [0]", _LAZY, "s[0] = N"),
    Construct(
        "chained comparison in what a loop goes through",
        "s = [0]",
        "[x for x in [s[0] if -1 < s[0] < 9 else 0]][0]",
        "s[0] = N",
    ),
    Construct("minus of a Counter", _COUNTER, "(-s)['a']", "s['a'] = -N"),
    Construct("plus of a Counter", _COUNTER, "(+s)['a']", "s['a'] = N"),
    Construct("star of map", "s = [0]", "[*map(lambda x: x, s)][0]", "s[0] = N"),
    Construct("star of map in a call", "s = [0]", "max(*map(lambda x: x, s), -1)", "s[0] = N"),
    Construct(
        "double star of a proxy", "s = {'n': 0}", "{**types.MappingProxyType(s)}['n']", "s['n'] = N"
    ),
    Construct(
        "double star of a ChainMap",
        "s = {'n': 0}",
        "dict(**collections.ChainMap(s))['n']",
        "s['n'] = N",
    ),
    Construct("unpacked map", "s = [0]", "unpacked_one(map(lambda x: x, s))", "s[0] = N"),
    Construct(
        "unpacked map with a star", "s = [0]", "unpacked_star(map(lambda x: x, s))", "s[0] = N"
    ),
    Construct("unpacked and kept", "s = [0]", "unpacked_twice(s)", "s[0] = N"),
    Construct("f-string of a list of objects", _SAME, "int(f'{s}'[1:-1])", "s[0].n = N"),
    Construct("f-string with a conversion", _SAME, "int(f'{s[0]!r}')", "s[0].n = N"),
    Construct("f-string with a width", "s = Same(0)", "int(f'{s.n:>{s.n + 1}}')", "s.n = N"),
    Construct("percent of objects", _SAME, "int('%s%s' % ('', s[0]))", "s[0].n = N"),
    Construct("str.format of an object", _SAME, "int('{}'.format(s[0]))", "s[0].n = N"),
    Construct("join of a generator", "s = [0]", "int(''.join(str(x) for x in s))", "s[0] = N"),
    Construct("result of yield from", "s = S()", "result_of(s)", "s.n = N"),
    Construct("sent through yield from", "s = S()", "sent_to(s)", "s.n = N"),
    Construct(
        "accumulate by a lambda",
        "s = [0]",
        "list(itertools.accumulate(s, lambda a, b: b))[-1]",
        "s[0] = N",
    ),
    Construct(
        "groupby a lambda",
        "s = [0]",
        "[k for k, _ in itertools.groupby(s, lambda x: x)][0]",
        "s[0] = N",
    ),
    Construct(
        "takewhile a lambda", "s = [0]", "list(itertools.takewhile(lambda x: 1, s))[0]", "s[0] = N"
    ),
    Construct("filter by a lambda", "s = [0]", "[*filter(lambda x: x > 0, s), 0][0]", "s[0] = N"),
    Construct(
        "reduce by a lambda", "s = [0]", "functools.reduce(lambda a, b: b, s, 0)", "s[0] = N"
    ),
    Construct("sum of objects", _SAME, "sum(s)", "s[0].n = N"),
    Construct("object in a list", _SAME, _MEMBER, "s[0].n = N"),
    Construct("count of an object", _SAME, "s.count(Same(1)) + 2 * s.count(Same(2))", "s[0].n = N"),
    Construct("remove of an object", _SAME, "s[0].n", "s.append(Same(N)); s.remove(Same(N - 1))"),
    Construct("object as key", _KEYED, "s[Same(7)]", "s[Same(7)] = N"),
    Construct("get by an object", _KEYED, "s.get(Same(7), 0)", "s.update({Same(7): N})"),
    Construct(
        "defaultdict with a lambda",
        "s = collections.defaultdict(lambda: 0)",
        "s['n']",
        "s.pop('n', None); s['n'] = N",
    ),
    Construct("insort by a key", "s = [0]", "s[-1]", "bisect.insort(s, N, key=lambda x: x)"),
    Construct(
        "heap of objects",
        _SAME,
        "-s[0].n",
        "try: heapq.heappush(s, Same(-N))\nexcept RuntimeError: pass",
    ),
    Construct("iter of a callable", "s = S()", "next(iter(lambda: s.n, -1))", "s.n = N"),
    Construct(
        "re.sub with a function", "s = S()", "int(re.sub('x', lambda m: str(s.n), 'x'))", "s.n = N"
    ),
    Construct(
        "json.dumps with a default",
        "s = S()",
        "json.loads(json.dumps([s], default=lambda o: o.n))[0]",
        "s.n = N",
    ),
    Construct("max by a method of the dict", "s = {'a': 0}", "s[max(s, key=s.get)]", "s['a'] = N"),
    Construct("all of a generator", "s = [0]", _ALL, "s[0] = N"),
    Construct("zip of map", "s = [0]", "list(zip(map(lambda x: x, s), s))[0][1]", "s[0] = N"),
    Construct(
        "dict from a generator", "s = {'n': 0}", "dict((k, s[k]) for k in s)['n']", "s['n'] = N"
    ),
    Construct(
        "decorated function bound anew",
        "def s(): return 0",
        "s()",
        "@as_it_is\ndef s(made=N): return made",
        "nonlocal s",
    ),
)
