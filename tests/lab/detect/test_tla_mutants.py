"""Mutants of TLA+: what the operators make of a small module; properties are left alone."""

import pytest

from wheelproof_lab.detect.mutation.tla_mutants import mutated_tla, tla_mutants

_MODULE = r"""---- MODULE Small ----
(* x # 1 is a comment *)
VARIABLES x, pc
Init ==
    /\ x = 0
    /\ pc = "a"
Add ==
    /\ x < 3  \* 3 > 2
    /\ ~Done(x)
    /\ x' = x + 1
    /\ Go(t, "a")
Again == x # 0 \/ Go(t, "b")
Mixed == x = 1 /\ (pc = "b" /\ x = 2 \/ x = 3)
Bounded == x < 5
====
"""

_CHOSEN = ({"Init", "Add", "Again", "Mixed"}, {"Add", "Go"})

_EXPECTED = {
    ("guard left out", "/\\ TRUE"),
    ("update left out", "/\\ x' = x"),
    ("comparison", 'Again == x = 0 \\/ Go(t, "b")'),
    ("boundary", "/\\ x <= 3"),
    ("arithmetic", "/\\ x' = x - 1"),
    ("boolean", 'Again == x # 0 /\\ Go(t, "b")'),
    ("negation", "/\\ Done(x)"),
    ("constant", "/\\ x = 1"),
    ("another step", '/\\ Go(t, "b")'),
}


def test_the_operators_make_what_they_say() -> None:
    found = [*tla_mutants("Small", _MODULE, *_CHOSEN)]
    assert len({mutant.id for mutant in found}) == len(found)
    made = {(mutant.operator, mutant.becomes.partition(" / + ")[2]) for mutant in found}
    assert made >= _EXPECTED
    assert not any("Bounded" in mutant.id or "comment" in mutant.becomes for mutant in found)
    # Without a next value for a variable it is none; a mixture of operators is none, either.
    assert not any(
        "- /\\ Go" in mutant.becomes and "/\\ TRUE" in mutant.becomes for mutant in found
    )
    mixed = [mutant.becomes for mutant in found if mutant.id.startswith("tla:Small.Mixed/boolean")]
    assert [becomes.partition(" / + ")[2] for becomes in mixed] == [
        'Mixed == x = 1 \\/ (pc = "b" /\\ x = 2 \\/ x = 3)'
    ]
    # A first state without a value for a variable is none.
    assert not any(".Init/guard" in mutant.id for mutant in found)


def test_a_mutant_is_the_module_with_one_line_changed() -> None:
    for mutant in tla_mutants("Small", _MODULE, *_CHOSEN):
        lines = mutated_tla("Small", _MODULE, *_CHOSEN, mutant.id).splitlines()
        changed = [at for at, line in enumerate(_MODULE.splitlines()) if line != lines[at]]
        assert changed == [mutant.line - 1]
    with pytest.raises(LookupError):
        mutated_tla("Small", _MODULE, *_CHOSEN, "tla:Small.Gone/boundary/1")
