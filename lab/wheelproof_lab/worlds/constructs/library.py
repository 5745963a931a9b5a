"""Functions and classes of the standard library that read or write what they are given."""

from wheelproof_lab.worlds.constructs.construct import Construct

LIBRARY: tuple[Construct, ...] = (
    Construct("object.__getattribute__", "s = S()", "object.__getattribute__(s, 'n')", "s.n = N"),
    Construct(
        "__getattribute__ by a dot", "s = S()", "s.__getattribute__('n')", "s.__setattr__('n', N)"
    ),
    Construct(
        "type.__setattr__",
        "Kind.n = 0",
        "type.__getattribute__(Kind, 'n')",
        "type.__setattr__(Kind, 'n', N)",
    ),
    Construct("inspect.getattr_static", "s = S()", "inspect.getattr_static(s, 'n')", "s.n = N"),
    Construct("iter of a function", "s = S()", "next(iter(lambda: s.n, None))", "s.n = N"),
    Construct(
        "attrgetter in map", "s = S()", "next(map(operator.attrgetter('n'), [s]))", "s.n = N"
    ),
    Construct(
        "attrgetter of two", "s = S(); s.t = S()", "operator.attrgetter('t.n')(s)", "s.t.n = N"
    ),
    Construct(
        "attrgetter in a sum", "s = S()", "sum(map(operator.attrgetter('n'), [s]))", "s.n = N"
    ),
    Construct("attrgetter of a new attribute", "s = S()", "read_new(s)", "s.k = N"),
    Construct("copy of a new attribute", "s = S()", "vars(copy.copy(s)).get('k', 0)", "s.k = N"),
    Construct("append in a map", "s = [0]", "s[-1]", "[*map(list.append, [s], [N])]"),
    Construct("append in a sum", "s = [0]", "s[-1]", "any(map(list.append, [s], [N]))"),
    Construct("reduce in place", "s = [0]", "s[-1]", "functools.reduce(operator.iadd, [[N]], s)"),
    Construct(
        "setattr in a map", "s = S()", "s.n", "[*map(functools.partial(setattr, s, 'n'), [N])]"
    ),
    Construct("math.fsum", "s = [0]", "int(math.fsum(s))", "s[0] = N"),
    Construct(
        "re on bytes",
        "s = bytearray(b'0')",
        "ord(re.findall(b'(?s).', s)[0]) - 48",
        "s[0] = 48 + N",
    ),
    Construct(
        "methodcaller",
        "s = {'n': 0}",
        "operator.methodcaller('get', 'n')(s)",
        "operator.methodcaller('update', n=N)(s)",
    ),
    Construct(
        "max of attributes", "s = S(); t = [s]", "max(t, key=operator.attrgetter('n')).n", "s.n = N"
    ),
    Construct(
        "sorted by a lambda", "s = S(); t = [s]", "sorted(t, key=lambda o: o.n)[0].n", "s.n = N"
    ),
    Construct(
        "mapping proxy", "s = {'n': 0}; t = types.MappingProxyType(s)", "t['n']", "s['n'] = N"
    ),
    Construct("proxy of a class", "Kind.n = 0", "vars(Kind)['n']", "Kind.n = N"),
    Construct(
        "OrderedDict move_to_end",
        "s = collections.OrderedDict(a=0, b=0)",
        "(0 if s['a'] == 0 else s['a'])",
        "s['a'] = N; s.move_to_end('a')",
    ),
    Construct(
        "Counter most_common",
        "s = collections.Counter(n=0)",
        "s.most_common(1)[0][1]",
        "s['n'] = N",
    ),
    Construct("deque rotate", "s = collections.deque([0, 0])", "s[0]", "s[1] = N; s.rotate(1)"),
    Construct("deque extendleft", "s = collections.deque([0])", "s[0]", "s.extendleft([N])"),
    Construct("array append", "s = array.array('i', [0])", "s[-1]", "s.append(N)"),
    Construct("array tolist", "s = array.array('i', [0])", "s.tolist()[0]", "s[0] = N"),
    Construct("bytearray extend", "s = bytearray()", "len(s)", "s[:] = bytes(N)"),
    Construct("int.from_bytes", "s = bytearray(1)", "int.from_bytes(s, 'big')", "s[0] = N"),
    Construct("bytes", "s = bytearray(1)", "bytes(s)[0]", "s[0] = N"),
    Construct(
        "bytearray decode", "s = bytearray(b'0')", "int(s.decode())", "s[:] = str(N).encode()"
    ),
    Construct(
        "struct.unpack_from", "s = bytearray(1)", "struct.unpack_from('b', s)[0]", "s[0] = N"
    ),
    Construct("memoryview slice", "b = bytearray(1); s = memoryview(b)[:]", "s[:][0]", "b[0] = N"),
    Construct(
        "BytesIO",
        "s = io.BytesIO(b'0')",
        "int(s.getvalue())",
        "s.seek(0); s.write(str(N).encode())",
    ),
    Construct("format_map", "s = {'n': 0}", "int('{n}'.format_map(s))", "s['n'] = N"),
    Construct("percent with names", "s = {'n': 0}", "int('%(n)s' % s)", "s['n'] = N"),
    Construct("format of an attribute", "s = S()", "int('{0.n}'.format(s))", "s.n = N"),
    Construct("format of an item", "s = [0]", "int('{0[0]}'.format(s))", "s[0] = N"),
    Construct(
        "string.Template", "s = {'n': 0}", "int(string.Template('$n').substitute(s))", "s['n'] = N"
    ),
    Construct("translate", "s = {48: '0'}", "int('0'.translate(s))", "s[48] = str(N)"),
    Construct("re.sub", "s = S()", "int(re.sub('a', lambda found: str(s.n), 'a'))", "s.n = N"),
    Construct("itertools.accumulate", "s = [0]", "next(itertools.accumulate(s))", "s[0] = N"),
    Construct("itertools.islice", "s = [0, 0]", "next(itertools.islice(s, 1))", "s[0] = N"),
    Construct(
        "itertools.starmap", "s = [0]; t = [s]", "next(itertools.starmap(int, t))", "s[0] = N"
    ),
    Construct("itertools.tee", "s = [0]", "next(itertools.tee(s)[0])", "s[0] = N"),
    Construct("itertools.product", "s = [0]", "next(itertools.product(s))[0]", "s[0] = N"),
    Construct("itertools.groupby", "s = [0]", "next(itertools.groupby(s))[0]", "s[0] = N"),
    Construct("itertools.cycle", "s = [0]", "next(itertools.cycle(s))", "s[0] = N"),
    Construct("dict.fromkeys", "s = [0]", "next(iter(dict.fromkeys(s)))", "s[0] = N"),
    Construct("frozenset", "s = [0]", "max(frozenset(s))", "s[0] = N"),
    Construct("list copy", "s = [0]", "s.copy()[-1]", "s.append(N)"),
    Construct("list insert", "s = [0]", "s[0]", "s.insert(0, N)"),
    Construct("list index", "s = [0]", "(2 if s.count(2) else s.count(1))", "s[0] = N"),
    Construct("list extend", "s = [0]", "s[-1]", "s.extend([N])"),
    Construct("list sort", "s = [0]", "s[-1]", "s.append(N); s.sort()"),
    Construct("list reverse", "s = [0]", "s[0]", "s.append(N); s.reverse()"),
    Construct("__len__ by a dot", "s = []", "s.__len__()", "s[:] = [0] * N"),
    Construct("__iter__ by a dot", "s = [0]", "next(s.__iter__())", "s[0] = N"),
    Construct(
        "__contains__ by a dot",
        "s = [0]",
        "(2 if s.__contains__(2) else 1 if s.__contains__(1) else 0)",
        "s[0] = N",
    ),
    Construct("operator.concat", "s = [0]", "operator.concat(s, [])[0]", "s[0] = N"),
    Construct("operator.iadd", "s = [0]", "s[-1]", "operator.iadd(s, [N])"),
    Construct(
        "operator.contains",
        "s = [0]",
        "(2 if operator.contains(s, 2) else 1 if operator.contains(s, 1) else 0)",
        "s[0] = N",
    ),
    Construct("operator.call", "s = S()", "operator.call(lambda: s.n)", "s.n = N"),
    Construct("random.choice", "s = [0]", "random.choice(s)", "s[0] = N"),
    Construct("statistics.mean", "s = [0]", "int(statistics.mean(s))", "s[0] = N"),
    Construct("textwrap.dedent", "s = ['0']", "int(textwrap.dedent(s[0]))", "s[0] = str(N)"),
    Construct(
        "ContextVar of a list",
        "v = contextvars.ContextVar('v'); s = [0]; v.set(s)",
        "s[0]",
        "s[0] = N",
    ),
    Construct(
        "WeakValueDictionary",
        "t = S(); s = weakref.WeakValueDictionary(t=t)",
        "s['t'].n",
        "s['t'].n = N",
    ),
    Construct(
        "WeakKeyDictionary", "t = S(); s = weakref.WeakKeyDictionary({t: 0})", "s[t]", "s[t] = N"
    ),
    Construct("UserList", "s = collections.UserList([0])", "s[0]", "s[0] = N"),
    Construct("ExitStack", "s = S()", "s.n", "put_at_exit(s, N)"),
    Construct("sum of a generator", "s = [S()]", "sum(o.n for o in s)", "s[0].n = N"),
    Construct(
        "all of a generator",
        "s = [S()]",
        "(2 if all(o.n > 1 for o in s) else 1 if all(o.n for o in s) else 0)",
        "s[0].n = N",
    ),
    Construct("starred print", "s = [0]; t = io.StringIO", "printed(s)", "s[0] = N"),
    Construct("hash of a tuple", "s = S(); t = (s,)", "t[0].n", "t[0].n = N"),
    Construct(
        "nested containers",
        "s = {'a': [(0, {'n': 0})]}",
        "s['a'][0][1]['n']",
        "s['a'][0][1]['n'] = N",
    ),
    Construct("list in a tuple", "s = ([0],)", "s[0][0]", "s[0][0] = N"),
    Construct("pprint", "s = [0]", "int(pprint.pformat(s)[1:-1])", "s[0] = N"),
    Construct("csv", "s = ['0']", "int(next(csv.reader(s))[0])", "s[0] = str(N)"),
    Construct(
        "zlib",
        "s = bytearray(b'0')",
        "int(zlib.decompress(zlib.compress(s)))",
        "s[:] = str(N).encode()",
    ),
    Construct(
        "base64",
        "s = bytearray(b'0')",
        "int(base64.b64decode(base64.b64encode(s)))",
        "s[:] = str(N).encode()",
    ),
    Construct(
        "hashlib",
        "s = bytearray(b'0')",
        "HASHES[hashlib.md5(s).digest()]",
        "s[:] = str(N).encode()",
    ),
    Construct("deepcopy of an object", "s = S()", "copy.deepcopy(s).n", "s.n = N"),
    Construct(
        "json of a key",
        "s = {'a': {'n': 0}}",
        "json.loads(json.dumps(s))['a']['n']",
        "s['a']['n'] = N",
    ),
    Construct("ast.literal_eval", "s = [0]", "ast.literal_eval(str(s))[0]", "s[0] = N"),
    Construct("locals", "s = S()", "s.n", "locals()['s'].n = N"),
    Construct("function in a dict", "s = {'f': zero}", "s['f']()", "s['f'] = returning(N)"),
    Construct("function in a list", "s = [zero]", "s[0]()", "s[0] = returning(N)"),
    Construct("replaced global function", "global G; G = zero", "G()", "globals_set(returning(N))"),
    Construct("attribute of a module's function", "zero.n = 0", "zero.n", "zero.n = N"),
    Construct(
        "sys.modules", "m = sys.modules['made_up'] = S()", "sys.modules['made_up'].n", "m.n = N"
    ),
    Construct("thread attribute", "s = threading.Thread(target=zero); s.n = 0", "s.n", "s.n = N"),
    # What belongs to Python's own classes, and what their code does to it.
    Construct(
        "name of a thread",
        "s = threading.Thread(target=zero, name='0')",
        "int(s.name)",
        "s.name = str(N)",
    ),
    Construct(
        "repr of a thread",
        "s = threading.Thread(target=zero, name='0')",
        "int(repr(s).partition('(')[2].partition(',')[0])",
        "s.name = str(N)",
    ),
    Construct("value of a semaphore", "s = threading.Semaphore(0)", "s._value", "s.__init__(N)"),
    Construct(
        "parties of a barrier", "s = threading.Barrier(1)", "s.parties - 1", "s.__init__(N + 1)"
    ),
    Construct(
        "interval of a timer", "s = threading.Timer(0, zero)", "s.interval", "s.interval = N"
    ),
    Construct("items of a queue", "s = queue.Queue()", "max(s.queue, default=0)", "s.put(N)"),
    Construct(
        "heap of a queue", "s = queue.PriorityQueue()", "max(s.queue, default=0)", "s.put(N)"
    ),
    Construct(
        "callbacks of an ExitStack",
        "s = contextlib.ExitStack()",
        "len(s._exit_callbacks)",
        "s.pop_all() and [s.callback(zero) for _ in range(N)]",
    ),
    Construct(
        "result of a future",
        "s = concurrent.futures.Future()",
        "s._result or 0",
        "s.__init__() or s.set_result(N)",
    ),
    Construct(
        "text of a csv writer",
        "s = io.StringIO('0 '); w = csv.writer(s); s.read()",
        "int(s.getvalue().split()[-1])",
        "w.writerow([N])",
    ),
    Construct(
        "text of a csv DictWriter",
        "s = io.StringIO('0 '); w = csv.DictWriter(s, ['n']); s.read()",
        "int(s.getvalue().split()[-1])",
        "w.writerow({'n': N})",
    ),
    Construct("attribute of C", "s = decimal.Context(prec=1)", "s.prec - 1", "s.prec = N + 1"),
    Construct(
        "vars of an object of the library",
        "s = calendar.Calendar()",
        "vars(s)['_firstweekday']",
        "s.setfirstweekday(N)",
    ),
    Construct(
        "suite of tests",
        "s = unittest.TestSuite()",
        "s.countTestCases()",
        "s.__init__([unittest.TestCase() for _ in range(N)])",
    ),
)
