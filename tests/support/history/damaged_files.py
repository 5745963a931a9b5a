"""Files of lines, and ways to damage them as disks, editors and careless recorders do."""

import random
from dataclasses import replace

from support.agreement.small_histories import History
from wheelproof_spec.base.codec.writer import format_line


def timer_file(history: History, name: str) -> tuple[bytes, ...]:
    """Return the lines of a history."""
    header = replace(history.header, history=name)
    ops = [replace(op, history=name) for op in history.ops]
    end = replace(history.end, history=name)
    return tuple(format_line(one) for one in (header, *ops, end))


def damaged_file(lines: tuple[bytes, ...], chance: random.Random) -> bytes:
    """Return the file with lines cut, duplicated, reordered, or bytes changed."""
    found = list(lines)
    for _ in range(chance.randrange(3)):
        at = chance.randrange(len(found))
        match chance.randrange(6):
            case 0:
                found[at] = found[at][: chance.randrange(1, len(found[at]) + 1)]
            case 1:
                found.insert(at, found[at])
            case 2:
                other = chance.randrange(len(found))
                found[at], found[other] = found[other], found[at]
            case 3:
                place = chance.randrange(len(found[at]))
                found[at] = found[at][:place] + bytes([chance.randrange(256)]) + found[at][place:]
            case 4:
                del found[at]
                if not found:
                    return b""
            case _:
                found[at] = b"\n"
    content = b"".join(found)
    return content[: chance.randrange(len(content))] if chance.random() < 0.2 else content
