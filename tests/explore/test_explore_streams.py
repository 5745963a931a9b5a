"""Streams in memory and loggers: whoever is given one writes there, and who looks sees that."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from support.explore.exploring import beside_installed
from wheelproof_explore.library import explore
from wheelproof_explore.verdicts import Verdict

_OWN = """
import configparser, io, json, logging, logging.handlers, pickle, pprint, random, struct
import threading, traceback
from xml.etree import ElementTree
class Seen: n = 0
def two(*targets):
    threads = [threading.Thread(target=target) for target in targets]
    for one in threads: one.start()
    for one in threads: one.join()
def two_looks(change, look):
    # Something else is seen.
    seen, lock = Seen(), threading.Lock()
    def writes():
        with lock: seen.n += 1
        change()
    def looks():
        with lock: seen.n += 1
        one, other = look(), look()
        assert one == other
    two(writes, looks)
def logger_with(handler):
    logger = logging.Logger("own")
    logger.addHandler(handler)
    return logger
def wrong_json():
    text = io.StringIO()
    two_looks(lambda: json.dump([1], text), text.getvalue)
def wrong_pickle():
    data = io.BytesIO()
    two_looks(lambda: pickle.dump([1], data), data.getvalue)
def wrong_place_of_a_pickle():
    data = io.BytesIO(pickle.dumps([1]))
    two_looks(lambda: pickle.load(data), data.tell)
def wrong_traceback():
    text = io.StringIO()
    two_looks(lambda: traceback.print_stack(file=text), text.getvalue)
def wrong_pretty_text():
    text = io.StringIO()
    two_looks(lambda: pprint.pprint([1], stream=text), text.getvalue)
def wrong_settings():
    settings, text = configparser.ConfigParser(), io.StringIO()
    settings.add_section("a")
    two_looks(lambda: settings.write(text), text.getvalue)
def wrong_tree():
    tree, text = ElementTree.ElementTree(ElementTree.Element("a")), io.StringIO()
    two_looks(lambda: tree.write(text, "unicode"), text.getvalue)
def wrong_packed():
    data, number = bytearray(8), struct.Struct("i")
    two_looks(lambda: number.pack_into(data, 0, 7), lambda: data[0])
def wrong_read_into():
    data, there = bytearray(3), io.BytesIO(b"abc")
    two_looks(lambda: there.readinto(data), lambda: data[0])
def wrong_shuffled():
    items, drawn = [1, 2, 3], random.Random(3)
    two_looks(lambda: drawn.shuffle(items), lambda: items[0])
def wrong_log_in_a_stream():
    text = io.StringIO()
    logger = logger_with(logging.StreamHandler(text))
    two_looks(lambda: logger.warning("x"), text.getvalue)
def wrong_log_in_memory():
    memory = logging.handlers.MemoryHandler(10)
    logger = logger_with(memory)
    two_looks(lambda: logger.error("x"), lambda: len(memory.buffer))
def wrong_log_of_a_child():
    text = io.StringIO()
    logging.getLogger("own_streams").addHandler(logging.StreamHandler(text))
    logger = logging.getLogger("own_streams.child")
    two_looks(lambda: logger.warning("x"), text.getvalue)
def wrong_log_that_a_list_keeps():
    kept, handler = [], logging.Handler()
    handler.emit = kept.append
    logger = logger_with(handler)
    two_looks(lambda: logger.log(50, "x"), lambda: len(kept))
def wrong_update_of_an_exposed_object():
    seen = Seen()
    two_looks(lambda: vars(seen).update(n=3), lambda: seen.n)
def right_level():
    text = io.StringIO()
    logger = logger_with(logging.StreamHandler(text))
    logger.setLevel("ERROR")
    two_looks(lambda: logger.info("x"), text.getvalue)
def right_logs():
    text = io.StringIO()
    logger = logger_with(logging.StreamHandler(text))
    two(lambda: logger.warning("x"), lambda: logger.warning("x"))
    assert text.getvalue().split() == ["x", "x"]
def right_dump_under_a_lock():
    text, lock = io.StringIO(), threading.Lock()
    def work():
        with lock: json.dump([1], text)
    two(work, work)
    assert text.getvalue() == "[1][1]"
"""


def _named(what: str) -> list[str]:
    begin = f"def {what}_"
    return [line[len("def ") : -3] for line in _OWN.splitlines() if line.startswith(begin)]


@pytest.fixture
def own(tmp_path: Path) -> Iterator[ModuleType]:
    with beside_installed(tmp_path, {}, "own_streams", _OWN) as module:
        yield module


@pytest.mark.parametrize("name", _named("wrong"))
def test_what_a_call_writes_there_is_seen(own: ModuleType, name: str) -> None:
    found = explore(getattr(own, name)).counterexample
    assert found is not None
    assert "AssertionError" in found.failure.message


@pytest.mark.parametrize("name", _named("wrong"))
def test_it_is_no_pass_in_the_search_for_data_races(own: ModuleType, name: str) -> None:
    assert explore(getattr(own, name), accesses="races").verdict() is not Verdict.PASS


@pytest.mark.parametrize("name", _named("right"))
def test_what_is_right_passes(own: ModuleType, name: str) -> None:
    exploration = explore(getattr(own, name))
    assert exploration.verdict() is Verdict.PASS, exploration.summary()
