"""The numbers of batches: what a killed driver has begun is not begun again."""

from pathlib import Path

from wheelproof_spark.check.place import next_batch, numbered, sweep
from wheelproof_spark.tables.manifest import Batch, Manifest


def _manifest(*numbers: int) -> Manifest:
    manifest = Manifest(profile=None, max_states=1, input="runs")
    for number in numbers:
        batch = Batch(
            number=number,
            files=1,
            bytes=1,
            lines=1,
            judged=1,
            seconds=1,
            master="local",
            versions={},
            machine="",
        )
        manifest.batches.append(batch)
    return manifest


def test_a_number_that_was_begun_is_not_used_again(tmp_path: Path) -> None:
    assert next_batch(tmp_path, _manifest()) == 1
    assert next_batch(tmp_path, _manifest(1)) == 2
    numbered(tmp_path, "bronze", 1).mkdir(parents=True)
    numbered(tmp_path, "bronze", 2).mkdir()
    assert next_batch(tmp_path, _manifest(1)) == 3


def test_what_was_begun_is_swept_and_what_was_committed_stays(tmp_path: Path) -> None:
    committed, begun = (numbered(tmp_path, "bronze", number) for number in (1, 2))
    committed.mkdir(parents=True)
    begun.mkdir()
    (begun / "part").write_bytes(b"half")
    sweep(tmp_path, _manifest(1))
    assert committed.is_dir()
    assert not begun.exists()
