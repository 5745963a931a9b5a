"""What the replay asks at each step, and what it says if the specification does not allow it."""

from typing import NoReturn

from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.components.timer.trace.state import Bucket, ThreadState
from wheelproof_spec.components.timer.trace.vocabulary import BucketSeen


class UnexplainedError(Exception):
    """The specification does not allow a step here."""

    def __init__(self, expected: str, observed: str, reason: str) -> None:
        super().__init__(reason)
        self.expected = expected
        self.observed = observed
        self.reason = reason


class SeveralError(Exception):
    """The step can be taken in several ways, and the trace does not say in which."""

    def __init__(self, buckets: tuple[Bucket, ...]) -> None:
        super().__init__("several buckets can be meant")
        self.buckets = buckets


class UnobservedError(Exception):
    """The trace does not say enough to tell whether the specification allows it."""


def put_down(t: ThreadState) -> None:
    """Let the thread go on once the entry in its hand is dealt with."""
    t.hand = ""
    t.pc = "UnlockRead" if t.adds else "FlushEntry"


def require_same(name: str, expected: object, observed: object) -> None:
    """Refuse the step if what was observed is not what is expected."""
    if expected != observed:
        refuse(f"{name} = {expected}", f"{name} = {observed}", f"{name} has another value")


def require_bucket(bucket: Bucket | None, level: object, index: object) -> None:
    """Refuse the step if it is about another bucket than was observed."""
    if level is not ABSENT and (bucket is None or bucket[0] != level):
        refuse(_bucket_words(bucket), f"level {level}", "it is another bucket")
    if index is not ABSENT and (bucket is None or bucket[1] != index):
        refuse(_bucket_words(bucket), f"bucket {index}", "it is another bucket")


def _bucket_words(bucket: Bucket | None) -> str:
    return "no bucket" if bucket is None else f"level {bucket[0]}, bucket {bucket[1]}"


def fits(bucket: Bucket, seen: BucketSeen) -> bool:
    """Tell whether a bucket can be the one that was seen."""
    level, index = seen.level, seen.bucket
    return level in (ABSENT, bucket[0]) and index in (ABSENT, bucket[1])


def words_of(seen: BucketSeen) -> str:
    """Return what was seen of a bucket, in words."""
    return (
        f"a bucket is taken: level {_or_any(seen.level)}, index {_or_any(seen.bucket)}, "
        f"expiration {_or_any(seen.expiration_ms)}"
    )


def _or_any(value: object) -> str:
    return "not observed" if value is ABSENT else str(value)


def refuse(expected: str, observed: str, reason: str) -> NoReturn:
    """Say that the specification does not allow the step."""
    raise UnexplainedError(expected, observed, reason)
