"""The log of a partition: segments, epochs, truncation, what a read may return."""

from collections.abc import Sequence
from itertools import cycle

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from support import seeds
from wheelproof.errors import IllegalArgumentError
from wheelproof.replication import EpochEndOffset, ErrorCode, LogRecord, PartitionLog

_SIZES = st.lists(st.integers(0, 4), min_size=1, max_size=3).filter(lambda sizes: sum(sizes) <= 10)


def _log(*batches: tuple[int, ...], segment_bytes: int = 10, epoch: int = 0) -> PartitionLog:
    """Return a log with a batch for each tuple of record sizes."""
    log = PartitionLog(segment_bytes=segment_bytes)
    for sizes in batches:
        assert log.append([bytes(size) for size in sizes], epoch) is not None
    return log


def _offsets(records: tuple[LogRecord, ...]) -> list[int]:
    return [record.offset for record in records]


def _read(
    log: PartitionLog, offset: int, max_bytes: int, *, at_least_one: bool = False
) -> list[int]:
    data = log.read(
        offset, up_to_high_watermark=False, max_bytes=max_bytes, at_least_one=at_least_one
    )
    assert data.error is ErrorCode.NONE
    return _offsets(data.records)


@pytest.mark.repeats("br-offsets")
def test_offsets_follow_on_one_another() -> None:
    log = _log((3, 3))
    append = log.append([b"x"], 0)
    assert append is not None
    assert (append.first_offset, append.next_offset, log.log_end_offset) == (2, 3, 3)


@pytest.mark.repeats("br-segments")
def test_an_append_that_finds_no_room_begins_a_segment() -> None:
    log = _log((6,), (5,))
    assert _read(log, 0, 100) == [0]
    assert _read(log, 1, 100) == [1]


@pytest.mark.repeats("br-too-large")
def test_records_that_fit_into_no_segment_are_not_appended() -> None:
    log = _log()
    assert log.append([bytes(11)], 0) is None
    assert log.log_end_offset == 0


@pytest.mark.repeats("br-fetch-progress")
@pytest.mark.parametrize(
    ("max_bytes", "at_least_one", "offsets"),
    [
        (0, False, []),
        (3, False, []),
        (4, False, [0]),
        (6, False, [0, 1]),
        (0, True, [0]),
        (5, True, [0]),
    ],
)
def test_a_read_returns_what_fits(max_bytes: int, at_least_one: bool, offsets: list[int]) -> None:
    log = PartitionLog(segment_bytes=10)
    for size in (4, 2, 3):
        log.append([bytes(size)], 0)
    assert _read(log, 0, max_bytes, at_least_one=at_least_one) == offsets


def test_a_batch_is_read_whole_and_from_any_offset_in_it() -> None:
    log = _log((2, 2), (3,))
    assert _read(log, 0, 6) == _read(log, 0, 4) == _read(log, 0, 1, at_least_one=True) == [0, 1]
    assert _read(log, 1, 7) == [1, 2]
    assert _read(log, 0, 3) == []


@pytest.mark.parametrize(
    ("max_bytes", "at_least_one", "read"),
    [(6, False, 6), (3, False, 0), (3, True, 4), (9, True, 7)],
)
def test_bytes_are_counted_of_a_batch_that_is_cut_off_too(
    max_bytes: int, at_least_one: bool, read: int
) -> None:
    data = _log((2, 2), (3,)).read(
        0, up_to_high_watermark=False, max_bytes=max_bytes, at_least_one=at_least_one
    )
    assert data.bytes_read == read


@pytest.mark.repeats("br-out-of-range")
@pytest.mark.parametrize("offset", [-1, 3])
def test_a_read_outside_the_log_is_refused(offset: int) -> None:
    data = _log((1, 1)).read(offset, up_to_high_watermark=False, max_bytes=9, at_least_one=True)
    assert data.error is ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.repeats("br-hw-consumers")
def test_consumers_read_below_the_high_watermark() -> None:
    log = _log((1, 1), (1,))
    assert log.maybe_increment_high_watermark(2)
    data = log.read(0, up_to_high_watermark=True, max_bytes=9, at_least_one=True)
    assert (_offsets(data.records), data.high_watermark) == ([0, 1], 2)
    beyond = log.read(3, up_to_high_watermark=True, max_bytes=9, at_least_one=True)
    assert (beyond.error, beyond.records) == (ErrorCode.NONE, ())


@pytest.mark.repeats("br-hw-rises")
def test_the_high_watermark_rises_to_the_end_at_most_and_never_falls_by_itself() -> None:
    log = _log((1, 1))
    assert log.maybe_increment_high_watermark(9)
    assert log.high_watermark == 2
    assert not log.maybe_increment_high_watermark(1)
    assert log.high_watermark == 2


def test_a_truncation_takes_records_segments_epochs_and_the_watermark_along() -> None:
    log = _log((6,), (5,), (1,))
    log.begin_epoch(4)
    log.append([b"y"], 4)
    log.maybe_increment_high_watermark(4)
    log.truncate_to(1)
    assert (log.log_end_offset, log.high_watermark) == (1, 1)
    assert log.end_offset_for_epoch(4) is None
    assert log.end_offset_for_epoch(0) == EpochEndOffset(leader_epoch=0, end_offset=1)
    assert log.append([b"z"], 5) is not None
    # The segment that began there has stayed.
    assert (_read(log, 0, 100), _read(log, 1, 100)) == ([0], [1])


def test_a_truncation_beyond_the_end_is_refused() -> None:
    with pytest.raises(IllegalArgumentError, match="offset has to lie within 0 and 1, not 2"):
        _log((1,)).truncate_to(2)


def test_an_append_is_held_until_it_is_truncated_even_if_others_stand_there() -> None:
    log = _log()
    append = log.append([b"a", b"b"], 0)
    assert append is not None
    assert log.holds(append)
    log.truncate_to(1)
    assert not log.holds(append)
    log.append([b"c"], 2)
    assert log.log_end_offset == append.next_offset
    assert not log.holds(append)


def test_a_follower_takes_what_follows_on_its_end_and_nothing_else() -> None:
    leader, follower = _log((3, 3), (5,), epoch=2), PartitionLog(segment_bytes=10)
    first = leader.read(0, up_to_high_watermark=False, max_bytes=99, at_least_one=True).records
    follower.append_as_follower(first)
    assert follower.end_offset_for_epoch(2) == EpochEndOffset(leader_epoch=2, end_offset=2)
    with pytest.raises(IllegalArgumentError, match="do not follow on offset 2"):
        follower.append_as_follower(first)
    assert follower.log_end_offset == 2


@pytest.mark.repeats("kip-101", "kip-101-end", "kip-279")
def test_the_end_of_an_epoch_is_where_the_next_one_begins() -> None:
    log = _log((1, 1), epoch=1)
    log.begin_epoch(3)
    log.append([b"x"], 3)
    assert log.end_offset_for_epoch(0) == EpochEndOffset(leader_epoch=0, end_offset=0)
    assert log.end_offset_for_epoch(1) == EpochEndOffset(leader_epoch=1, end_offset=2)
    assert log.end_offset_for_epoch(2) == EpochEndOffset(leader_epoch=1, end_offset=2)
    assert log.end_offset_for_epoch(3) == EpochEndOffset(leader_epoch=3, end_offset=3)
    assert log.end_offset_for_epoch(7) is None


def test_an_epoch_without_records_gives_way_to_the_next() -> None:
    log = _log((1, 1), epoch=1)
    log.begin_epoch(3)
    log.begin_epoch(5)
    assert log.end_offset_for_epoch(4) == EpochEndOffset(leader_epoch=1, end_offset=2)


def test_a_segment_of_no_bytes_is_refused() -> None:
    with pytest.raises(IllegalArgumentError, match="segment_bytes has to lie within 1"):
        PartitionLog(segment_bytes=0)


_BATCHES = st.lists(st.lists(st.integers(0, 3).map(bytes), min_size=1, max_size=3), max_size=8)


@given(batches=_BATCHES, truncated=st.integers(0, 24), max_bytes=st.integers(0, 12))
def test_what_a_log_says_of_an_offset_holds_for_records_without_a_byte(
    batches: list[list[bytes]], truncated: int, max_bytes: int
) -> None:
    log, begins = PartitionLog(segment_bytes=10), list[int]()
    for values in batches:
        begins += [log.log_end_offset] * len(values)
        assert log.append(values, 0) is not None
    log.truncate_to(min(truncated, log.log_end_offset))
    end = log.log_end_offset
    del begins[end:]
    for offset, begin in enumerate([*begins, end]):
        progress = log.fetch_progress(offset, up_to_high_watermark=False)
        assert progress is not None
        assert progress.start.message_offset == begin
        assert progress.end.message_offset == end
    offset = 0
    read = list[int]()
    while offset < end:
        found = _read(log, offset, max_bytes, at_least_one=True)
        assert found, f"a reader is stuck at {offset}"
        read += found
        offset = found[-1] + 1
    assert read == list(range(end))


def test_the_end_behind_a_record_without_a_byte_has_an_offset_of_its_own() -> None:
    log = _log((0,))
    progress = log.fetch_progress(1, up_to_high_watermark=False)
    assert progress is not None
    assert (progress.start.message_offset, progress.end.message_offset) == (1, 1)


@pytest.mark.campaign
@seed(seeds.seed(33_017))
@settings(max_examples=seeds.runs(100, hunted=2_000))
@given(
    st.lists(st.tuples(_SIZES, st.integers(0, 2)), min_size=1, max_size=8),
    st.lists(st.integers(0, 12), min_size=1, max_size=4),
)
def test_a_follower_that_is_promoted_serves_what_its_leader_did(
    batches: Sequence[tuple[Sequence[int], int]], fetches: Sequence[int]
) -> None:
    leader, follower = PartitionLog(segment_bytes=10), PartitionLog(segment_bytes=10)
    epoch = 0
    for sizes, elections in batches:
        epoch += elections
        leader.append([bytes(size) for size in sizes], epoch)
    end = leader.log_end_offset
    for max_bytes in cycle(fetches):
        if follower.log_end_offset == end:
            break
        answer = leader.read(
            follower.log_end_offset,
            up_to_high_watermark=False,
            max_bytes=max_bytes,
            at_least_one=True,
        )
        follower.append_as_follower(answer.records)
    for offset in range(end + 1):
        assert _place(follower, offset) == _place(leader, offset)
        for max_bytes in range(12):
            assert _read(follower, offset, max_bytes) == _read(leader, offset, max_bytes)
    for asked in range(epoch + 1):
        assert follower.end_offset_for_epoch(asked) == leader.end_offset_for_epoch(asked)


def _place(log: PartitionLog, offset: int) -> object:
    return log.fetch_progress(offset, up_to_high_watermark=False)
