"""State of packages that are installed: the model checker does not look into their code."""

from wheelproof_lab.worlds.constructs.construct import Construct, made_before

_IMPORT = "import constructs_installed as kit"


def _kit(name: str, made: str, read: str, write: str, lock: str = "lock") -> Construct:
    before = f"{_IMPORT}\n{made}".strip()
    return made_before(f"package: {name}", before, read, write, lock=lock)


def _standard(name: str, before: str, read: str, write: str) -> Construct:
    return made_before(f"library: {name}", before, read, write)


_SIGNAL = "c = S(); s = kit.Signal(); s.connect(lambda v: setattr(c, 'n', v))"
_MEMO = "c = S()\n@kit.memo\ndef s(): return c.n"
_BELOW = "class Below(kit.Cache): pass\ns = Below()"
_OWN_FIELD = "class Own:\n    n = kit.Field()\ns = Own()"
_DATABASE = """s = sqlite3.connect(':memory:', check_same_thread=False, isolation_level=None)
s.execute('create table t (n)')
s.execute('insert into t values (0)')"""

OF_PACKAGES: tuple[Construct, ...] = (
    _kit("variable by functions", "", "kit.count()", "kit.set_count(N)"),
    _kit("variable that is written from outside", "", "kit.get_limit()", "kit.limit = N"),
    _kit("variable that is read from outside", "", "kit.limit", "kit.set_limit(N)"),
    _kit("dict by functions", "", "kit.get('n')", "kit.put('n', N)"),
    _kit("dict that is read from outside", "", "kit.store['n']", "kit.put('n', N)"),
    _kit("object behind two functions", "", "kit.get_kept('n')", "kit.keep('n', N)"),
    _kit("singleton", "", "kit.instance().n", "kit.instance().n = N"),
    _kit("lru_cache", "", "kit.settings()['n']", "kit.settings()['n'] = N"),
    _kit("object", "s = kit.Cache()", "s.get('n')", "s.put('n', N)"),
    _kit("object of the package", "", "kit.cache.get('n')", "kit.cache.put('n', N)"),
    _kit("items of an object", "s = kit.Cache()", "s['n']", "s['n'] = N"),
    _kit("cache that a look changes", "s = kit.Recent()", "s.get('n')", "s.put('n', N)"),
    _kit("items of such a cache", "s = kit.Recent()", "s['n']", "s['n'] = N"),
    _kit("class below dict that a look changes", "s = kit.Looked()", "s['n']", "s['n'] = N"),
    _kit("comparison", "s = kit.Value()", "(0 if s == 0 else s.n)", "s.n = N"),
    _kit(
        "object in a list",
        "s = kit.Value(); t = [s]",
        "(1 - t.count(0) if s.n < 2 else 2)",
        "s.n = N",
    ),
    _kit("index", "s = kit.Value()", "[*range(20)][s]", "s.n = N"),
    _kit("class of a metaclass", "s = kit.Counted", "len(s)", "s.put(N)"),
    _kit("iterator that a step changes", "s = kit.Countdown()", "next(iter(s))", "s.put(N)"),
    _kit("object of a class below", _BELOW, "s.get('n')", "s.put('n', N)"),
    _kit("slot", "s = kit.Counter()", "s.get()", "s.set(N)"),
    _kit("property", "s = kit.Value()", "s.n", "s.n = N"),
    _kit("descriptor", "s = kit.Model()", "s.n", "s.n = N"),
    _kit("descriptor in one's own class", _OWN_FIELD, "s.n", "s.n = N"),
    _kit("class attribute", "", "kit.Cache.limit", "kit.Cache.limit = N"),
    _kit("class methods", "", "kit.Registry.get('n')", "kit.Registry.put('n', N)"),
    _kit("dict of a class", "", "kit.Registry.kept['n']", "kit.Registry.put('n', N)"),
    _kit("callable object", "s = kit.Box()", "s()", "s(N)"),
    _kit("context manager", "s = kit.Box()", "s()", "with kit.Assigning(s, N): pass"),
    _kit("generator as context manager", "", "kit.count()", "with kit.setting(N): pass"),
    _kit("two objects of one variable", "", "kit.Handle('n').get()", "kit.Handle('n').put(N)"),
    _kit("initialiser", "", "kit.latest()", "kit.Registered(N)"),
    _kit("class below dict", "s = kit.Hits()", "s.hits", "s.hits = N"),
    _kit("closures", "get, put = kit.pair()", "get()", "put(N)"),
    _kit("decorator that keeps a result", _MEMO, "s()", "c.n = N; s.forget()"),
    _kit("functions that it calls", _SIGNAL, "c.n", "s.send(N)"),
    _kit("iterator", "s = kit.Numbers()", "[x for x in s][0]", "s.put(N)"),
    _kit("generator", "s = kit.Numbers()", "next(s.walk())", "s.put(N)"),
    _kit("lock of an object", "s = kit.Guarded(); c = S()", "c.n", "c.n = N", "s.lock"),
    _kit("lock as a context manager", "s = kit.Guarded(); c = S()", "c.n", "c.n = N", "s"),
    _kit("lock of the package", "c = S()", "c.n", "c.n = N", "kit.get_lock()"),
    _standard(
        "Element",
        "import xml.etree.ElementTree as tree; s = tree.Element('a', n='0')",
        "int(s.get('n'))",
        "s.set('n', str(N))",
    ),
    _standard(
        "text of an Element",
        "import xml.etree.ElementTree as tree; s = tree.Element('a')",
        "int(s.text or 0)",
        "s.text = str(N)",
    ),
    _standard("Namespace", "import argparse; s = argparse.Namespace(n=0)", "s.n", "s.n = N"),
    _standard(
        "Message",
        "import email.message; s = email.message.Message(); s['n'] = '0'",
        "int(s['n'])",
        "s.replace_header('n', str(N))",
    ),
    _standard(
        "decimal context",
        "import decimal; s = decimal.Context(prec=1)",
        "s.prec - 1",
        "s.prec = N + 1",
    ),
    _standard("number of ctypes", "import ctypes; s = ctypes.c_int(0)", "s.value", "s.value = N"),
    _standard(
        "database in memory",
        _DATABASE,
        "s.execute('select n from t').fetchone()[0]",
        "s.execute('update t set n = ?', (N,))",
    ),
)
