"""Arrays of numpy that show the same memory: who writes one of them writes what the other shows."""

from pathlib import Path

import pytest

from support.explore.exploring import beside_installed
from wheelproof_explore import explore
from wheelproof_explore.verdicts import Verdict

_READERS = ("a[1]", "part[0]", "part.sum()", "(part + 1)[0]", "memoryview(part)[0]", "[*part][0]")
_WRITERS = ("put(a, 1)", "put(part, 0)", "put(a.T, 1)", "a.fill(3)", "numpy.add(a, 1, out=a)")
_PROGRAM = """
def program_{number}():
    a, lock, got = numpy.zeros(3, dtype=int), threading.Lock(), []
    part = a[1:]
    def reads():
        with lock: got.append(0)
        int({reader})
    def writes():
        with lock: got.append(0)
        {writer}
    threads = [threading.Thread(target=one) for one in (reads, writes)]
    for one in threads: one.start()
    for one in threads: one.join()
"""
_PAIRS = [(reader, writer) for reader in _READERS for writer in _WRITERS]
_OWN = "import threading, numpy\ndef put(array, place): array[place] = 5\n" + "".join(
    _PROGRAM.format(number=number, reader=reader, writer=writer)
    for number, (reader, writer) in enumerate(_PAIRS)
)


@pytest.mark.parametrize("number", range(len(_PAIRS)), ids=[" beside ".join(one) for one in _PAIRS])
def test_an_array_beside_a_part_of_it_is_no_pass(tmp_path: Path, number: int) -> None:
    with beside_installed(tmp_path, {}, "own_arrays", _OWN) as own:
        exploration = explore(getattr(own, f"program_{number}"), accesses="races")
    assert exploration.verdict() is Verdict.INCONCLUSIVE, exploration.summary()
