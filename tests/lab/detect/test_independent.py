"""Statements that may be swapped: only what the text proves."""

import ast

import pytest

from wheelproof_lab.detect.mutation.independent import independent

_SAME = (
    "def __init__(self, size): self._size = size; self._free = deque()",
    "def __init__(self, size): self._size = size; self._pool = Pool(size)",
    "def __init__(self, lock): self._lock = sync.lock('l'); self._kept = lock",
    "def f(): size = 0; rest = 1",
    "def f(self): self._count = 0; self._changed.notify_all()",
    "def f(self): self._changed.notify_all(); self._count -= 1",
    "def f(a, b): require_integer('a', a, 0, MOST); require_integer('b', b, 0, MOST)",
)
_OTHER = (
    # One reads, or writes, what the other writes.
    "def __init__(self): self._lock = sync.lock('l'); self._cond = sync.condition(self._lock)",
    "def __init__(self, size): self._size = size; self._size = 1",
    "def f(): size = 0; rest = size",
    # Another thread may have the object, or the call gets it.
    "def f(self): self._size = 0; self._free = 1",
    "def __init__(self): self._size = 0; self._free = make(self)",
    "def __init__(self): start(self); self._size = 0; self._free = 1",
    "def __init__(self): self.start(); self._size = 0; self._free = 1",
    "def f(self): require_integer('a', self.a, 0); require_integer('b', self.b, 0, self.a)",
    # Both may raise, or look at what others write.
    "def __init__(self, a, b): self._a = require(a); self._b = require(b)",
    "def f(pool): size = pool.size; rest = pool.rest",
    "def f(self): self._cell.set(1); self._changed.notify_all()",
    "def f(self): self._other.notify_all(); self._changed.notify_all()",
)


@pytest.mark.parametrize(
    ("text", "same"), [*((t, True) for t in _SAME), *((t, False) for t in _OTHER)]
)
def test_only_what_the_text_proves_may_be_swapped(text: str, same: bool) -> None:
    (function,) = ast.parse(text.replace(": ", ":\n  ", 1).replace("; ", "\n  ")).body
    assert isinstance(function, ast.FunctionDef)
    assert independent(function, *function.body[-2:]) is same
