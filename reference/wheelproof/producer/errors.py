"""Errors of the producer's memory, named as Kafka names them.

Whether a record was taken decides whether the caller sends it again, so each error says that.

>>> from wheelproof.producer.errors import BufferExhaustedError
>>> try:
...     raise BufferExhaustedError("no memory within 5 ms")
... except TimeoutError as error:
...     print(error)
no memory within 5 ms
"""

from wheelproof.errors import WheelproofError


class BufferExhaustedError(WheelproofError, TimeoutError):
    """The memory did not come within the time that the caller allowed (standard 3.3)."""


class ProducerClosedError(WheelproofError, RuntimeError):
    """The pool or the accumulator is closed, or was closed during the call (standard 3.8)."""


class BufferOverflowError(WheelproofError, ValueError):
    """More bytes were put into a buffer than it has room for; nothing was written."""


class ForeignBufferError(WheelproofError, ValueError):
    """A buffer was given back that is not on loan: not the pool's own, or given back before.

    Nothing has changed. Kafka accepts such a buffer, and has more memory afterwards than before
    (docs/findings.md).
    """


class IllegalStateError(WheelproofError, RuntimeError):
    """A batch is not in the state in which the operation makes sense; nothing has changed."""


class DeliveryTimeoutError(WheelproofError, TimeoutError):
    """A record was not delivered within the delivery time-out (standard 4.5)."""


class RecordBatchTooLargeError(WheelproofError, ValueError):
    """The broker refused a batch for its size; its records go on in smaller ones."""


class ProducerAbortedError(WheelproofError, RuntimeError):
    """The producer was closed by force before the record was delivered (standard 4.10)."""


class ResultTimeoutError(WheelproofError, TimeoutError):
    """The result of a record did not come within the time that the caller allowed."""
