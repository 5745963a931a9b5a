"""The nodes of Python's grammar that read or write: statements, expressions, targets, patterns."""

from wheelproof_lab.worlds.constructs.construct import Construct

_BOX = "s = S()"
_LIST = "s = [0]"

GRAMMAR: tuple[Construct, ...] = (
    Construct("target of for", _BOX, "s.n", "for s.n in (N,):\n    pass"),
    Construct("item as target of for", _LIST, "s[0]", "for s[0] in (N,):\n    pass"),
    Construct("target of with", _BOX, "s.n", "with contextlib.nullcontext(N) as s.n:\n    pass"),
    Construct(
        "tuple as target of with",
        _BOX,
        "s.n",
        "with contextlib.nullcontext((N, 0)) as (s.n, _):\n    pass",
    ),
    Construct("what with unpacks", _LIST, "unpacked_by_with(s)", "s[0] = N"),
    Construct("target of a comprehension", _BOX, "s.n", "[0 for s.n in [N]]"),
    Construct("item as target of a comprehension", _LIST, "s[0]", "{0 for s[0] in [N]}"),
    Construct(
        "what a comprehension unpacks", "s = [0]; t = [s]", "[x for (x,) in t][0]", "s[0] = N"
    ),
    Construct("what a for loop unpacks", "s = [0]; t = [s]", "unpacked_by_for(t)", "s[0] = N"),
    Construct("tuple as target", _BOX, "s.n", "(s.n, _) = N, 0"),
    Construct("list as target", _BOX, "s.n", "[s.n, *_] = [N]"),
    Construct("star as target", "s = S(); s.n = [0]", "s.n[0]", "_, *s.n = 0, N"),
    Construct("nested target", _LIST, "s[0]", "_, (s[0], _) = 0, (N, 0)"),
    Construct("two targets", _BOX, "s.n", "_ = s.n = N"),
    Construct("augmented attribute", _BOX, "s.n", "s.n += N - s.n"),
    Construct("augmented item", _LIST, "s[0]", "s[0] += N - s[0]"),
    Construct("augmented variable", "c = 0", "c", "c += N - c", "nonlocal c"),
    Construct("augmented global", "global G; G = 0", "G", "G += N - G", "global G"),
    Construct("annotated target", _BOX, "s.n", "s.n: int = N"),
    Construct("del of an attribute", _BOX, "getattr(s, 'n', 0)", "s.n = 0\ndel s.n\ns.n = N"),
    Construct(
        "del of an item", "s = {'n': 0}", "s.get('n', 0)", "s['n'] = 0\ndel s['n']\ns['n'] = N"
    ),
    Construct("del of a slice", _LIST, "sum(s)", "del s[:]\ns.append(N)"),
    Construct("slice", "s = [0, 0]", "s[0:1][0]", "s[0:1] = [N]"),
    Construct("slice with a step", "s = [0, 0]", "s[::-1][1]", "s[::2] = [N]"),
    Construct("slice object", "s = [0, 0]", "s[slice(0, 1)][0]", "s[slice(0, 1)] = [N]"),
    Construct("index", _BOX, "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14][s.n]", "s.n = N"),
    Construct("and", _BOX, "(1 and s.n)", "s.n = N"),
    Construct("or", _BOX, "(0 or s.n)", "s.n = N"),
    Construct("not", _BOX, "(0 if not s.n else s.n)", "s.n = N"),
    Construct("conditional", _BOX, "(s.n if s else 0)", "s.n = N"),
    Construct(
        "chained comparison", _BOX, "(1 if 0 < s.n < 2 else 2 if 1 < s.n < 3 else 0)", "s.n = N"
    ),
    Construct(
        "is",
        "s = [None]",
        "(2 if s[0] is TWO else 1 if s[0] is ONE else 0)",
        "s[0] = {1: ONE}.get(N, TWO)",
    ),
    Construct(
        "not in", _LIST, "(0 if 1 not in s and 2 not in s else 2 if 2 in s else 1)", "s[0] = N"
    ),
    Construct("sign", _BOX, "- -s.n", "s.n = N"),
    Construct("lambda", _BOX, "(lambda: s.n)()", "(lambda v: setattr(s, 'n', v))(N)"),
    Construct("default of a lambda", _BOX, "(lambda n=s.n: n)()", "s.n = N"),
    Construct("default of a function", _BOX, "defaulted(s)", "s.n = N"),
    Construct("annotation", _BOX, "annotated(s)", "s.n = N"),
    Construct("decorator", _BOX, "decorated(s)", "s.n = N"),
    Construct("while", _BOX, "looped(s)", "s.n = N"),
    Construct("assert", _BOX, "asserted(s)", "s.n = N"),
    Construct("raise", _BOX, "raised(s)", "s.n = N"),
    Construct("except", _BOX, "caught(s)", "s.n = N"),
    Construct("except star", _BOX, "grouped(s)", "s.n = N"),
    Construct("finally", _BOX, "s.n", "at_last(s, N)"),
    Construct("yield", _BOX, "next(yielding(s))", "s.n = N"),
    Construct("yield from", _LIST, "next(delegating(s))", "s[0] = N"),
    Construct("send", _BOX, "s.n", "sent(s, N)"),
    Construct("close of a generator", _BOX, "s.n", "closed(s, N)"),
    Construct("await", _BOX, "by_hand(awaiting(s))", "s.n = N"),
    Construct("async for", _BOX, "by_hand(async_for(s))", "s.n = N"),
    Construct("async with", _BOX, "by_hand(async_with(s))", "s.n = N"),
    Construct("async comprehension", _BOX, "by_hand(async_comprehension(s))", "s.n = N"),
    Construct("async generator", _BOX, "by_hand(async_generator(s))", "s.n = N"),
    Construct("format specification", _BOX, "len(f\"{'':>{s.n}}\")", "s.n = N"),
    Construct("conversion", _LIST, "int(f'{s!r}'[1:-1])", "s[0] = N"),
    Construct("display of a dict", _BOX, "max({s.n: 0})", "s.n = N"),
    Construct("star in a set", _LIST, "max({*s})", "s[0] = N"),
    Construct("star in a tuple", _LIST, "(*s, 0)[0]", "s[0] = N"),
    Construct(
        "condition of a comprehension", _LIST, "sum([1 for x in (1, 2) if x <= s[0]])", "s[0] = N"
    ),
    Construct(
        "two loops of a comprehension",
        "s = [0]; t = [s]",
        "[x for y in t for x in y][0]",
        "s[0] = N",
    ),
    Construct("walrus in a comprehension", _LIST, "[y := x for x in s][0]", "s[0] = N"),
    Construct("from import", "m = sys.modules['made_up'] = S()", "imported()", "m.n = N"),
    Construct("pattern of a class", _BOX, "matched_class(s)", "s.n = N"),
    Construct("pattern of a mapping", "s = {'n': 0}", "matched_mapping(s)", "s['n'] = N"),
    Construct("pattern with a star", _LIST, "matched_star(s)", "s[0] = N"),
    Construct("pattern with or", _LIST, "matched_or(s)", "s[0] = N"),
    Construct("pattern of a value", _BOX, "matched_value(s)", "s.n = N"),
    Construct("guard of a pattern", _BOX, "matched_guard(s)", "s.n = N"),
    Construct(
        "name of a pattern", "c = 0", "c", "match N:\n    case c:\n        pass", "nonlocal c"
    ),
    Construct(
        "star of a pattern",
        "c = [0]",
        "c[0]",
        "match [N]:\n    case [*c]:\n        pass",
        "nonlocal c",
    ),
    Construct(
        "rest of a pattern",
        "c = {1: 0}",
        "c[1]",
        "match {0: 0, 1: N}:\n    case {0: 0, **c}:\n        pass",
        "nonlocal c",
    ),
    Construct(
        "name of an exception",
        "c = S()",
        "seen_by_name(c)",
        "try:\n    raise Told(N)\nexcept Told as error:\n    c.n = error.n",
    ),
    Construct(
        "variable that holds an error",
        "c = Told(0)",
        "c.n",
        "try:\n    raise Told(N)\nexcept Told as e:\n    c = e",
        "nonlocal c",
    ),
    Construct(
        "function in try",
        "def c(): return 0",
        "c()",
        "try:\n    def c(made=N): return made\nfinally:\n    pass",
        "nonlocal c",
    ),
    Construct("two variables", "c = [0]; d = c", "d[0]", "c[0] = N"),
    Construct("closure", _BOX, "closure(s)[0]()", "closure(s)[1](N)"),
    Construct("super", "s = Child()", "s.look()", "s.put(N)"),
    Construct("name of a class inside", "Holder.n = 0", "Holder.look()", "Holder.put(N)"),
    Construct("private name", "s = Private()", "s.look()", "s.put(N)"),
)
