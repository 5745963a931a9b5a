"""The map of the house in CONTRIBUTING.md is what the code imports, and nothing is circular."""

from collections import Counter

import pytest

from support.checkout import REFERENCE, ROOT, SPEC, project_files
from support.house_map import HouseMap, circles, rows

pytestmark = pytest.mark.slow

_MOST_FILES = 15
_JAVA_AS_KAFKA_HAS_IT = "adapters/kafka-java/src/main/java/org/apache/kafka"


@pytest.fixture(scope="module")
def house() -> HouseMap:
    houses = {
        "wheelproof": REFERENCE,
        "wheelproof_spec": SPEC,
        "wheelproof_spark": ROOT / "pipeline",
    }
    return HouseMap(rows(), houses)


def test_every_module_is_on_the_map(house: HouseMap) -> None:
    assert len(house.imports) > 1000
    assert house.homeless() == []


def test_every_import_is_an_arrow_of_the_map(house: HouseMap) -> None:
    assert house.forbidden() == []


def test_the_map_allows_nothing_that_nobody_needs(house: HouseMap) -> None:
    assert house.unused() == []


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
