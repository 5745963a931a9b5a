"""A driver that is right until it is not: `bad_driver.py BEHAVIOUR [ARGUMENT]`.

Each behaviour is a function that gets the requests after `hello`, one by one, and prints what it
likes. It knows nothing of the project.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

INTRODUCTION: dict[str, object] = {
    "impl": "bad",
    "version": "1",
    "components": ["timer"],
    "capabilities": ["virtual_time"],
}
FOREVER_S = 10_000


def requests() -> Iterator[int]:
    for line in sys.stdin:
        yield json.loads(line)["id"]


def say(text: str, end: str = "\n") -> None:
    print(text, end=end, flush=True)


def answer(number: int, fields: dict[str, object]) -> None:
    say(json.dumps({"id": number, "ok": fields}))


def wait_for_ever() -> NoReturn:
    while True:
        time.sleep(FOREVER_S)


def introduce(**changes: object) -> None:
    answer(next(requests()), {**INTRODUCTION, **changes})


def garbage() -> None:
    introduce()
    next(requests())
    say("Hello, world")


def no_utf8() -> None:
    introduce()
    next(requests())
    sys.stdout.buffer.write(b'{"id":2,"ok":"\xff"}\n')
    sys.stdout.buffer.flush()


def out_of_order() -> None:
    introduce()
    answer(next(requests()) + 1, {})


def two_answers() -> None:
    number = next(requests())
    answer(number, INTRODUCTION)
    answer(number, INTRODUCTION)
    for _ in requests():
        pass


def unknown_field() -> None:
    introduce()
    say(json.dumps({"id": next(requests()), "ok": {}, "comment": "done"}))


def unknown_answer_field() -> None:
    introduce()
    answer(next(requests()), {"colour": "blue"})


def wrong_type() -> None:
    introduce()
    answer(next(requests()), {})
    answer(next(requests()), {"fired": "a"})


def null_fired() -> None:
    introduce()
    answer(next(requests()), {})
    answer(next(requests()), {"fired": None})


def field_twice() -> None:
    introduce()
    say('{"id":2,"ok":{},"ok":{}}')


def half_introduction() -> None:
    answer(next(requests()), {"impl": "bad"})


def refuses_hello() -> None:
    error = {"kind": "UnsupportedSchema", "message": "only version 9"}
    say(json.dumps({"id": next(requests()), "error": error}))


def no_virtual_time() -> None:
    introduce(capabilities=[])
    serve_rest()


def no_timer() -> None:
    introduce(components=["purgatory"])
    serve_rest()


def says_nothing() -> None:
    wait_for_ever()


def silent() -> None:
    introduce()
    wait_for_ever()


def silent_with_words() -> None:
    introduce()
    print("waiting for a lock", file=sys.stderr, flush=True)
    wait_for_ever()


def dies() -> None:
    introduce()
    next(requests())
    print("out of buckets", file=sys.stderr, flush=True)
    sys.exit(3)


def is_killed() -> None:
    introduce()
    next(requests())
    os.kill(os.getpid(), signal.SIGKILL)


def truncated() -> None:
    introduce()
    next(requests())
    say('{"id":2,"ok"', end="")


def exits_at_once() -> None:
    return


def closes_output() -> None:
    introduce()
    next(requests())
    sys.stdout.flush()
    os.close(sys.stdout.fileno())
    os.execv(sys.executable, [sys.executable, "-c", f"import time; time.sleep({FOREVER_S})"])


def floods_errors() -> None:
    introduce()
    next(requests())
    for number in range(200_000):
        print(f"warning {number} \x1b[31m" + "x" * 80, file=sys.stderr)
    sys.stderr.flush()
    sys.exit(3)


def long_line() -> None:
    introduce()
    next(requests())
    for _ in range(100):
        sys.stdout.write("x" * 1_000_000)
    say("")


def answers_after_bye() -> None:
    introduce(capabilities=[])
    number = next(requests())
    answer(number, {})
    answer(number + 1, {})


def stays_after_bye() -> None:
    introduce(capabilities=[])
    answer(next(requests()), {})
    wait_for_ever()


def fails_after_bye() -> None:
    introduce(capabilities=[])
    answer(next(requests()), {})
    sys.exit(7)


def ignores_termination() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    leaves_a_child()
    wait_for_ever()


def leaves_a_child() -> None:
    """Start a child that holds the pipe ARGUMENT open for as long as it lives."""
    start_child(new_session=False)


def leaves_a_child_of_another_session() -> None:
    """The same, of a child that has left the driver's group."""
    start_child(new_session=True)


def leaves_a_grandchild_of_another_session() -> None:
    """The same, of a child whose parent has ended: only its environment says whose it is."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with Path(sys.argv[2]).open("w"):
                wait_for_ever()
        os._exit(0)
    os.wait()
    introduce(capabilities=[])
    answer(next(requests()), {})


def start_child(*, new_session: bool) -> None:
    code = f"import sys, time; held = open(sys.argv[1], 'w'); time.sleep({FOREVER_S})"
    subprocess.Popen([sys.executable, "-c", code, sys.argv[2]], start_new_session=new_session)
    introduce(capabilities=[])
    answer(next(requests()), {})


def eats_memory() -> None:
    introduce()
    eaten = bytearray(400 * 1024 * 1024)
    eaten[::4096] = b"x" * len(eaten[::4096])
    wait_for_ever()


def interrupts_its_judge() -> None:
    introduce()
    answer(next(requests()), {})
    next(requests())
    os.kill(os.getppid(), getattr(signal, sys.argv[2]))
    wait_for_ever()


def serve_rest() -> None:
    for number in requests():
        answer(number, {})


if __name__ == "__main__":
    globals()[sys.argv[1]]()
