"""The proof of AppendsInProgress's own text: a defect that is put into it is not proved."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from wheelproof_lab.prove import ties
from wheelproof_lab.prove.accumulator.catalog import MODULE, PROOFS, derived, source
from wheelproof_lab.prove.obligations import carry_out
from wheelproof_lab.prove.system import Tie
from wheelproof_lab.prove.text.derive import Derived
from wheelproof_lab.prove.text.sany import folders, parse
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.verdicts import Verdict

pytestmark = [pytest.mark.slow, pytest.mark.long]

SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of the text, and an obligation that it must break; none, if it is harmless."""

    old: str
    new: str
    broken: str = ""


ATTACKS = {
    "an append does not wait for the lock": Change(
        old='    /\\ pc[a] = "Begin"\n    /\\ lock = None\n',
        new='    /\\ pc[a] = "Begin"\n',
        broken="Begin: TheLockIsHeldInside",
    ),
    "an append that ends is still counted": Change(
        old="/\\ count' = count - 1",
        new="/\\ count' = count",
        broken="End: TheCountIsOfThoseUnderWay",
    ),
    "an append ends in silence": Change(
        old="/\\ asleep' = {}",
        new="/\\ asleep' = asleep",
        broken="Notify: WhoeverSleepsWillBeTold",
    ),
    "an append does not look whether the accumulator is closed": Change(
        old='IF closed THEN "End" ELSE "MakeBatch"',
        new='"MakeBatch"',
        broken="TestClosed: NobodyMakesABatchAfterTheLast",
    ),
    "a round aborts nothing": Change(
        old="/\\ batches' = {}",
        new="/\\ batches' = batches",
        broken="AbortRound: ACloserIsDoneAfterTheLastRound",
    ),
    "the round after the last append is left out": Change(
        old='IF count = 0 THEN "AbortRound" ELSE "Completed"',
        new='IF count = 0 THEN "Done" ELSE "Completed"',
        broken="AwaitTest: ACloserIsDoneAfterTheLastRound",
    ),
    "each round is taken for the last": Change(
        old="lastRound' = (count = 0)",
        new="lastRound' = TRUE",
        broken="AwaitTest: TheLastRoundEnds",
    ),
    "a closer sleeps though an append has ended": Change(
        old="count > 0 /\\ completed = seen[c]",
        new="count > 0",
        broken="AwaitTest: NobodySleepsThoughOneHasEnded",
    ),
    "a closer sleeps though nobody appends": Change(
        old="count > 0 /\\ completed = seen[c]",
        new="completed = seen[c]",
        broken="AwaitTest: WhoeverSleepsWillBeTold",
    ),
}

HARMLESS = {
    "conjuncts and sums in another order": Change(
        old="    /\\ lock' = a\n    /\\ count' = count + 1\n",
        new="    /\\ count' = 1 + count\n    /\\ lock' = a\n",
    ),
    "IF the other way round": Change(
        old='IF closed THEN "End" ELSE "MakeBatch"',
        new='IF ~closed THEN "MakeBatch" ELSE "End"',
    ),
}


def open_ones(change: Change, folder: Path) -> Sequence[str]:
    """Return the obligations that are not met, with the text changed."""
    module = tla_directory() / "producer" / "AppendsInProgress.tla"
    text = module.read_text(encoding="utf-8")
    assert text.count(change.old) == 1
    (folder / module.name).write_text(text.replace(change.old, change.new), encoding="utf-8")
    clauses = tla_directory() / f"{MODULE}.tla"
    shutil.copy(clauses, folder)
    others = [one for one in folders() if one != module.parent]
    changed = Derived(source(parse(folder / clauses.name, (folder, *others)))).system
    name = change.broken.partition(":")[0]
    # A defect is looked for in the action that has it, for the others take their time.
    some = tuple(one for one in changed.actions if name in ("", one.name))
    (one,) = PROOFS
    attacked = replace(one.make(), system=replace(changed, actions=some), variants=())
    results = carry_out(attacked, seconds=SECONDS)
    return [one.name for one in results if one.verdict is not Verdict.PASS]


@pytest.mark.parametrize("change", ATTACKS.values(), ids=[*ATTACKS])
def test_a_defect_in_the_text_is_not_proved(change: Change, tmp_path: Path) -> None:
    assert change.broken in open_ones(change, tmp_path)


@pytest.mark.parametrize("change", HARMLESS.values(), ids=[*HARMLESS])
def test_a_harmless_change_of_the_text_is_proved(change: Change, tmp_path: Path) -> None:
    assert open_ones(change, tmp_path) == []


def test_the_translation_has_the_graph_of_tlc() -> None:
    (one,) = PROOFS
    proof, fields = one.make(), derived().fields
    names = ("Appenders", "Restless", "Closers", "Closes", "SpuriousWakeUps")
    tie = Tie(
        module="MCAppendsInProgress",
        constants={},
        fields=tuple(fields[name] for name in names),
        instance=proof.instance,
    )
    results = ties.carry_out(replace(proof, ties=(tie,)))
    assert [(one.verdict, one.details) for one in results] == [(Verdict.PASS, "")] * 2
