"""A campaign's manifest is read as it was written; a damaged one is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from wheelproof_spark.campaign.ledger import (
    CampaignManifest,
    Failure,
    TargetEntry,
    Wave,
    load,
    text_of,
)
from wheelproof_spark.tables.plan import Plan
from wheelproof_spec.base.errors import InputRejectedError

_TARGET = "fuzz/timer/none"


def _manifest() -> CampaignManifest:
    entry = TargetEntry(done=[(0, 3), (7, 7)], passed=4, failed=1, calls={"add": 9})
    failure = Failure(target=_TARGET, rule="R", seed=7, seeds=1, repeat="again")
    wave = Wave(number=1, seeds=5, seconds=0.5, master="local[1]")
    return CampaignManifest(
        meaning={"hypothesis": "6"}, targets={_TARGET: entry}, failures=[failure], waves=[wave]
    )


def test_a_ledger_is_read_as_it_was_written(tmp_path: Path) -> None:
    Plan(tmp_path).commit(1, (), text_of(_manifest()))
    assert load(Plan(tmp_path)) == _manifest()


def _drop(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda document: document.pop(name)


def _widen(document: dict[str, Any]) -> None:
    document["targets"][_TARGET]["done"][0].append(4)


@pytest.mark.parametrize(
    "damage", [*map(_drop, ("meaning", "targets", "failures", "waves")), _widen]
)
def test_a_damaged_ledger_is_refused(
    damage: Callable[[dict[str, Any]], object], tmp_path: Path
) -> None:
    document = cast("dict[str, Any]", json.loads(text_of(_manifest())))
    damage(document)
    Plan(tmp_path).commit(1, (), json.dumps(document))
    with pytest.raises(InputRejectedError, match="cannot be read"):
        load(Plan(tmp_path))
