from collections.abc import Iterator, Sequence

from pyarrow import RecordBatch

class Expression:
    def isin(self, values: Sequence[str]) -> Expression: ...

class Dataset:
    def to_batches(
        self, *, columns: Sequence[str], filter: Expression | None
    ) -> Iterator[RecordBatch]: ...

def dataset(source: Sequence[str], *, format: str) -> Dataset: ...
def field(name: str) -> Expression: ...
