"""The proof of the buffer pool, and its tie to the TLA+ module."""

from dataclasses import replace

from wheelproof_lab.prove.system import Instance, Proof, Tables, Tie, listed
from wheelproof_lab.prove.tables import Written, read
from wheelproof_spec.tlc.states.values import Value, make_function


def _buffer_pool() -> Proof:
    written = Written(read(__file__, "buffer_pool.toml", "promises.toml"))
    proof = written.proof()

    def hidden(tables: Tables) -> dict[str, Value]:
        """Return the queue as a sequence, and the number of waiters each closer has signalled."""
        names = ("Clients", "Closers", "waits", "ahead", "told")
        kinds = {name: tables(written.fields[name]) for name in names}
        waiting = [name for (name,), is_in in kinds["waits"].items() if is_in]

        def before(name: str) -> int:
            return sum(bool(kinds["ahead"][other, name]) for other in waiting)

        queue = sorted(waiting, key=before)
        told = kinds["told"].items()
        return {
            "waiters": tuple(queue),
            "round": make_function(
                (name, 1) for (name,), is_one in kinds["Clients"].items() if is_one
            ),
            "called": make_function(
                (name, sum(bool(yes) for (one, _), yes in told if one == name))
                for (name,), is_one in kinds["Closers"].items()
                if is_one
            ),
        }

    def tie(instance: Instance, **sizes: int) -> Tie:
        return Tie(
            module="MCBufferPool",
            constants={"Program": make_function((name, (size,)) for name, size in sizes.items())},
            overrides={"Later": "MCLater"},
            fields=written.named(
                "Clients Closers Interrupters Restless Unlucky Victim SpuriousWakeUps Limit Total"
                " Poolable MaxTime"
            ),
            instance=instance,
            hidden=hidden,
        )

    ties = (tie(proof.more_instances[0], a=2, l=1), tie(proof.instance, a=1, b=1, l=1))
    return replace(proof, ties=ties)


PROOFS = (listed(_buffer_pool()),)
