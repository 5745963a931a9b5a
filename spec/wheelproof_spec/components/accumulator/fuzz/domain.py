"""What is drawn for a record accumulator: its configuration."""

from dataclasses import dataclass

from hypothesis import strategies as st

from wheelproof_spec.base.codec.vocabulary import ABSENT, Absent
from wheelproof_spec.components.accumulator.component import AccumulatorConfig
from wheelproof_spec.components.accumulator.oracle.sizes import upper_bound


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorDomain:
    """The bounds within which cases are drawn.

    With `faults` memory fails now and then, with `splits` batches are found too large, and with
    `growing_backoff` the backoff doubles. Without `memory` there is more than enough of it. Without
    `kafka_sizes` each record surely fits in a batch.
    """

    faults: bool = True
    splits: bool = True
    growing_backoff: bool = True
    interruption: bool = True
    closes: bool = True
    flushes: bool = True
    kafka_sizes: bool = True
    memory: bool = True

    def sizes(self) -> st.SearchStrategy[int]:
        """Draw the size of a record."""
        small = (0, 1, 3, 3, 20)
        return st.sampled_from((*small, 63, 64, 200) if self.kafka_sizes else small)


def accumulator_configs(domain: AccumulatorDomain) -> st.SearchStrategy[AccumulatorConfig]:
    """Draw a configuration: memory for a few batches of a few records."""
    return st.builds(
        _config,
        batch_size=st.integers(90 if domain.kafka_sizes else upper_bound(20), 130),
        batches=st.sampled_from((1, 2, 4) if domain.memory else (1_000,)),
        linger_ms=st.sampled_from((0, 5, 20)),
        retry_backoff_ms=st.sampled_from((0, 3)),
        doublings=st.sampled_from((1, 4) if domain.growing_backoff else (1,)),
        delivery_timeout_ms=st.sampled_from((20, 1_000)),
        start_ms=st.sampled_from((0, 7)),
        topics=st.sampled_from((ABSENT, {2: "other"}, {0: "other", 2: "third"})),
    )


def _config(
    *,
    batch_size: int,
    batches: int,
    linger_ms: int,
    retry_backoff_ms: int,
    doublings: int,
    delivery_timeout_ms: int,
    start_ms: int,
    topics: dict[int, str] | Absent,
) -> AccumulatorConfig:
    return AccumulatorConfig(
        total_memory=batches * batch_size,
        batch_size=batch_size,
        linger_ms=linger_ms,
        retry_backoff_ms=retry_backoff_ms,
        retry_backoff_max_ms=retry_backoff_ms * doublings,
        delivery_timeout_ms=delivery_timeout_ms,
        start_ms=start_ms,
        topics=topics,
    )
