"""The proofs of the timer, and their ties to the TLA+ modules."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

from wheelproof_lab.prove.system import Instance, Proof, Tables, Tie, listed
from wheelproof_lab.prove.tables import Written, read
from wheelproof_spec.tlc.states.values import ModelValue, Value, make_function

_NONE, _EXPIRED = ModelValue(name="None"), ModelValue(name="Expired")


def _cancelling() -> Proof:
    written = Written(read(__file__, "entry_migration.toml", "cancelling.toml"))
    proof = written.proof()

    def hidden(tables: Tables) -> dict[str, Value]:
        steps = tables(written.fields["back"]).items()
        return {
            "back": make_function(
                (name, _NONE if step == "None" else str(step)) for (name,), step in steps
            )
        }

    def tie(instance: Instance, **bucket_of: str) -> Tie:
        return Tie(
            module="MCEntryMigration",
            constants={
                "Tasks": frozenset({"k1"}),
                "Below": make_function([("upper", "lower"), ("lower", _EXPIRED)]),
                "BucketOf": make_function(bucket_of.items()),
                "Expired": _EXPIRED,
            },
            fields=written.named(
                "Entries Buckets Adders Movers Cancellers Flushers TaskOf EntryOf Victim"
            ),
            instance=instance,
            hidden=hidden,
        )

    two, _ = proof.more_instances
    ties = (tie(proof.instance, a1="upper", m1="lower"), tie(two, a1="upper", a2="lower"))
    return replace(proof, ties=ties)


def with_times(written: Written, instance: Instance, tick: int = 1, size: int = 2) -> Instance:
    """Return the instance with the relations of its times, levels and buckets.

    `tick` is the tick of the lowest level, in the unit of the times; a wheel has `size` buckets.
    """
    elements = {sort.name: names for sort, names in instance.elements.items()}
    times, levels = elements["Time"], elements["Level"]
    ticks = {level: tick * size ** int(level) for level in levels}
    at = {time: int(time) for time in times}
    pairs, triples = list(product(times, times)), list(product(levels, times, times))
    truth: Mapping[str, set[tuple[str, ...]]] = {
        "le": {(x, y) for x, y in pairs if at[x] <= at[y]},
        "lower": {(one, two) for one, two in product(levels, levels) if int(one) < int(two)},
        "floor": {(on, x, y) for on, x, y in triples if at[y] == at[x] - at[x] % ticks[on]},
        "fits": {(on, x, y) for on, x, y in triples if at[y] < at[x] + ticks[on] * size},
        "slot": {(on, x, f"{on}.{at[x] // ticks[on] % size}") for on, x in product(levels, times)},
        "onLevel": {(bucket, bucket.split(".")[0]) for bucket in elements["Bucket"]},
        "bottom": {("0",)},
        "zero": {("0",)},
    }
    rigid = {written.fields[name]: dict.fromkeys(truth[name], True) for name in truth}
    return replace(instance, rigid={**instance.rigid, **rigid})


def _record(**fields: Value) -> Value:
    return make_function(fields.items())


def _bucket(name: str) -> tuple[int, int]:
    """Return the module's bucket for a name: ``1.0`` is the first bucket of level 1."""
    level, _, index = name.partition(".")
    return (int(level), int(index))


def _lateness() -> Proof:
    written = Written(read(__file__, "system_timer.toml", "lateness.toml"))
    proof = written.proof()
    small, *others = (with_times(written, one) for one in (proof.instance, *proof.more_instances))

    def hidden(tables: Tables) -> dict[str, Value]:
        """Return the module's variables that consist of times, levels and buckets."""

        def pairs(name: str) -> dict[str, list[str]]:
            return written.pairs(tables, name)

        def domain(name: str) -> list[str]:
            return [one for (one,), holds in tables(written.fields[name]).items() if holds]

        def buckets_of(name: str, threads: list[str]) -> Value:
            found = pairs(name)
            return make_function(
                (one, _bucket(found[one][0]) if found[one] else _NONE) for one in threads
            )

        def times_of(name: str, elements: list[str]) -> Value:
            found = pairs(name)
            return make_function((one, int(found[one][0])) for one in elements)

        earlier, keys, content = pairs("earlier"), pairs("key"), pairs("content")

        def tasks(bucket: str) -> Value:
            def followers(task: str) -> int:
                return len({*earlier[task]} & {*content[bucket]})

            return tuple(sorted(content[bucket], key=followers, reverse=True))

        def level(number: str) -> Value:
            buckets = (
                (
                    _bucket(name)[1],
                    _record(key=int(some[0]) if some else -1, tasks=tasks(name)),
                )
                for name, some in keys.items()
                if name.startswith(f"{number}.")
            )
            return _record(buckets=make_function(buckets), clock=int(clocks[number][0]))

        clocks, owed = pairs("clock"), pairs("owed")
        queue = sorted(
            (int(time), _bucket(bucket))
            for bucket, some in pairs("queued").items()
            for time in some
        )
        adders, advancers = domain("Adders"), domain("Advancers")
        return {
            "now": int(domain("now")[0]),
            "wheel": tuple(level(number) for number in domain("made")),
            "queue": tuple(_record(bucket=bucket, key=key) for key, bucket in queue),
            "deadline": times_of("deadline", [*pairs("deadline")]),
            "reading": times_of("reading", adders),
            "into": buckets_of("into", adders + advancers),
            "polled": buckets_of("polled", advancers),
            "owed": make_function((one, frozenset(owed[one])) for one in advancers),
        }

    def tie(instance: Instance, last: int, **tasks: str) -> Tie:
        return Tie(
            module="MCSystemTimer",
            constants={
                "TickMs": 1, "WheelSize": 2, "Tasks": frozenset(tasks.values()),
                "Program": make_function((name, (task,)) for name, task in tasks.items()),
                "Restless": frozenset(), "Closers": frozenset(), "PollUnderLock": True,
                "LockOrder": "none", "Refusing": False, "Reach": frozenset(), "MaxTime": last,
            },
            overrides={"Delay": "MCDelay", "Later": "MCLater"},
            fields=written.named("Adders Cancellers Advancers Victim"),
            instance=instance,
            hidden=hidden,
        )  # fmt: skip

    return replace(
        proof,
        ties=(tie(small, 1, a1="k3"), tie(others[1], 0, a1="k1", a2="k2")),
        instance=small,
        more_instances=tuple(others),
        variants=tuple(
            replace(one, instance=with_times(written, one.instance or proof.instance))
            for one in proof.variants
        ),
    )


PROOFS = (
    listed(_cancelling()),
    listed(Written(read(__file__, "entry_migration.toml", "lists.toml")).proof()),
    listed(_lateness()),
)
