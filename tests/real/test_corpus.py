"""The table of defects of released code says what exploring them finds."""

import os

import pytest

from support import seeds
from support.checkout import ROOT
from wheelproof_lab.corpus.defects import DEFECTS, Defect
from wheelproof_lab.corpus.page import PAGE, judged
from wheelproof_lab.corpus.runs import explored
from wheelproof_spec.base.errors import MissingToolError
from wheelproof_spec.base.results.verdicts import Verdict

_EACH = [(file, defect) for file, defects in DEFECTS.items() for defect in defects]
_ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]]
    for line in (ROOT / PAGE).read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and ".py:" in line
]


def test_each_defect_has_a_row() -> None:
    assert len(_ROWS) == len(_EACH) >= 30
    for (file, defect), row in zip(_EACH, _ROWS, strict=True):
        assert row[0] == f"{defect.package} {defect.broken}"
        assert f"{file}.py:{defect.name}" in row[2]


def test_a_program_is_short() -> None:
    for file, defect in _EACH:
        text = (ROOT / PAGE).with_name("corpus") / f"{file}.py"
        _, _, rest = text.read_text(encoding="utf-8").partition(f"def {defect.name}(")
        body = rest.split("\n\n\n")[0]
        assert 0 < sum(bool(line.strip()) for line in body.splitlines()) <= 25, defect.name


@pytest.mark.long
@pytest.mark.campaign
@pytest.mark.parametrize(
    ("file", "defect", "row"),
    [
        pytest.param(*each, row, id=each[1].name)
        for each, row in seeds.share([*zip(_EACH, _ROWS, strict=True)], 3)
    ],
)
def test_the_broken_release_fails_and_the_mended_one_passes(
    file: str, defect: Defect, row: list[str]
) -> None:
    try:
        if defect.is_python:
            # Other interpreters need not be here: `make test` runs on each by itself.
            broken = explored(file, defect, defect.broken)
        else:
            broken, _ = judged(file, defect)
    except MissingToolError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    assert broken.verdict is Verdict.FAIL
    assert row[3] == f"{broken.run:,}"
