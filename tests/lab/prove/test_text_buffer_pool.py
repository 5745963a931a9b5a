"""The proof of BufferPool's own text: a defect that is put into it is not proved."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from wheelproof_lab.prove import ties
from wheelproof_lab.prove.buffer_pool.catalog import (
    MODULE,
    PROOFS,
    SMALL,
    WITH_AN_END,
    derived,
    source,
)
from wheelproof_lab.prove.obligations import carry_out
from wheelproof_lab.prove.system import Tables, Tie
from wheelproof_lab.prove.text.derive import Derived
from wheelproof_lab.prove.text.sany import folders, parse
from wheelproof_lab.prove.text.types import length_of
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.tlc.states.values import Value, make_function

pytestmark = [pytest.mark.slow, pytest.mark.long]

SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of the text, and an obligation that it must break."""

    old: str
    new: str
    broken: str


ATTACKS = {
    "whoever is woken is next, though not first, if it is restless": Change(
        old="IsNext(t) == Head(waiters) = t",
        new="IsNext(t) == Head(waiters) = t \\/ t \\in Restless",
        broken="EndWait: MemoryGoesToTheLongestWaiting",
    ),
    "a buffer is used again only if nothing is unpooled": Change(
        old="    /\\ IF n = Poolable /\\ free > 0\n",
        new="    /\\ IF n = Poolable /\\ free > 0 /\\ nonPooled = 0\n",
        broken="Lock: AFreeBufferIsReused",
    ),
    "a newcomer that asks for little does not look at the queue": Change(
        old="MayTakeAtOnce(n) == waiters = <<>> /\\ HasEnough(n)",
        new="MayTakeAtOnce(n) == (waiters = <<>> \\/ n <= Poolable) /\\ HasEnough(n)",
        broken="Lock: MemoryGoesToTheLongestWaiting",
    ),
    "the signal goes to whoever sleeps, first or not": Change(
        old="    /\\ asleep' = asleep \\ {Head(waiters)}",
        new="    /\\ \\E u \\in Clients : asleep' = asleep \\ {u}",
        broken="Signal: WhoeverCouldBeServedIsAboutToBeTold",
    ),
    "a close leaves out the first in the queue": Change(
        old="    /\\ asleep' = asleep \\ {waiters[called[c] + 1]}",
        new=(
            "    /\\ asleep' = IF called[c] = 0 THEN asleep\n"
            "                  ELSE asleep \\ {waiters[called[c] + 1]}"
        ),
        broken="CloseSignal: CloseIsAboutToTellWhoeverSleeps",
    ),
    "a close ends one waiter too early": Change(
        old='IF called[c] + 1 < Len(waiters) THEN "CloseSignal"',
        new='IF called[c] + 2 < Len(waiters) THEN "CloseSignal"',
        broken="CloseSignal: CloseIsAboutToTellWhoeverSleeps",
    ),
    "one buffer too few is broken up": Change(
        old="THEN 0\n    ELSE Min((wanted - nonPooled + Poolable - 1) \\div Poolable, free)",
        new="THEN 0\n    ELSE Min((wanted - nonPooled) \\div Poolable, free)",
        broken="Lock: NothingIsNegative",
    ),
    "whoever gives up hands its signal on only if it had a part": Change(
        old="    /\\ UNCHANGED <<closed, held, then>>\n    /\\ SignalNext(t)",
        new=(
            "    /\\ UNCHANGED <<closed, held, then>>\n"
            '    /\\ IF part > 0 THEN SignalNext(t) ELSE Go(t, "Unlock")'
        ),
        broken="EndWait: WhoeverCouldBeServedIsAboutToBeTold",
    ),
    "whoever has no time keeps the lock while it sleeps": Change(
        old="    /\\ lock' = None\n    /\\ asleep' = asleep \\cup {t}",
        new=(
            "    /\\ lock' = IF Limit[t] = 0 THEN lock ELSE None\n"
            "    /\\ asleep' = asleep \\cup {t}"
        ),
        broken="Await: WhoeverFindsTooLittleGivesTheLockUp",
    ),
    "whoever is not first stands in the queue twice": Change(
        old="       ELSE /\\ WaitAgain(t)\n            /\\ UNCHANGED fields",
        new=(
            "       ELSE /\\ WaitAgain(t)\n            /\\ waiters' = Append(waiters, t)\n"
            "            /\\ UNCHANGED <<closed, nonPooled, free, accumulated>>"
        ),
        broken="EndWait: what it writes fits",
    ),
    "a client leaves without a reason if its memory may fail": Change(
        old="       ELSE IF now >= deadline[t]\n       THEN GiveUp(t)",
        new="       ELSE IF now >= deadline[t] \\/ t \\in Unlucky\n       THEN GiveUp(t)",
        broken="EndWait: NobodyLeavesWithoutAReason",
    ),
}


def with_text(old: str, new: str, folder: Path) -> Derived:
    """Return the system of the module with its text changed."""
    module = tla_directory() / "producer" / "BufferPool.tla"
    text = module.read_text(encoding="utf-8")
    assert text.count(old) == 1
    (folder / module.name).write_text(text.replace(old, new), encoding="utf-8")
    for one in (MODULE, WITH_AN_END):
        shutil.copy(tla_directory() / f"{one}.tla", folder)
    shutil.copy(module.parent / "FifoAllocator.tla", folder)
    others = [one for one in folders() if one != module.parent]
    root = folder / f"{WITH_AN_END.rpartition('/')[2]}.tla"
    return Derived(source(parse(root, (folder, *others))))


def open_ones(changed: Derived, broken: str) -> Sequence[str]:
    """Return which obligations of the action and the claim are not met, with the text changed."""
    name, _, claim = broken.partition(": ")
    some = tuple(one for one in changed.system.actions if one.name == name)
    (one,) = PROOFS
    proof = one.make()
    attacked = replace(
        proof,
        system=replace(changed.system, actions=some),
        steps={one: term for one, term in proof.steps.items() if one == claim},
        variants=(),
    )
    results = carry_out(attacked, seconds=SECONDS)
    return [one.name for one in results if one.verdict is not Verdict.PASS]


@pytest.mark.parametrize("change", ATTACKS.values(), ids=[*ATTACKS])
def test_a_defect_in_the_text_is_not_proved(change: Change, tmp_path: Path) -> None:
    assert change.broken in open_ones(with_text(change.old, change.new, tmp_path), change.broken)


def test_the_translation_has_the_graph_of_tlc() -> None:
    (one,) = PROOFS
    proof, fields = one.make(), derived().fields
    names = (
        "Clients Closers Interrupters Restless Unlucky Victim SpuriousWakeUps Limit Total Poolable"
        " MaxTime"
    )
    waiters = fields["waiters"]

    def hidden(tables: Tables) -> dict[str, Value]:
        standing = [(int(at), place[0]) for place, at in tables(waiters).items() if int(at) > 0]
        assert len(standing) == tables(length_of(waiters))[()]
        return {"waiters": tuple(client for _, client in sorted(standing))}

    tie = Tie(
        module="MCBufferPool",
        constants={"Program": make_function(SMALL.items())},
        overrides={"Later": "MCLater"},
        fields=tuple(fields[name] for name in names.split()),
        instance=proof.instance,
        hidden=hidden,
    )
    # Every action occurs in this instance.
    results = ties.carry_out(replace(proof, ties=(tie,)))
    assert [(one.verdict, one.details) for one in results] == [(Verdict.PASS, "")] * 2
