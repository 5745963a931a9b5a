"""Proofs as tables: what a text means, what an action changes, and what is refused."""

import pytest

from wheelproof_lab.prove.finite import Finite, Run
from wheelproof_lab.prove.tables import Document, Written
from wheelproof_lab.prove.tla import module_text, text

DOCUMENT: Document = {
    "sorts": {
        "Thread": {"tla": "Threads", "variables": "t u"},
        "Step": {"words": "In Out Away"},
    },
    "fields": {
        "Guests": "Thread; rigid set",
        "likes": "Thread Thread; one",
        "coins": "Thread -> Int",
        "pc": "Thread -> Step",
        "seen": "Thread; hidden; Seen({0})",
        "till": "-> Int",
    },
    "sets": {"HERE": "In Out"},
    "define": {"rich t": "coins(t) > 1", "anybody": "some u: rich(u)"},
    "initial": {"till": "3"},
    "actions": {"In": "t @ Guests(t); pc := Out; likes(t) := t"},
    "clauses": {"Few": "all t: coins(t) < 9"},
    "proof": {"name": "p", "summary": "", "clauses_in": "", "models": "M", "instances": "two"},
    "instances": {"two": {"Thread": "a b", "Guests": "b"}},
    "variants": {
        "odd": {
            "summary": "",
            "action": "In",
            "clause": "Few",
            "actions": {"In": "t @ ; coins(t) := 9"},
        }
    },
}
WRITTEN = Written(DOCUMENT)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("all t: Guests(t) & rich(t) => pc(t) in {HERE, Away}",
         '(\\A x \\in Threads : (~((x \\in Guests) /\\ (1 < coins[x])) \\/ '
         '(pc[x] \\in {"In", "Out", "Away"})))'),
        ("till - 1 * 2 >= 0 | TRUE & FALSE", "(((till - (1 * 2)) >= 0) \\/ (TRUE /\\ FALSE))"),
        ("anybody <=> some t u: likes(t, u) & t != u",
         "((\\E x \\in Threads : (1 < coins[x])) = (\\E x \\in Threads : "
         "(\\E y \\in Threads : ((likes[x] = y) /\\ ~(x = y)))))"),
        ("(if till = 3 then 1 else sum t: coins(t)) = 1",
         "((IF (till = 3) THEN 1 ELSE SumOf(LAMBDA x : coins[x], Threads)) = 1)"),
        ("all t: seen(t) => till' = till",
         "(\\A x \\in Threads : (~(Seen(x)) \\/ (till' = till)))"),
    ],
)  # fmt: skip
def test_a_text_as_tla(said: str, meant: str) -> None:
    assert text(WRITTEN.words.term(said)) == meant


def test_variables_that_are_bound_together_share_a_line() -> None:
    likes = "likes(t, u) & coins(t) > 1 & coins(u) > 1 => "
    clauses = {
        "Pairs": f"all t: all u: {likes} t = u | rich(t)",
        "Others": f"all t: some u: {likes} t = u | rich(t)",
    }
    found = module_text("M", "N", "", [Written({**DOCUMENT, "clauses": clauses}).proof()])
    lines = [line.strip() for line in found.splitlines() if "\\in Threads" in line]
    both, one, other = lines
    assert both == "\\A x \\in Threads, y \\in Threads :"
    assert (one, other.partition(" :")[0]) == ("\\A x \\in Threads :", "\\E y \\in Threads")


def test_the_same_text_is_the_same_sum() -> None:
    one, two = (WRITTEN.words.term("(sum t: coins(t)) = 1") for _ in range(2))
    assert one.parts[0] is two.parts[0]


@pytest.mark.parametrize(
    ("changed", "table"),
    [
        ("coins(t) := 5", {"coins": {("a",): 0, ("b",): 5}}),
        ("coins(u) := till", {"coins": {("a",): 3, ("b",): 3}}),
        ("likes(t) := t", {"likes": [("b", "b")]}),
        ("likes(t, u) := u != t", {"likes": [("b", "a")]}),
        ("likes(u) := t", {"likes": [("a", "b"), ("b", "b")]}),
        ("likes(t) := NONE; till := till + 1", {"likes": [], "till": {(): 4}}),
        ("pc := Away", {"pc": {("a",): "In", ("b",): "Away"}}),
    ],
)
def test_changes(changed: str, table: dict[str, object]) -> None:
    world = Finite(tuple(WRITTEN.fields.values()), {WRITTEN.sorts["Thread"]: ("a", "b")})
    first = world.changed(WRITTEN.system().initial, (False,) * 13, {})
    action = WRITTEN.words.action("In", f"t @ Guests(t); {changed}")
    after = world.changed(action.changes, first, {"t": 1})
    for name, expected in table.items():
        found = world.table(WRITTEN.fields[name], after)
        holds = [place for place, value in found.items() if value]
        assert (holds if isinstance(expected, list) else found) == expected


def test_a_proof_and_its_variant() -> None:
    proof = WRITTEN.proof()
    run = Run(proof.system, proof.instance)
    assert [step.label for _, steps in run.states() for step in steps] == ["In(b)"]
    (variant,) = proof.variants
    assert [len(one.system.actions[0].changes) for one in (proof, variant)] == [2, 1]
    assert (proof.models, proof.size()) == (("M",), 1 + 1 + 2)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("all t: rich(t", r"\) belongs before '' in"),
        ("till = 3 4", "the end belongs before '4' in"),
        ("till = lost", "'lost' is not known in"),
        ("all q: TRUE", "no sort has variables like q"),
        ("till # 3", "a sign is not known in"),
        ("all t: pc(t) = 3", "a term of Int stands where Step belongs"),
    ],
)
def test_what_is_refused(wrong: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        WRITTEN.words.term(wrong)
