"""The arithmetic of the buffer pool, as pure functions with contracts.

The contracts (PEP 316: ``pre`` and ``post`` lines in the docstrings) are proved over all paths by
CrossHair in the test suite. All sizes are in bytes and not negative; `poolable_size` is positive.

    >>> from wheelproof.producer.pool_arithmetic import buffers_to_drop, enough
    >>> enough(50, non_pooled=10, free_count=2, poolable_size=20)
    True
    >>> buffers_to_drop(50, non_pooled=10, free_count=2, poolable_size=20)
    2
"""


def free_list_size(free_count: int, poolable_size: int) -> int:
    """Return the memory in the free list (standard 3.2).

    pre: free_count >= 0
    pre: poolable_size > 0
    post: _ >= free_count
    post: _ - poolable_size * free_count == 0
    """
    return free_count * poolable_size


def enough(size: int, non_pooled: int, free_count: int, poolable_size: int) -> bool:
    """Tell whether `size` bytes can be had without waiting (standard 3.2).

    pre: free_count >= 0
    pre: poolable_size > 0
    post: _ == (size - non_pooled <= free_count * poolable_size)
    """
    return non_pooled + free_list_size(free_count, poolable_size) >= size


def buffers_to_drop(wanted: int, non_pooled: int, free_count: int, poolable_size: int) -> int:
    """Return how many free buffers have to be dropped for `wanted` bytes (standard 3.2).

    No more than are needed: all of them if not even that is enough.

    pre: wanted >= 0
    pre: non_pooled >= 0
    pre: free_count >= 0
    pre: poolable_size > 0
    post: 0 <= _ <= free_count
    post: _ == free_count or non_pooled + _ * poolable_size >= wanted
    post: _ == 0 or non_pooled + (_ - 1) * poolable_size < wanted
    """
    missing = max(wanted - non_pooled, 0)
    return min(-(-missing // poolable_size), free_count)


def memory_taken(wanted: int, non_pooled: int) -> int:
    """Return what a waiter takes of the memory that is there (standard 3.3).

    pre: wanted >= 0
    pre: non_pooled >= 0
    post: 0 <= _ <= wanted
    post: _ <= non_pooled
    post: _ == wanted or _ == non_pooled
    """
    return min(wanted, non_pooled)


def goes_to_free_list(size: int, capacity: int, poolable_size: int) -> bool:
    """Tell whether a buffer that comes back is kept for reuse (standard 3.7).

    pre: poolable_size > 0
    post: _ == (size == poolable_size and capacity == poolable_size)
    """
    return size == poolable_size == capacity
