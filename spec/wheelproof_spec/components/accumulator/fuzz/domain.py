"""What is drawn for a record accumulator: its configuration."""

from hypothesis import strategies as st

from wheelproof_spec.base.codec.vocabulary import ABSENT, Absent
from wheelproof_spec.components.accumulator.component import AccumulatorConfig

SIZES = (0, 1, 3, 3, 20, 63, 64, 200)
"""Sizes of records."""


def accumulator_configs() -> st.SearchStrategy[AccumulatorConfig]:
    """Draw a configuration: memory for a few batches of a few records."""
    return st.builds(
        _config,
        batch_size=st.integers(90, 130),
        batches=st.sampled_from((1, 2, 4)),
        linger_ms=st.sampled_from((0, 5, 20)),
        retry_backoff_ms=st.sampled_from((0, 3)),
        doublings=st.sampled_from((1, 4)),
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
