"""The timer: tasks, buckets, hierarchical timing wheels, the delay queue."""
