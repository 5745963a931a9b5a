"""`threading`, `queue`, `time` and thread pools on the model checker: real code runs unchanged.

Condition, Semaphore, Barrier, Timer, the queues and ThreadPoolExecutor are Python's own code, on
the locks and threads of this package. `patching` puts them in place while a program is explored.
"""
