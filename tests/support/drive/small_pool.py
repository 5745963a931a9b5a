"""A pool of one size, without threads: `small_pool.py BEHAVIOUR`; it knows nothing of the project.

Who waits stands in a queue. It cannot be interrupted or closed, and reckons in float seconds.
BEHAVIOUR is `right`, or what is wrong with it: `forgets` who waits, `late` by 2 ms, `dies` when it
is asked for a third buffer.
"""

import json
import sys
from typing import Any

LATE_S = 0.002 if sys.argv[1] == "late" else 0.0


class Pool:
    def __init__(self, config: dict[str, int]) -> None:
        self.free = config["total_memory"] // config["poolable_size"]
        self.now_s = config["start_ms"] / 1000
        self.queue: dict[str, float] = {}
        self.lent: set[str] = set()
        self.ended: dict[str, str] = {}

    def allocate(self, buffer: str, size: int, max_time_to_block_ms: int) -> None:
        if sys.argv[1] == "dies" and len(self.lent) == 2:
            sys.exit(9)
        del size
        self.queue[buffer] = self.now_s + max_time_to_block_ms / 1000
        self.serve()
        if buffer in self.queue and max_time_to_block_ms == 0:
            self.give_up(buffer)

    def deallocate(self, buffer: str) -> None:
        self.lent.remove(buffer)
        self.free += 1
        if sys.argv[1] != "forgets":
            self.serve()

    def advance(self, to_ms: int) -> None:
        self.now_s = to_ms / 1000
        for name, deadline_s in list(self.queue.items()):
            if self.now_s > deadline_s + LATE_S:
                self.give_up(name)

    def serve(self) -> None:
        while self.free and self.queue:
            name = next(iter(self.queue))
            del self.queue[name]
            self.free -= 1
            self.lent.add(name)
            self.ended[name] = "buffer"

    def give_up(self, name: str) -> None:
        del self.queue[name]
        self.ended[name] = "exhausted"


def answer(request: dict[str, Any]) -> dict[str, object]:
    global pool
    if request["op"] == "hello":
        who = {"impl": "small-pool", "version": "1", "components": ["buffer_pool"]}
        return {**who, "capabilities": ["virtual_time"]}
    if request["op"] == "reset":
        pool = Pool(request["config"])
        return {}
    if request["op"] == "bye":
        return {}
    getattr(pool, request["op"])(**request["args"])
    ended, pool.ended = pool.ended, {}
    return {"ended": ended}


pool = Pool({"total_memory": 0, "poolable_size": 1, "start_ms": 0})
for line in sys.stdin:
    asked = json.loads(line)
    try:
        said = {"ok": answer(asked)}
    except KeyError as error:
        said = {"error": {"kind": "NotLent", "message": str(error)}}
    print(json.dumps({"id": asked["id"], **said}), flush=True)
