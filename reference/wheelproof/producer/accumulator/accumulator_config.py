"""How a record accumulator is configured.

A batch size, a linger and three time-outs decide together when a batch leaves. They are tested
once, here, and are the same for all batches.

>>> from wheelproof.producer.accumulator.accumulator_config import AccumulatorConfig
>>> AccumulatorConfig(batch_size=16_384, linger_ms=5).delivery_timeout_ms
120000
"""

from dataclasses import dataclass

from wheelproof.domain import require_integer


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorConfig:
    """Sizes in bytes, times in milliseconds; the names are those of Kafka's configuration.

    A batch is sent when it is full or `linger_ms` old, tried again after `retry_backoff_ms`, which
    doubles up to `retry_backoff_max_ms`, and given up after `delivery_timeout_ms`.
    """

    batch_size: int
    linger_ms: int = 0
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    delivery_timeout_ms: int = 120_000

    def __post_init__(self) -> None:
        require_integer("batch_size", self.batch_size, 1)
        require_integer("linger_ms", self.linger_ms, 0)
        require_integer("retry_backoff_max_ms", self.retry_backoff_max_ms, 0)
        require_integer("retry_backoff_ms", self.retry_backoff_ms, 0, self.retry_backoff_max_ms)
        require_integer("delivery_timeout_ms", self.delivery_timeout_ms, 0)
