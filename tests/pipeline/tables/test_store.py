"""Commits: what was begun is never read, and what was committed gets into its tables, once."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql.types import StringType, StructField, StructType

from wheelproof_spark.base.errors import PipelineError
from wheelproof_spark.tables import delta
from wheelproof_spark.tables.plan import Move, Plan
from wheelproof_spark.tables.rows import read_rows, write_rows
from wheelproof_spark.tables.store import Store
from wheelproof_spec.base.errors import UsageError

_SCHEMA = StructType([StructField("batch", StringType())])
_TABLES = {"runs": "silver/runs", "summary": "gold/summary"}
_REPLACED = "summary"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as store:
        yield store


def _begun(store: Store, batch: int) -> Path:
    attempt = store.attempt()
    for name in _TABLES:
        write_rows([{"batch": str(batch)}], _SCHEMA, attempt / name)
    (attempt / "scratch").mkdir()
    return attempt


def _moves() -> list[Move]:
    return [
        Move(here=name, table=table, replaces=name == _REPLACED) for name, table in _TABLES.items()
    ]


def _committed(store: Store, batch: int) -> None:
    store.commit(f"after {batch}", batch, _begun(store, batch), _moves())


def _rows(store: Store) -> dict[str, list[str]]:
    return {
        name: sorted(str(row["batch"]) for row in read_rows(store.path(table)))
        for name, table in _TABLES.items()
    }


def _recovered(output: Path) -> Store:
    """Return the store of the next start."""
    with Store(output) as store:
        store.recover()
    return store


def _work(store: Store) -> list[Path]:
    return list((store.output / ".work").iterdir())


def test_no_attempt_writes_where_another_one_wrote(store: Store) -> None:
    _committed(store, 1)
    used = {_begun(Store(store.output), 2) for _ in range(3)}
    # Drivers that are killed, and the next one; Java may still write.
    _recovered(store.output)
    assert _rows(store) == {"runs": ["1"], "summary": ["1"]}
    assert len(used) == 3
    # They are removed when nobody can commit them any more.
    assert {*_work(store)} == used
    _committed(store, 2)
    assert _work(store) == []


def test_of_two_at_once_one_wins(store: Store) -> None:
    _committed(store, 1)
    other = Store(store.output)
    attempt = _begun(other, 2)
    _committed(store, 2)
    # What it has written is gone.
    assert not attempt.exists()
    with pytest.raises(UsageError, match="another pipeline has committed"), other:
        _committed(other, 2)
    again = _recovered(store.output)
    assert (again.plan.document, again.plan.batch) == ("after 2", 2)
    assert _rows(store) == {"runs": ["1", "2"], "summary": ["2"]}
    assert _work(store) == []
    _committed(again, 3)
    assert _rows(store) == {"runs": ["1", "2", "3"], "summary": ["3"]}


def test_of_two_that_make_the_plan_one_wins(tmp_path: Path) -> None:
    first, second = Plan(tmp_path), Plan(tmp_path)
    first.commit(1, (), "first")
    with pytest.raises(UsageError, match="repeat its command"):
        second.commit(1, (), "second")
    assert Plan(tmp_path).document == "first"


def test_an_error_of_one_that_was_overtaken_says_so(store: Store) -> None:
    other = Store(store.output)
    with pytest.raises(PipelineError, match="a file is missing"), other:
        raise PipelineError("a file is missing")
    _committed(store, 1)
    with pytest.raises(UsageError, match="another pipeline has committed"), other:
        raise PipelineError("a file is missing")


def test_two_that_start_finish_a_commit_side_by_side(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, depth = delta.commit, list[int]()

    def committing(table: Path, place: Path, number: int, *, replaces: bool) -> None:
        # Before each transaction of the one, the other makes all of them.
        if not depth:
            depth.append(1)
            _recovered(store.output)
            depth.clear()
        real(table, place, number, replaces=replaces)

    monkeypatch.setattr(delta, "commit", committing)
    for batch in (1, 2):
        _committed(store, batch)
    assert _rows(store) == {"runs": ["1", "2"], "summary": ["2"]}


def test_a_commit_adds_to_tables_or_replaces_their_rows(store: Store) -> None:
    for batch in (1, 2, 3):
        _committed(store, batch)
    assert _rows(store) == {"runs": ["1", "2", "3"], "summary": ["3"]}
    # Whoever reads the last version of a table can finish; the one before is gone.
    found = sorted(folder.name for folder in store.path("gold/summary").glob("[0-9]*"))
    assert found == ["000002", "000003"]


def _at_the_first_move(stop: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(store: Store) -> None:
        del store
        stop()

    monkeypatch.setattr(Store, "move_in", stopped)


def _before_a_transaction(number: int) -> Callable[..., None]:
    def before(stop: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
        real, done = delta.commit, list[Path]()

        def committing(table: Path, place: Path, batch: int, *, replaces: bool) -> None:
            if len(done) == number:
                stop()
            done.append(table)
            real(table, place, batch, replaces=replaces)

        monkeypatch.setattr(delta, "commit", committing)

    return before


def _after_the_last_one(stop: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    real, done = delta.commit, list[Path]()

    def committing(table: Path, place: Path, batch: int, *, replaces: bool) -> None:
        real(table, place, batch, replaces=replaces)
        done.append(table)
        if len(done) == len(_TABLES):
            stop()

    monkeypatch.setattr(delta, "commit", committing)


@pytest.mark.parametrize(
    "place",
    [_at_the_first_move, *map(_before_a_transaction, range(2)), _after_the_last_one],
)
def test_a_driver_that_ends_after_the_commit_loses_and_doubles_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, place: Callable[..., None]
) -> None:
    _committed(store, 1)

    def ends() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        place(ends, patched)
        with pytest.raises(KeyboardInterrupt):
            _committed(store, 2)
    # However often it is finished.
    for _ in range(2):
        _recovered(store.output)
        assert _rows(store) == {"runs": ["1", "2"], "summary": ["2"]}
        assert _work(store) == []
    _committed(Store(store.output), 3)
    assert _rows(store) == {"runs": ["1", "2", "3"], "summary": ["3"]}


def test_a_plan_that_was_not_committed_is_none(store: Store) -> None:
    _committed(store, 1)
    half = store.output / "plan" / "000002-half.parquet"
    half.write_bytes(b"PAR1")
    assert Store(store.output).plan.document == "after 1"
    for batch in (2, 3, 4):
        _committed(store, batch)
    assert not half.exists()


def test_small_files_are_joined_and_old_ones_removed(store: Store) -> None:
    for batch in (1, 2, 3):
        _committed(store, batch)
    runs = store.path("silver/runs")
    assert delta.join(runs) == (3, 1)
    assert len(list(runs.rglob("part-*.parquet"))) == 1
    # The number of the last batch is still known.
    _recovered(store.output)
    _committed(store, 4)
    assert _rows(store) == {"runs": ["1", "2", "3", "4"], "summary": ["4"]}
    summary = store.path("gold/summary")
    assert delta.join(summary) == (1, 1)
    assert len(list(summary.rglob("part-*.parquet"))) == 1


def test_a_damaged_table_is_told_in_one_sentence(store: Store) -> None:
    _committed(store, 1)
    for transaction in store.path("silver/runs").glob("_delta_log/*"):
        transaction.write_bytes(b"{")
    with pytest.raises(PipelineError, match="silver/runs cannot be used: "):
        _committed(store, 2)


def test_a_compaction_leaves_what_another_pipeline_is_about_to_add(store: Store) -> None:
    _committed(store, 1)
    runs = store.path("silver/runs")
    write_rows([{"batch": "2"}], _SCHEMA, runs / "000002")
    delta.join(runs)
    delta.commit(runs, runs / "000002", 2, replaces=False)
    assert _rows(store)["runs"] == ["1", "2"]


@pytest.mark.parametrize("name", ["100%25", "a%20b", "a\\b"])
def test_an_output_that_no_table_can_be_in_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="in its path, and tables cannot"):
        Store(tmp_path / name)


@pytest.mark.parametrize("name", ["a b", "ünï 日本", "[1] {a,b}*?", "#1", "100%", "5%o"])
def test_a_table_in_a_folder_with_a_strange_name(tmp_path: Path, name: str) -> None:
    with Store(tmp_path / name) as store:
        _committed(store, 1)
        _committed(store, 2)
        assert _rows(store) == {"runs": ["1", "2"], "summary": ["2"]}
