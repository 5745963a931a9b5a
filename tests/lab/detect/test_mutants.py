"""Mutants: what the operators make of a small module, and that a mutant is found again."""

import pytest

from wheelproof_lab.detect.mutation.mutants import mutants_of, mutated

_MODULE = '''
class Pool:
    def take(self, size: int = 1) -> int:
        """Take."""
        with self._lock:
            found = self._free[0]
            self._free = self._free[1:]
        while found < size and not self._closed:
            self._cond.wait(size, found)
        return found

    def put(self, x: int) -> None:
        with self._lock, self._other:
            self._free.append(x)
            self._cond.notify()
        if x > 0:
            raise ValueError(x)
        self._count.add_and_get(max(x, 1))
'''

_EXPECTED = {
    ("lock dropped", "found = self._free[0]"),
    ("read before lock", "found = self._free[0]"),
    ("released before write", "self._free = self._free[1:]"),
    ("swapped locks", "with self._other, self._lock:"),
    ("if for while", "if found < size and (not self._closed):"),
    ("comparison", "while found <= size and (not self._closed):"),
    ("boolean", "while found < size or not self._closed:"),
    ("condition left out", "while found < size:"),
    ("negation", "while found < size and self._closed:"),
    ("constant", "found = self._free[1]"),
    ("swapped arguments", "self._cond.wait(found, size)"),
    ("signal for one or all", "self._cond.notify_all()"),
    ("deletion", "pass"),
    ("guard always", "raise ValueError(x)"),
    ("swapped statements", "+ self._cond.notify()"),
    (
        "atomic step in two",
        "(self._count.set(self._count.get() + max(x, 1)), self._count.get())[1]",
    ),
}


def test_the_operators_make_what_they_say() -> None:
    found = [*mutants_of("pool", _MODULE)]
    assert len({mutant.id for mutant in found}) == len(found)
    for operator, line in _EXPECTED:
        assert any(mutant.operator == operator and line in mutant.becomes for mutant in found), (
            operator
        )


def test_a_mutant_is_the_module_with_one_change() -> None:
    texts = [mutated("pool", _MODULE, mutant.id) for mutant in mutants_of("pool", _MODULE)]
    assert len(set(texts)) > len(texts) * 0.9
    for text in texts:
        compile(text, "pool", "exec")
        # Docstrings and annotations are no code.
        assert '"""Take."""' in text
        assert "max(1, x)" not in text, "it does the same"
        assert "size: int=1" in text or "size: int=2" in text


def test_an_id_says_which_function_it_was_of() -> None:
    first = next(mutants_of("pool", _MODULE))
    changed = _MODULE.replace("[1:]", "[2:]")
    assert first.id not in {mutant.id for mutant in mutants_of("pool", changed)}
    with pytest.raises(LookupError):
        mutated("pool", changed, first.id)
