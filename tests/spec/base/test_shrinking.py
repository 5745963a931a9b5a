"""The search for smaller cases: what it ends with, and when it ends."""

from wheelproof_spec.base.shrinking import ever_smaller, within, without_chunks


def _with_both(items: tuple[int, ...]) -> tuple[int, ...] | None:
    return items if {3, 6} <= {*items} else None


def test_what_is_not_needed_is_left_out() -> None:
    found = list(ever_smaller(tuple(range(8)), without_chunks, _with_both, within(1_000)))
    assert found[-1] == (3, 6)
    assert sorted(found, key=len, reverse=True) == found


def test_the_search_ends_with_what_it_has() -> None:
    tried: list[tuple[int, ...]] = []

    def failing(items: tuple[int, ...]) -> tuple[int, ...] | None:
        tried.append(items)
        return _with_both(items)

    found = list(ever_smaller(tuple(range(8)), without_chunks, failing, within(3)))
    assert len(tried) == 3
    assert found == [one for one in tried if _with_both(one)]


def test_no_time_is_no_try() -> None:
    assert not within(1_000, 0)()
