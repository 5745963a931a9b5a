"""The table of imports in CONTRIBUTING.md is what the code imports, and nothing is circular."""

from collections import Counter

import pytest

from support.checkout import (
    EXPLORE,
    LAB,
    PIPELINE,
    REFERENCE,
    ROOT,
    SPEC,
    imports,
    module_name,
    project_files,
)
from support.house_map import HouseMap, circles, rows

pytestmark = pytest.mark.slow

_MOST_FILES = 15
_MOST_ROWS = 25
_LAYERS_OF_THE_CHECKER = (
    ("verdicts", "substrates", "failures"),
    ("runtime",),
    ("fields",),
    ("program",),
    ("runs",),
    ("strategies",),
    ("counterexamples",),
)
"""The folders of the model checker: each imports only those before it."""
_JAVA_AS_KAFKA_HAS_IT = "adapters/kafka-java/src/main/java/org/apache/kafka"


@pytest.fixture(scope="module")
def house() -> HouseMap:
    houses = {
        "wheelproof": REFERENCE,
        "wheelproof_explore": EXPLORE,
        "wheelproof_spec": SPEC,
        "wheelproof_spark": PIPELINE,
        "wheelproof_lab": LAB,
    }
    return HouseMap(rows(), houses)


def test_every_module_is_on_the_map(house: HouseMap) -> None:
    assert len(house.imports) > 1000
    assert house.homeless() == []


def test_every_import_is_an_arrow_of_the_map(house: HouseMap) -> None:
    assert house.forbidden() == []


def test_the_map_allows_nothing_that_nobody_needs(house: HouseMap) -> None:
    assert house.unused() == []


def test_the_map_fits_on_a_screen() -> None:
    assert len(rows()) <= _MOST_ROWS


def test_the_folders_of_the_model_checker_are_layers() -> None:
    place = {name: at for at, names in enumerate(_LAYERS_OF_THE_CHECKER) for name in names}
    found = [
        (module_name(one.file, EXPLORE).split(".")[1], one.module.split(".")[1], str(one))
        for one in imports(EXPLORE)
        if one.package == "wheelproof_explore" and one.file.parent != EXPLORE / "wheelproof_explore"
    ]
    upwards = [
        told
        for source, target, told in found
        if source in place and place[source] < place.get(target, len(place))
    ]
    assert len(found) > 100
    assert upwards == []


def test_no_module_imports_itself_through_others(house: HouseMap) -> None:
    assert circles(house.arrows()) == []


def test_a_circle_is_found() -> None:
    arrows = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str](), "e": {"e"}}
    assert circles(arrows) == [["b", "c"], ["e"]]


def test_no_folder_has_more_files_than_can_be_looked_over() -> None:
    folders = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for path in project_files()
        if path.suffix in {".py", ".tla", ".java", ".go", ".rs", ".js", ".ts"}
    )
    too_full = {folder: files for folder, files in folders.items() if files > _MOST_FILES}
    assert [folder for folder in too_full if not folder.startswith(_JAVA_AS_KAFKA_HAS_IT)] == []
