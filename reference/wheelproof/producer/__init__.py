"""The producer's memory: a bounded pool, and the batches in it (standard 3 and 4)."""

from wheelproof.producer.accumulator.accumulator_config import AccumulatorConfig
from wheelproof.producer.accumulator.batch_drainer import ReadyCheckResult
from wheelproof.producer.accumulator.future_record_metadata import (
    FutureRecordMetadata,
    RecordMetadata,
)
from wheelproof.producer.accumulator.producer_batch import Callback, FinalState, ProducerBatch
from wheelproof.producer.accumulator.record_accumulator import RecordAccumulator, RecordAppendResult
from wheelproof.producer.buffer_pool import BufferPool, BufferPoolUsage, WaitTimeSensor
from wheelproof.producer.byte_buffer import Allocator, ByteBuffer
from wheelproof.producer.cluster import Cluster, NodeId
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
from wheelproof.producer.record import Record
from wheelproof.producer.wait_time import WaitTime
from wheelproof.topic_partition import TopicPartition

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
    "WaitTime",
    "WaitTimeSensor",
]
