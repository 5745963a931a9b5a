"""asyncio on the model checker: each task is a thread, and any that is ready may go on next.

Locks, events, conditions, queues, `wait_for`, `gather` and groups are asyncio's own code. `plain`
makes programs of functions in which there is no word of this project, coroutines or not.
"""
