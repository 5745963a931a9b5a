"""The proof of BufferPool's own text: a defect that is put into it is not proved."""

import shutil
from collections.abc import Callable
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
    instance,
    source,
)
from wheelproof_lab.prove.obligations import FITS, carry_out, refute
from wheelproof_lab.prove.system import Instance, Tables, Tie, Variant
from wheelproof_lab.prove.text.derive import Derived
from wheelproof_lab.prove.text.sany import folders, parse
from wheelproof_lab.prove.text.types import length_of
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.tlc.states.values import Value, make_function

pytestmark = [pytest.mark.slow, pytest.mark.long]

SECONDS = 10.0
PAIR = {"a": (1,), "b": (1,)}
THREE = {"a": (1,), "b": (2,), "d": (1,)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of the text, and an obligation that a run of an instance must break."""

    old: str
    new: str
    broken: str
    where: Callable[[], Instance]


ATTACKS = {
    "whoever is woken is next, though not first, if it is restless": Change(
        old="IsNext(t) == Head(waiters) = t",
        new="IsNext(t) == Head(waiters) = t \\/ t \\in Restless",
        broken="EndWait: MemoryGoesToTheLongestWaiting",
        where=lambda: instance(THREE, total=2, SpuriousWakeUps=True, Restless=("d",)),
    ),
    "a buffer is used again only if nothing is unpooled": Change(
        old="    /\\ IF n = Poolable /\\ free > 0\n",
        new="    /\\ IF n = Poolable /\\ free > 0 /\\ nonPooled = 0\n",
        broken="Lock: AFreeBufferIsReused",
        where=lambda: instance({"a": (1, 1)}, total=2),
    ),
    "a newcomer that asks for little does not look at the queue": Change(
        old="MayTakeAtOnce(n) == waiters = <<>> /\\ HasEnough(n)",
        new="MayTakeAtOnce(n) == (waiters = <<>> \\/ n <= Poolable) /\\ HasEnough(n)",
        broken="Lock: MemoryGoesToTheLongestWaiting",
        where=lambda: instance(THREE, total=2),
    ),
    "the signal goes to whoever sleeps, first or not": Change(
        old="    /\\ asleep' = asleep \\ {Head(waiters)}",
        new="    /\\ \\E u \\in Clients : asleep' = asleep \\ {u}",
        broken="Signal: WhoeverCouldBeServedIsAboutToBeTold",
        where=lambda: instance(PAIR, total=1),
    ),
    "a close leaves out the first in the queue": Change(
        old="    /\\ asleep' = asleep \\ {waiters[called[c] + 1]}",
        new=(
            "    /\\ asleep' = IF called[c] = 0 THEN asleep\n"
            "                  ELSE asleep \\ {waiters[called[c] + 1]}"
        ),
        broken="CloseSignal: CloseIsAboutToTellWhoeverSleeps",
        where=lambda: instance(PAIR, total=1, Closers=("c",)),
    ),
    "a close ends one waiter too early": Change(
        old='IF called[c] + 1 < Len(waiters) THEN "CloseSignal"',
        new='IF called[c] + 2 < Len(waiters) THEN "CloseSignal"',
        broken="CloseSignal: CloseIsAboutToTellWhoeverSleeps",
        where=lambda: instance({**PAIR, "d": (1,)}, total=1, Closers=("c",)),
    ),
    "one buffer too few is broken up": Change(
        old="THEN 0\n    ELSE Min((wanted - nonPooled + Poolable - 1) \\div Poolable, free)",
        new="THEN 0\n    ELSE Min((wanted - nonPooled) \\div Poolable, free)",
        broken="Lock: NothingIsNegative",
        where=lambda: instance({"a": (2,), "b": (2,), "d": (3,)}, total=4, poolable=2),
    ),
    "whoever gives up hands its signal on only if it had a part": Change(
        old="    /\\ UNCHANGED <<closed, held, then>>\n    /\\ SignalNext(t)",
        new=(
            "    /\\ UNCHANGED <<closed, held, then>>\n"
            '    /\\ IF part > 0 THEN SignalNext(t) ELSE Go(t, "Unlock")'
        ),
        broken="EndWait: WhoeverCouldBeServedIsAboutToBeTold",
        where=lambda: instance(
            {**PAIR, "d": (1,)}, total=1, Interrupters=("i1",), Victim={"i1": "d"}
        ),
    ),
    "whoever has no time keeps the lock while it sleeps": Change(
        old="    /\\ lock' = None\n    /\\ asleep' = asleep \\cup {t}",
        new=(
            "    /\\ lock' = IF Limit[t] = 0 THEN lock ELSE None\n"
            "    /\\ asleep' = asleep \\cup {t}"
        ),
        broken="Await: WhoeverFindsTooLittleGivesTheLockUp",
        where=lambda: instance(PAIR, total=1, limits={"b": 0}),
    ),
    "a client leaves without a reason if its memory may fail": Change(
        old="       ELSE IF now >= deadline[t]\n       THEN GiveUp(t)",
        new="       ELSE IF now >= deadline[t] \\/ t \\in Unlucky\n       THEN GiveUp(t)",
        broken="EndWait: NobodyLeavesWithoutAReason",
        where=lambda: instance({**PAIR, "d": (1,)}, total=1, SpuriousWakeUps=True, Unlucky=("d",)),
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


def broken_by(change: Change, folder: Path) -> Verdict:
    """Return PASS if a run comes to a state that shows that the obligation is not met.

    All clauses hold in that state, and the action breaks the one that is named.
    """
    action, _, clause = change.broken.partition(": ")
    system = with_text(change.old, change.new, folder).system
    (one,) = PROOFS
    variant = Variant(
        name="attack",
        summary="",
        system=system,
        action=action,
        clause=clause,
        instance=change.where(),
    )
    return refute(one.make(), variant)[0]


@pytest.mark.parametrize("change", ATTACKS.values(), ids=[*ATTACKS])
def test_a_defect_in_the_text_breaks_an_obligation(change: Change, tmp_path: Path) -> None:
    assert broken_by(change, tmp_path) is Verdict.PASS


def test_a_harmless_change_of_the_text_breaks_nothing(tmp_path: Path) -> None:
    change = Change(
        old="Min(a, b) == IF a < b THEN a ELSE b",
        new="Min(a, b) == IF b <= a THEN b ELSE a",
        broken="Lock: NothingIsNegative",
        where=lambda: instance(THREE, total=2),
    )
    assert broken_by(change, tmp_path) is Verdict.FAIL


def test_whoever_stands_in_the_queue_is_not_appended_again(tmp_path: Path) -> None:
    again = (
        "       ELSE /\\ WaitAgain(t)\n            /\\ waiters' = Append(waiters, t)\n"
        "            /\\ UNCHANGED <<closed, nonPooled, free, accumulated>>"
    )
    old = "       ELSE /\\ WaitAgain(t)\n            /\\ UNCHANGED fields"
    system = with_text(old, again, tmp_path).system
    (one,) = PROOFS
    proof = one.make()
    name = "OnlyThoseWhoWaitAreInTheQueue"
    attacked = replace(
        proof,
        system=replace(system, actions=tuple(x for x in system.actions if x.name == "EndWait")),
        clauses={name: proof.clauses[name]},
        by={},
        promises={},
        steps={},
        variants=(),
    )
    results = carry_out(attacked, seconds=SECONDS)
    assert f"EndWait: {FITS}" in [x.name for x in results if x.verdict is not Verdict.PASS]


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
