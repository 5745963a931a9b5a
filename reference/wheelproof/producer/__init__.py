"""The producer's memory: a bounded pool, and the batches in it (semantics.md 3 and 4)."""

from wheelproof.producer.accumulator_config import AccumulatorConfig
from wheelproof.producer.batch_draining import ReadyCheckResult
from wheelproof.producer.buffer_pool import BufferPool, BufferPoolUsage, WaitTimeSensor
from wheelproof.producer.byte_buffer import Allocator, ByteBuffer
from wheelproof.producer.cluster import Cluster, NodeId, TopicPartition
from wheelproof.producer.errors import (
    BufferExhaustedError,
    BufferOverflowError,
    DeliveryTimeoutError,
    ForeignBufferError,
    IllegalStateError,
    ProducerAbortedError,
    ProducerClosedError,
    RecordBatchTooLargeError,
    ResultTimeoutError,
)
from wheelproof.producer.future_record_metadata import FutureRecordMetadata, RecordMetadata
from wheelproof.producer.producer_batch import Callback, FinalState, ProducerBatch
from wheelproof.producer.record import Record
from wheelproof.producer.record_accumulator import RecordAccumulator
from wheelproof.producer.record_appending import RecordAppendResult

__all__ = [
    "AccumulatorConfig",
    "Allocator",
    "BufferExhaustedError",
    "BufferOverflowError",
    "BufferPool",
    "BufferPoolUsage",
    "ByteBuffer",
    "Callback",
    "Cluster",
    "DeliveryTimeoutError",
    "FinalState",
    "ForeignBufferError",
    "FutureRecordMetadata",
    "IllegalStateError",
    "NodeId",
    "ProducerAbortedError",
    "ProducerBatch",
    "ProducerClosedError",
    "ReadyCheckResult",
    "Record",
    "RecordAccumulator",
    "RecordAppendResult",
    "RecordBatchTooLargeError",
    "RecordMetadata",
    "ResultTimeoutError",
    "TopicPartition",
    "WaitTimeSensor",
]
