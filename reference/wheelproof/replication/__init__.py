"""A small replica manager: delayed produce and fetch drive each other (standard 5.1 - 5.3)."""

from wheelproof.replication.delayed_fetch import DelayedFetch
from wheelproof.replication.delayed_produce import DelayedProduce
from wheelproof.replication.error_code import ErrorCode
from wheelproof.replication.log_results import EpochEndOffset, LogAppendInfo, LogRecord
from wheelproof.replication.partition import Partition
from wheelproof.replication.partition_log import PartitionLog
from wheelproof.replication.replica_manager import ReplicaManager
from wheelproof.replication.requests import (
    ALL_ACKS,
    FetchParams,
    FetchPartition,
    FetchPartitionData,
    PartitionProduceResponse,
)
from wheelproof.topic_partition import TopicPartition

__all__ = [
    "ALL_ACKS",
    "DelayedFetch",
    "DelayedProduce",
    "EpochEndOffset",
    "ErrorCode",
    "FetchParams",
    "FetchPartition",
    "FetchPartitionData",
    "LogAppendInfo",
    "LogRecord",
    "Partition",
    "PartitionLog",
    "PartitionProduceResponse",
    "ReplicaManager",
    "TopicPartition",
]
