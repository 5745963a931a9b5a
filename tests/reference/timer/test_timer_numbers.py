"""The numbers of the literature: on which level and in which bucket a delay lies."""

import math

import pytest

from support.reference.open_timer import OpenTimer, OpenWheel
from support.reference.timer import Bench
from wheelproof.timer import SystemTimer, TimerTaskEntry, TimingWheel
from wheelproof.timer.arithmetic import truncate_to_tick
from wheelproof.units import Millis


class _Wheels(Bench):
    """A bench whose wheels can be looked into; levels and expirations as books count them."""

    def __init__(self, wheel_size: int = 20, start_ms: int = 0) -> None:
        self.takes: list[int] = []
        super().__init__(_looking(self.takes), wheel_size=wheel_size, start_ms=start_ms)

    @property
    def levels(self) -> list[OpenWheel]:
        timer = self.timer
        assert isinstance(timer, OpenTimer)
        return list(timer.levels())

    def place(self, name: str) -> tuple[int, int, int] | None:
        """Return the level, counted from 1, the index of the bucket, and where it begins."""
        for level, wheel in enumerate(self.levels, start=1):
            for index, bucket in enumerate(wheel.open_buckets()):
                if name in {getattr(entry.timer_task, "name", "") for entry in bucket.entries()}:
                    return level, index, bucket.get_expiration()
        return None

    def clocks(self) -> list[int]:
        return [wheel.current_time_ms for wheel in self.levels]


def _looking(takes: list[int]) -> type[SystemTimer]:
    """Return a timer that writes down when each bucket is taken from the queue."""

    class LookingWheel(OpenWheel):
        __slots__ = ()

        def advance_clock(self, time_ms: int) -> None:
            if self.tick_ms == 1:
                takes.append(time_ms)
            super().advance_clock(time_ms)

    class LookingTimer(OpenTimer):
        _timing_wheel_class = LookingWheel

    return LookingTimer


@pytest.mark.parametrize(
    ("delay_ms", "place"),
    [
        (2, (1, 2, 2)),
        pytest.param(18, (1, 18, 18), marks=pytest.mark.repeats("x-18-19th")),
        pytest.param(123, (2, 6, 120), marks=pytest.mark.repeats("x-123-6th")),
        pytest.param(237, (2, 11, 220), marks=pytest.mark.repeats("x-237")),
        pytest.param(350, (2, 17, 340), marks=pytest.mark.repeats("z-350")),
        pytest.param(450, (3, 1, 400), marks=pytest.mark.repeats("z-450")),
    ],
)
def test_a_delay_lies_on_its_level_and_in_its_bucket(
    delay_ms: int, place: tuple[int, int, int]
) -> None:
    bench = _Wheels()
    bench.add("task", delay_ms)
    assert bench.place("task") == place
    assert bench.advance_to(delay_ms - 1) == []
    assert bench.advance_to(delay_ms) == ["task"]


@pytest.mark.repeats("wheel-truncated-start", "x-120")
def test_a_wheel_with_a_tick_of_20_shows_120_at_123_ms() -> None:
    assert truncate_to_tick(123, 20) == 120
    bench = _Wheels(start_ms=123)
    bench.add("on level 2", 20)
    assert bench.clocks() == [123, 120]


@pytest.mark.repeats("x-159999", "x-160000")
def test_four_levels_reach_159_999_ms_and_160_000_makes_a_fifth() -> None:
    bench = _Wheels()
    bench.add("last", 159_999)
    assert bench.place("last") == (4, 19, 152_000)
    assert len(bench.levels) == 4
    bench.add("first beyond", 160_000)
    assert bench.place("first beyond") == (5, 1, 160_000)


@pytest.mark.repeats("vl-levels", "timer-defaults", "z-interval", "z-levels", "x-level-span")
def test_the_levels_span_20_400_and_8000_ms() -> None:
    bench = Bench(OpenTimer)
    bench.add("task", 7_999)
    assert isinstance(bench.timer, OpenTimer)
    assert [wheel.interval_ms for wheel in bench.timer.levels()] == [20, 400, 8_000]
    assert [wheel.tick_ms for wheel in bench.timer.levels()] == [1, 20, 400]


@pytest.mark.repeats("x-delay-3")
def test_a_delay_of_3_on_two_levels_of_two_buckets_comes_down_at_2() -> None:
    bench = _Wheels(wheel_size=2)
    bench.add("task", 3)
    assert bench.place("task") == (2, 1, 2)
    assert bench.advance_to(1) == []
    assert bench.advance_to(2) == []
    assert bench.place("task") == (1, 1, 3)
    assert bench.advance_to(3) == ["task"]


@pytest.mark.repeats("z-446-455-473")
def test_446_455_and_473_ms_share_a_bucket() -> None:
    bench = _Wheels()
    for delay_ms in (446, 455, 473):
        bench.add(str(delay_ms), delay_ms)
    assert {bench.place(str(delay_ms)) for delay_ms in (446, 455, 473)} == {(3, 1, 400)}


@pytest.mark.repeats("z-450-down")
def test_450_ms_come_down_over_440_and_run_at_450() -> None:
    bench = _Wheels()
    bench.add("task", 450)
    places = [bench.place("task")]
    for time_ms in range(450):
        assert bench.advance_to(time_ms) == []
        if (place := bench.place("task")) != places[-1]:
            places.append(place)
    assert places == [(3, 1, 400), (2, 2, 440), (1, 10, 450)]
    assert bench.advance_to(450) == ["task"]


@pytest.mark.repeats("z-2-8-19")
def test_after_2_ms_a_delay_of_8_goes_to_slot_10_and_19_to_slot_1() -> None:
    bench = _Wheels()
    bench.add("2", 2)
    assert bench.advance_to(2) == ["2"]
    bench.add("8", 8)
    bench.add("19", 19)
    assert (bench.place("8"), bench.place("19")) == ((1, 10, 10), (1, 1, 21))


@pytest.mark.repeats("vl-host-per-tick", "c-drive-queue", "z-200-840")
def test_a_timer_for_200_and_one_for_840_ms_are_three_takes_and_not_840_ticks() -> None:
    bench = _Wheels()
    bench.add("200", 200)
    bench.add("840", 840)
    ran = {time_ms: ran for time_ms in range(841) if (ran := bench.advance_to(time_ms))}
    assert ran == {200: ["200"], 840: ["840"]}
    assert bench.takes == [200, 800, 840]


@pytest.mark.repeats(
    "wheel-next-round",
    "wheel-example-start",
    "wheel-example-begins",
    "wheel-example-c1",
    "wheel-example-c2",
    "wheel-example-c3",
)
@pytest.mark.parametrize("start_ms", [0, 9, 90])
def test_the_example_of_three_buckets(start_ms: int) -> None:
    bench = _Wheels(wheel_size=3, start_ms=start_ms)
    c = start_ms
    begins = {3: (2, c + 3), 5: (2, c + 3), 6: (2, c + 6), 8: (2, c + 6), 9: (3, c + 9)}
    begins |= {1: (1, c + 1), 2: (1, c + 2), 17: (3, c + 9), 18: (3, c + 18), 26: (3, c + 18)}
    for delay_ms, begin in begins.items():
        bench.add(str(delay_ms), delay_ms)
        assert _level_and_begin(bench, str(delay_ms)) == begin
    for passed, clocks in ((1, [1, 0, 0]), (2, [2, 0, 0]), (3, [3, 3, 0])):
        bench.advance_to(c + passed)
        assert bench.clocks() == [c + clock for clock in clocks]
        # What has become free holds what lies one round later: [c+3, c+3], [c+4, c+4], [c+5, c+5].
        bench.add(f"next after {passed}", 2)
        assert _level_and_begin(bench, f"next after {passed}") == (1, c + passed + 2)
    bench.add("c+9", 6)
    assert _level_and_begin(bench, "c+9") == (2, c + 9)


def _level_and_begin(bench: _Wheels, name: str) -> tuple[int, int]:
    place = bench.place(name)
    assert place is not None
    return place[0], place[2]


@pytest.mark.repeats("wheel-example-waste")
def test_the_first_bucket_of_an_upper_level_gets_nothing() -> None:
    bench = _Wheels(wheel_size=3)
    for delay_ms in range(27):
        bench.add(str(delay_ms), delay_ms)
    assert [wheel.open_buckets()[0].entries() for wheel in bench.levels[1:]] == [[], []]


@pytest.mark.repeats("vl-wheel-o1", "vl-start-o-m", "wheel-o1", "wheel-insert-o-m", "x-insert-o-m")
@pytest.mark.parametrize("delay_ms", [1, 19, 20, 399, 400, 7_999, 8_000, 159_999, 160_000])
def test_an_add_passes_the_levels_that_its_delay_needs_and_no_more(delay_ms: int) -> None:
    visited: list[int] = []

    class VisitedWheel(TimingWheel):
        __slots__ = ()

        def add(self, entry: TimerTaskEntry) -> bool:
            visited.append(self.tick_ms)
            return super().add(entry)

    class VisitedTimer(SystemTimer):
        _timing_wheel_class = VisitedWheel

    bench = Bench(VisitedTimer)
    bench.add("makes a fifth level", 160_000)
    visited.clear()
    bench.add("task", delay_ms)
    assert visited == [20**level for level in range(1 + int(math.log(delay_ms + 0.5, 20)))]


@pytest.mark.repeats("vl-m-migrations", "wheel-all-time-out")
@pytest.mark.parametrize("delay_ms", [19, 399, 7_999, 159_999])
def test_a_timer_on_level_m_migrates_at_most_m_minus_1_times(delay_ms: int) -> None:
    bench = _Wheels()
    bench.add("task", delay_ms)
    places = [bench.place("task")]
    level = len(bench.levels)
    while not bench.fired:
        bench.clock.advance_to(places[-1][2] if places[-1] else delay_ms)
        bench.timer.advance_clock(Millis(0))
        bench.executor.run_pending()
        places.append(bench.place("task"))
    assert [place[0] for place in places if place] == list(range(level, 0, -1))


@pytest.mark.repeats("z-upgraded")
def test_entries_only_ever_come_down() -> None:
    bench = _Wheels(wheel_size=3)
    names = [str(delay_ms) for delay_ms in range(1, 81)]
    for name in names:
        bench.add(name, int(name))
    levels = {name: bench.place(name) for name in names}
    for time_ms in range(81):
        bench.advance_to(time_ms)
        for name, before in levels.items():
            now = bench.place(name)
            assert now is None or (before is not None and now[0] <= before[0])
            levels[name] = now
    assert set(levels.values()) == {None}


@pytest.mark.repeats("timer-one-counter", "x-counter-of-level")
def test_the_counter_counts_all_levels() -> None:
    bench = _Wheels()
    for number, delay_ms in enumerate((1, 30, 500, 9_000), start=1):
        bench.add(str(delay_ms), delay_ms)
        assert bench.timer.size() == number
    assert len(bench.levels) == 4


@pytest.mark.repeats("c-bounded-queue", "c-m-buckets-log", "x-8000-buckets")
def test_the_queue_holds_at_most_n_buckets_a_level() -> None:
    bench = _Wheels(wheel_size=4)
    for delay_ms in range(1, 4**3):
        bench.add(str(delay_ms), delay_ms)
    assert isinstance(bench.timer, OpenTimer)
    assert bench.timer.queued() == 3 + 3 + 3


@pytest.mark.repeats("vl-244-slots")
def test_the_papers_244_slots_span_8_640_000_seconds() -> None:
    sizes = (60, 60, 24, 100)
    assert sum(sizes) == 244
    assert math.prod(sizes) == 8_640_000
    # Ours are of one size: five levels of 25 buckets reach further, with half as many.
    bench = Bench(OpenTimer, wheel_size=25)
    bench.add("100 days in seconds", 8_639_999)
    assert isinstance(bench.timer, OpenTimer)
    assert sum(wheel.wheel_size for wheel in bench.timer.levels()) == 5 * 25
