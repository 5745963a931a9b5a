"""The proofs of MaybeTryComplete's own text: a defect that is put into it is not proved."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from wheelproof_lab.prove import ties
from wheelproof_lab.prove.all_proofs import listed
from wheelproof_lab.prove.obligations import carry_out
from wheelproof_lab.prove.purgatory.completion import MODULE, SORTS, derived, instance
from wheelproof_lab.prove.system import Tie
from wheelproof_lab.prove.text.derive import Derived, Source
from wheelproof_lab.prove.text.sany import folders, parse
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.verdicts import Verdict

pytestmark = [pytest.mark.slow, pytest.mark.long]

SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A change of the text: `proof` is the proof that it must break, `broken` an obligation."""

    proof: str
    old: str
    new: str
    broken: str = ""


ATTACKS = {
    "the state is set without a test of what it was": Attack(
        proof="monitor",
        old="    /\\ IF Done\n       THEN /\\ Go(t, Refused(t))",
        new="    /\\ IF FALSE\n       THEN /\\ Go(t, Refused(t))",
        broken="ForceComplete: AnsweredUnlessThatIsUnderWay",
    ),
    "the lock is taken from whoever has it": Attack(
        proof="blocking",
        old="    /\\ lock = None\n    /\\ lock' = t\n    /\\ Go(t, CASE",
        new="    /\\ lock' = t\n    /\\ Go(t, CASE",
        broken="Lock: TheLockIsHeldInside",
    ),
    "the lock is not given back": Attack(
        proof="monitor",
        old="    /\\ lock' = None\n    /\\ Go(t, CASE pc",
        new="    /\\ lock' = lock\n    /\\ Go(t, CASE pc",
        broken="Unlock: TheLockIsHeldInside",
    ),
    "the state is not read again under the lock": Attack(
        proof="blocking",
        old='[] OTHER -> "IsDoneUnderLock"',
        new='[] OTHER -> "TryComplete"',
        broken="Lock: NoTryBeginsAfterCompletion",
    ),
    "an expiry does not wait for the lock": Attack(
        proof="exclusive",
        old='IF lock = t THEN "ForceComplete" ELSE "ForceLock"',
        new='"ForceComplete"',
        broken="IsDone (ForceIsDone): TheLockIsHeldInside",
    ),
    "an expiry is told whoever has completed the operation": Attack(
        proof="exclusive",
        old='IF ender = t THEN "OnExpiration" ELSE "Done"',
        new='"OnExpiration"',
        broken="Unlock: WhoeverAnswersCompletedIt",
    ),
    "an expiry is never told": Attack(
        proof="exclusive",
        old='IF ender = t THEN "OnExpiration" ELSE "Done"',
        new='"Done"',
        broken="Unlock: ExpiryIsToldLast",
    ),
    "on_complete is not run": Attack(
        proof="monitor",
        old="    /\\ answers' = answers + 1\n",
        new="    /\\ answers' = answers\n",
        broken="OnComplete: AnsweredUnlessThatIsUnderWay",
    ),
    "a trigger leaves if somebody has the lock": Attack(
        proof="blocking",
        old='IF Done THEN "Done" ELSE IF Waits',
        new='IF Done \\/ lock # None THEN "Done" ELSE IF Waits',
        broken="IsDone (IsDone): OwedIsLookedAt",
    ),
    "whoever finds the lock taken does not set the flag": Attack(
        proof="flag",
        old='"ClearPending" ELSE "SetPending"',
        new='"ClearPending" ELSE "Done"',
        broken="TryLock: OwedIsWatched",
    ),
    "whoever reads the flag does not try again": Attack(
        proof="flag",
        old="    /\\ retry' = [retry EXCEPT ![t] = pending]",
        new="    /\\ retry' = [retry EXCEPT ![t] = FALSE]",
        broken="ReadPending: OwedIsWatched",
    ),
    "the flag is cleared by whoever sets it": Attack(
        proof="flag",
        old="    /\\ pending' = TRUE",
        new="    /\\ pending' = FALSE",
        broken="SetPending: OwedIsWatched",
    ),
}

HARMLESS = {
    "conjuncts and sums in another order": Attack(
        proof="exclusive",
        old="    /\\ events' = events + 1\n    /\\ owed' = owed \\cup {t}\n",
        new="    /\\ owed' = {t} \\cup owed\n    /\\ events' = 1 + events\n",
    ),
    "a LET more": Attack(
        proof="flag",
        old="    LET won == lock = None IN\n    /\\ pc",
        new=(
            "    LET mine == lock = None\n"
            "        won == IF mine THEN TRUE ELSE FALSE\n"
            "    IN\n    /\\ pc"
        ),
    ),
    "IF the other way round": Attack(
        proof="monitor",
        old="/\\ lock' = IF won THEN t ELSE lock",
        new="/\\ lock' = IF ~won THEN lock ELSE t",
    ),
}


def open_ones(attack: Attack, folder: Path) -> Sequence[str]:
    """Return the obligations of a proof that are not met, with the text changed."""
    module = tla_directory() / "purgatory" / "MaybeTryComplete.tla"
    text = module.read_text(encoding="utf-8")
    assert text.count(attack.old) == 1
    (folder / module.name).write_text(text.replace(attack.old, attack.new), encoding="utf-8")
    clauses = tla_directory() / f"{MODULE}.tla"
    shutil.copy(clauses, folder)
    others = [one for one in folders() if one != module.parent]
    shutil.copy(module.parent / "DelayedOperation.tla", folder)
    (one,) = (one for one in listed() if one.name == f"maybe-try-complete-{attack.proof}")
    proof = one.make()
    system = Derived(
        Source(
            module=parse(folder / clauses.name, (folder, *others)),
            sorts=SORTS,
            given={"Discipline": {"flag": "try_lock_pending"}.get(attack.proof, attack.proof)},
            assuming=("NobodyInterferes",) if attack.proof == "flag" else (),
        )
    ).system
    attacked = replace(proof, system=system, variants=())
    results = carry_out(attacked, seconds=SECONDS)
    return [one.name for one in results if one.verdict is not Verdict.PASS]


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=[*ATTACKS])
def test_a_defect_in_the_text_is_not_proved(attack: Attack, tmp_path: Path) -> None:
    assert attack.broken in open_ones(attack, tmp_path)


@pytest.mark.parametrize("change", HARMLESS.values(), ids=[*HARMLESS])
def test_a_harmless_change_of_the_text_is_proved(change: Attack, tmp_path: Path) -> None:
    assert open_ones(change, tmp_path) == []


@pytest.mark.parametrize("discipline", ["try_lock_pending", "exclusive"])
def test_the_translation_has_the_graph_of_tlc(discipline: str) -> None:
    small = instance("t1", "t2", holders=("h",), raises=("t2",))
    system = derived(discipline)
    (proof,) = (
        one.make()
        for one in listed()
        if one.name == f"maybe-try-complete-{discipline.replace('_', '-')}"
    )
    names = ("Triggers", "Timers", "Holders", "Restless", "Raising", "Needed", "Stubborn")
    tie = Tie(
        module="MCMaybeTryComplete",
        constants={"Discipline": discipline},
        fields=tuple(system.fields[name] for name in names),
        instance=small,
    )
    # What never happens for any number of threads does not happen here.
    results = ties.carry_out(replace(proof, ties=(tie,), untied=proof.never))
    assert [(one.verdict, one.details) for one in results] == [(Verdict.PASS, "")] * 2
