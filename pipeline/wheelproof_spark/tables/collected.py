"""Small tables as plain Python values."""

from typing import TypeVar, cast

from pyspark.sql import DataFrame

_T = TypeVar("_T", bound=tuple[object, ...])


def collected(table: DataFrame, row: type[_T]) -> list[_T]:
    """Return the rows of a small table; `row` is the tuple that its schema makes them."""
    del row
    return [cast("_T", tuple(one)) for one in cast("list[tuple[object, ...]]", table.collect())]
