"""asyncio on the model checker: each task is a thread, and any ready task may go on next.

Locks, events, conditions, queues, `wait_for`, `gather` and groups are asyncio's own code. `plain`
makes programs of functions and coroutines that do not mention this project.
"""
