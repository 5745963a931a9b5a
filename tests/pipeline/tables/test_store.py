"""Commits: what was begun is never read, and what was committed is moved to its place."""

from pathlib import Path

import pytest

from wheelproof_spark.tables.manifest import Manifest, load
from wheelproof_spark.tables.store import Attempt, Store, add_earlier, batches_in


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def _manifest(batch: int) -> Manifest:
    table = f"gold/{batch:06}/verdicts"
    return Manifest(profile=None, max_states=1, input="runs", tables={"verdicts": table})


def _begun(store: Store, batch: int) -> Attempt:
    attempt = store.attempt()
    table = attempt.of("gold") / "verdicts"
    table.mkdir(parents=True)
    (table / "part").write_bytes(b"%d" % batch)
    (attempt.of("scratch")).mkdir()
    return attempt


def _committed(store: Store, batch: int) -> None:
    store.commit(_manifest(batch), _begun(store, batch), {"gold": f"gold/{batch:06}"})


def _gold(store: Store) -> list[str]:
    return sorted(folder.name for folder in store.path("gold").iterdir())


def test_no_attempt_writes_where_another_one_wrote(store: Store) -> None:
    _committed(store, 1)
    used = set[Path]()
    for _ in range(3):
        # A driver that is killed, and the next one, which sweeps; Java may still write.
        used.add(_begun(store, 2).folder)
        manifest = load(store.output)
        assert manifest is not None
        store.recover(manifest)
        assert list((store.output / ".work").iterdir()) == []
        assert _gold(store) == ["000001"]
    assert len(used) == 3


def test_a_commit_has_its_tables_in_place_and_keeps_the_last_ones(store: Store) -> None:
    for batch in (1, 2, 3):
        _committed(store, batch)
        assert (store.path(f"gold/{batch:06}/verdicts") / "part").read_bytes() == b"%d" % batch
    assert _gold(store) == ["000002", "000003"]
    assert list((store.output / ".work").iterdir()) == []


def test_a_driver_that_ends_between_commit_and_moves_loses_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    _committed(store, 1)

    def ends(store: Store, manifest: Manifest) -> None:
        del store, manifest
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Store, "move_in", ends)
        with pytest.raises(KeyboardInterrupt):
            _committed(store, 2)
    assert _gold(store) == ["000001"]
    manifest = load(store.output)
    assert manifest is not None
    # However often it is finished.
    for _ in range(2):
        store.recover(manifest)
        assert (store.path(manifest.tables["verdicts"]) / "part").read_bytes() == b"2"


def test_half_a_manifest_is_removed(store: Store) -> None:
    (store.output / "manifest.json.part").write_bytes(b"{")
    store.recover(_manifest(1))
    assert list(store.output.iterdir()) == []


def _table(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_bytes(str(folder).encode())
    return folder


@pytest.mark.parametrize("linked", [True, False])
def test_the_rows_of_earlier_batches_stay_without_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, linked: bool
) -> None:
    def refuses(*paths: Path) -> None:
        del paths
        raise OSError("no links here")

    if not linked:
        monkeypatch.setattr(Path, "hardlink_to", refuses)
    first = _table(tmp_path / "000001" / "runs", "part-0.parquet", "part-1.parquet", "_SUCCESS")
    second = _table(tmp_path / "000002" / "runs", "part-0.parquet")
    add_earlier(second, first)
    # A batch without rows of its own has no folder yet.
    third = tmp_path / "000003" / "runs"
    third.parent.mkdir()
    add_earlier(third, second)
    names = {"000001-part-0.parquet", "000001-part-1.parquet", "000002-part-0.parquet"}
    assert {file.name for file in third.iterdir()} == names
    assert [batches_in(table) for table in (first, second, third)] == [1, 2, 2]
    kept, file = third / "000001-part-0.parquet", first / "part-0.parquet"
    assert kept.read_bytes() == file.read_bytes() == str(first).encode()
    assert kept.samefile(file) == linked
    assert (third / "000002-part-0.parquet").read_bytes() == str(second).encode()
