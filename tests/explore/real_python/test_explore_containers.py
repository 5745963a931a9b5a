"""Containers of the user's: keys that others take away meanwhile, and what is nested deep."""

import threading
from collections import defaultdict
from collections.abc import Callable, MutableMapping

import pytest

from wheelproof_explore.library import InterleavingError, check

pytestmark = pytest.mark.usefixtures("unshrunk")

_DEEP = 2_000
_NESTED: list["_Level"] = []


class _Level:
    """One of many levels; the innermost has a lock and what it keeps apart."""

    def __init__(self, inner: "_Level | None") -> None:
        self.inner = inner
        self.lock = threading.Lock()
        self.count = 0


def _nest() -> None:
    level = None
    for _ in range(_DEEP):
        level = _Level(level)
    assert level is not None
    _NESTED.append(level)


_nest()


def _counts() -> defaultdict[str, int]:
    return defaultdict(int)


def _setdefault(shared: MutableMapping[str, int]) -> object:
    return shared.setdefault("n", 0)


def _look_up(shared: MutableMapping[str, int]) -> object:
    return shared["n"]


@pytest.mark.parametrize(
    ("make", "get"),
    [(dict, _setdefault), (defaultdict, _setdefault), (_counts, _look_up)],
)
def test_a_key_that_was_there_may_be_made_anew(
    make: Callable[[], MutableMapping[str, int]],
    get: Callable[[MutableMapping[str, int]], object],
) -> None:
    """The key was there when the thread came to its step, and is gone when it makes it."""

    def main() -> None:
        shared = make()
        shared["n"] = 1

        def take() -> None:
            get(shared)

        other = threading.Thread(target=take)
        other.start()
        del shared["n"]
        first, second = "n" in shared, "n" in shared
        other.join()
        assert first == second

    with pytest.raises(InterleavingError, match="assert first == second"):
        check(main)


def _innermost() -> _Level:
    level = _NESTED[0]
    while level.inner is not None:
        level = level.inner
    return level


def test_what_is_nested_deep_is_looked_through() -> None:
    """The innermost lock is seen, and each run finds its count at 0, without deep recursion."""

    def main() -> None:
        level = _innermost()

        def count() -> None:
            with level.lock:
                level.count += 1

        threads = [threading.Thread(target=count) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert level.count == 2

    assert check(main).classes > 1
    assert _innermost().count == 0
