"""What a broker answers when it cannot do what a request asks, named as in Kafka's protocol.

A client decides by the code whether it tries again, and where.

>>> from wheelproof.replication.error_code import ErrorCode
>>> ErrorCode.NONE.value, ErrorCode("NONE") is ErrorCode.NONE
('NONE', True)
"""

from enum import StrEnum, unique


@unique
class ErrorCode(StrEnum):
    """The outcome of a request for one partition."""

    NONE = "NONE"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    """The caller knows an older leader epoch than this broker."""
    INVALID_REQUIRED_ACKS = "INVALID_REQUIRED_ACKS"
    """`acks` is none of 0, 1 and -1 (all)."""
    NOT_ENOUGH_REPLICAS = "NOT_ENOUGH_REPLICAS"
    """Too few replicas are in sync; nothing was appended."""
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
    """Appended and replicated, but by fewer replicas than the partition asks for."""
    NOT_LEADER_OR_FOLLOWER = "NOT_LEADER_OR_FOLLOWER"
    """This broker does not lead the partition, or does not know the replica that asks."""
    OFFSET_OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"
    """The offset lies before the log's start or beyond its end."""
    RECORD_LIST_TOO_LARGE = "RECORD_LIST_TOO_LARGE"
    """The records of one append do not fit into a segment."""
    REQUEST_TIMED_OUT = "REQUEST_TIMED_OUT"
    """Appended, but not replicated within the time-out."""
    UNKNOWN_LEADER_EPOCH = "UNKNOWN_LEADER_EPOCH"
    """The caller knows a newer leader epoch than this broker."""
    UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"
    """This broker has no such partition."""
