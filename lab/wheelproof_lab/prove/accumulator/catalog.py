"""The proof of how a forced close waits for the appends that are under way.

The actions are derived from AppendsInProgress.tla, the clauses from AppendsInProgressProof.tla, the
defects from the module of the known bugs.
"""

from functools import cache

from wheelproof_lab.prove.system import Instance, Listed, Proof, Variant
from wheelproof_lab.prove.terms import Sort
from wheelproof_lab.prove.text.derive import Derived, Source
from wheelproof_lab.prove.text.sany import parsed
from wheelproof_lab.prove.text.syntax import Module

MODULE = "producer/models/AppendsInProgressProof"
BUGS = "bugs/producer/MCAppendsInProgress_bugs"
SORTS = {"Threads": Sort(name="Thread", tla="Threads")}

_CLAUSES = (
    "EachThreadIsAtAStepOfItsOwn", "TheLockHasOneHolder", "TheLockIsHeldInside",
    "TheCountIsOfThoseUnderWay", "OnlyASleeperIsNotified", "WhoeverSleepsWillBeTold",
    "CloseComesFirst", "TheLastRoundEnds", "NobodyMakesABatchAfterTheLast",
    "ACloserIsDoneAfterTheLastRound",
)  # fmt: skip
_PROMISES = ("NobodySleepsInVain", "NothingIsLeftByTheClose")
_STEPS = ("NobodySleepsThoughOneHasEnded",)
_NAME = "appends-in-progress"
_SUMMARY = "a forced close leaves no batch behind, however late it was made, and sleeps for nobody"


def source(module: Module, **replaced: str) -> Source:
    """Return what is derived of a module with AppendsInProgress's text."""
    return Source(
        module=module,
        sorts=SORTS,
        assuming=("OneCloserThatDoesNotAppend",),
        replaced=replaced,
    )


@cache
def derived(**replaced: str) -> Derived:
    """Return the module's system; what is `replaced` is in the module of bugs."""
    return Derived(source(parsed(BUGS if replaced else MODULE), **replaced))


def instance(system: Derived) -> Instance:
    """Return an instance with two appenders and a closer."""
    return system.instance(
        {"Threads": ("a1", "a2", "c")},
        {"Appenders": ("a1", "a2"), "Closers": ("c",), "Closes": True, "SpuriousWakeUps": True},
    )


def _proof() -> Proof:
    system = derived()
    return Proof(
        name=_NAME,
        summary=_SUMMARY,
        clauses_in=MODULE,
        models=("MCAppendsInProgress_smoke",),
        system=system.system,
        clauses={name: system.clause(name) for name in _CLAUSES},
        promises={name: system.clause(name) for name in _PROMISES},
        steps={name: system.step(name) for name in _STEPS},
        words={name: system.word(name) for name in (*_CLAUSES, *_PROMISES, *_STEPS)},
        instance=instance(system),
        is_derived=True,
        left_out=system.left_out,
        variants=(
            Variant(
                name="no last round",
                summary="the round after the last append is left out",
                system=derived(AwaitTest="NoLastRound").system,
                action="AwaitTest",
                clause="ACloserIsDoneAfterTheLastRound",
                reached="NothingIsLeftByTheClose",
            ),
            Variant(
                name="ends twice",
                summary="an append ends twice as far as the count is concerned",
                system=derived(End="EndTwice").system,
                action="End",
                clause="TheCountIsOfThoseUnderWay",
            ),
            Variant(
                name="notifies nobody",
                summary="an append ends in silence",
                system=derived(Notify="NotifyNobody").system,
                action="Notify",
                clause="WhoeverSleepsWillBeTold",
                reached="NobodySleepsInVain",
            ),
        ),
    )


PROOFS = (Listed(name=_NAME, summary=_SUMMARY, clauses_in=MODULE, make=cache(_proof)),)
