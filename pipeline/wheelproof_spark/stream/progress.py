"""The progress of a stream: the manifest that it goes on from, and the checkpoint of a topic."""

import json
from pathlib import Path
from typing import cast

from wheelproof_spark.check.judging.columns import JUDGE
from wheelproof_spark.tables.manifest import Manifest, StreamProgress, parsed
from wheelproof_spark.tables.rows import read_rows, whole_number
from wheelproof_spark.tables.store import Store
from wheelproof_spec.base.errors import UsageError

SCHEMA = "wheelproof.pipeline.stream/3"
CHECKPOINT = "checkpoint"
_ANEW = "name another output, and judge the input anew"


def opened(store: Store, source: str, profile: str | None, max_states: int) -> Manifest:
    """Finish the last commit, and return the manifest.

    Raises UsageError if it is not the output of such a stream, InputRejectedError if it is damaged.
    """
    manifest, output = parsed(store.plan), store.output
    if manifest is None:
        if (output / CHECKPOINT).exists():
            raise UsageError(f"{output} has a checkpoint, but no tables; {_ANEW}")
        manifest = Manifest(profile=profile, max_states=max_states, judge=JUDGE, input=source)
        manifest.stream = StreamProgress(schema=SCHEMA)
        store.save(manifest.text)
        return manifest
    if manifest.stream is None:
        raise UsageError(f"{output} was made by `wheelproof pipeline check`; {_ANEW}")
    if manifest.stream.schema != SCHEMA:
        raise UsageError(
            f"the stream in {output} has the version {manifest.stream.schema!r}, not {SCHEMA!r}; "
            + _ANEW
        )
    manifest.require_options(profile, max_states)
    if manifest.judge != JUDGE:
        raise UsageError(
            f"the verdicts in {output} are those of wheelproof {manifest.judge}, and this is "
            f"{JUDGE}, whose verdicts may differ; {_ANEW}"
        )
    if manifest.input != source:
        raise UsageError(
            f"{output} belongs to a stream of {manifest.input}; name that input, or another output"
        )
    _require_checkpoint(output, manifest.stream)
    store.recover()
    return manifest


def query_of(output: Path) -> str:
    """Return the id of Spark's checkpoint; empty if there is none, or it cannot be read."""
    try:
        document: object = json.loads((output / CHECKPOINT / "metadata").read_text())
    except (OSError, ValueError):
        return ""
    if not isinstance(document, dict):
        return ""
    return str(cast("dict[str, object]", document).get("id", ""))


def known_files(store: Store, manifest: Manifest) -> dict[str, int]:
    """Return the sizes of the files of all batches, by name."""
    table = manifest.tables.get("files")
    if table is None:
        return {}
    rows = read_rows(store.path(table), columns=("path", "size"))
    return {str(row["path"]): whole_number(row["size"]) for row in rows}


def _require_checkpoint(output: Path, progress: StreamProgress) -> None:
    """Raise UsageError if Spark's checkpoint is not that of the last batch."""
    if not progress.query:
        return
    # Spark writes the offsets of a batch before the batch begins.
    newest = output / CHECKPOINT / "offsets" / str(progress.last)
    if progress.query != query_of(output) or not newest.is_file():
        raise UsageError(
            f"{output / CHECKPOINT} is missing, or is not that of these tables; restore it, or "
            + _ANEW
        )
