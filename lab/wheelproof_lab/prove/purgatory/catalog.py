"""The proofs of the purgatory, and their ties to the modules."""

from collections.abc import Iterable
from dataclasses import replace

from wheelproof_lab.prove.purgatory import completion
from wheelproof_lab.prove.system import Proof, Tables, Tie, listed
from wheelproof_lab.prove.tables import Written, read
from wheelproof_spec.tlc.states.values import ModelValue, Value, make_function

_NONE = ModelValue(name="None")


def _list(name: str) -> Value:
    """Return the module's value of a list: ``k1.2`` is the second list of k1."""
    key, _, number = name.partition(".")
    return (key, int(number))


def _purgatory() -> Proof:
    written = Written(read(__file__, "purgatory.toml", "exactly_once.toml"))
    proof = written.proof()

    def hidden(tables: Tables) -> dict[str, Value]:
        def one_list(name: str) -> Value:
            found = written.pairs(tables, name).items()
            return make_function((key, _list(some[0]) if some else _NONE) for key, some in found)

        def sequences(name: str) -> Iterable[tuple[str, Value]]:
            return ((key, tuple(some)) for key, some in written.pairs(tables, name).items())

        return {
            "watchersOf": one_list("watchersOf"),
            "list": one_list("list"),
            "content": make_function((_list(key), some) for key, some in sequences("content")),
            "todo": make_function(sequences("todo")),
        }

    tie = Tie(
        module="MCPurgatory",
        constants={
            "Discipline": "exclusive",
            "Operations": frozenset({"op1"}),
            "Keys": frozenset({"k1"}),
            "Purgers": frozenset(),
            "PurgeInterval": 0,
            "Raising": frozenset(),
        },
        fields=written.named("Watchers Triggers Cancellers Timers Closers OperationOf Makes KeyOf"),
        overrides={"KeysOf": "MCKeysOf"},
        instance=proof.instance,
        hidden=hidden,
    )
    # They take two operations in a list. The proof knows no order of them, and the module does.
    untied = (
        "Watch", "WalkRemove", "Unlock (walks on)", "EndTimeout (walks on)",
        "CancelTask (walks on)", "CancelOperation (walks on)",
    )  # fmt: skip
    return replace(proof, ties=(tie,), untied=untied)


PROOFS = (*completion.PROOFS, listed(_purgatory()))
