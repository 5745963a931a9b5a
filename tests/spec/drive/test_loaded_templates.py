"""The templates of `wheelproof load`: each is right, stays right if it is strange, or is found."""

import shlex
import shutil
import sys
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from support.drive.adapters import ADAPTERS
from wheelproof_spec.app.cli import main
from wheelproof_spec.app.recorded import judge_lines
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.components.accumulator.component import AccumulatorClause
from wheelproof_spec.components.buffer_pool.component import PoolClause
from wheelproof_spec.components.purgatory.component import PurgatoryClause
from wheelproof_spec.components.replication.component import ReplicationClause
from wheelproof_spec.history.reader import read_lines

TEMPLATE = ADAPTERS / "template"


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A template in which texts are replaced; `breaks` is None if it stays right."""

    component: str
    template: str
    replaced: tuple[tuple[str, str], ...] = ()
    breaks: str | None = None


POOL = partial(Changed, component="buffer_pool", template="loaded_pool.py")
PURGATORY = partial(Changed, component="purgatory", template="loaded_purgatory.py")
ACCUMULATOR = partial(Changed, component="accumulator", template="loaded_accumulator.py")
BROKER = partial(Changed, component="replication", template="loaded_broker.py")
_WAITING = "waiting = list(self._watched.get(key, ()))"

CHANGED = {
    "pool": POOL(),
    "pool that serves newcomers first": POOL(
        replaced=(
            ("self._waiting[0] is not me or not self._has(size)", "not self._has(size)"),
            ('"longest-waiting-first"', '"kafka"'),
        )
    ),
    "pool that lends a buffer twice": POOL(
        replaced=(("return self._free.pop()\n", "return self._free[-1]\n"),),
        breaks=PoolClause.LENDS_ONCE,
    ),
    "purgatory": PURGATORY(),
    "purgatory that never purges its lists": PURGATORY(replaced=((" if not one.done]", "]"),)),
    "purgatory that loses triggers": PURGATORY(
        replaced=((_WAITING, "waiting = list[Operation]()"),),
        breaks=PurgatoryClause.TRIGGER_COMPLETES,
    ),
    "accumulator": ACCUMULATOR(),
    "accumulator with a batch for almost each record": ACCUMULATOR(
        replaced=(("if queue and queue[-1].room", "if not size and queue and queue[-1].room"),)
    ),
    "accumulator that tells one offset to all": ACCUMULATOR(
        replaced=(("None if offset is None else offset + place", "offset"),),
        breaks=AccumulatorClause.RIGHT_OUTCOME,
    ),
    "broker": BROKER(),
    "broker that answers the last one first": BROKER(
        replaced=(("list(self._waiting.values())", "list(self._waiting.values())[::-1]"),)
    ),
    "broker that waits for no follower": BROKER(
        replaced=(
            (
                "min(len(self._logs[partition]), *self._followers[partition].values())",
                "len(self._logs[partition])",
            ),
        ),
        breaks=ReplicationClause.ANSWER_IS_RIGHT,
    ),
}


def test_the_accumulator_appends_nothing_to_a_batch_that_was_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A load seldom meets it: the batch has to go back while its queue is empty.
    monkeypatch.setattr(sys, "path", [str(TEMPLATE), *sys.path])
    template = import_module("loaded_accumulator")
    limits = {"batch_size": 1_000, "total_memory": 4_000, "delivery_timeout_ms": 60_000}
    accumulator = template.MyAccumulator(limits)
    told: list[tuple[int | None, str | None]] = []

    def called_back(offset: int | None, error: str | None) -> None:
        told.append((offset, error))

    accumulator.append("p", "r1", 10, 0, called_back)
    (sent,) = accumulator.drain()
    accumulator.reenqueue(sent)
    accumulator.append("p", "r2", 10, 0, called_back)
    batches = [accumulator.drain() for _ in range(2)]
    assert batches[0] == [sent]
    assert [[name for name, _ in batch.records] for (batch,) in batches] == [["r1"], ["r2"]]
    assert told == []


@pytest.mark.parametrize("name", CHANGED)
def test_a_template_is_found_if_and_only_if_it_is_wrong(name: str, tmp_path: Path) -> None:
    changed = CHANGED[name]
    shutil.copy(TEMPLATE / "loaded.py", tmp_path)
    source = (TEMPLATE / changed.template).read_text(encoding="utf-8")
    for old, new in changed.replaced:
        assert source.count(old) == 1
        source = source.replace(old, new)
    program, output = tmp_path / "program.py", tmp_path / "run.jsonl"
    program.write_text(source, encoding="utf-8")
    words = ["load", "--component", changed.component, "--threads", "4", "--operations", "300"]
    words += ["--driver", shlex.join([sys.executable, str(program)]), "--output", str(output)]
    if changed.component == "purgatory":
        words += ["--lateness-ms", "60000"]  # However busy this machine is.
    assert main(words) == ExitCode.PASS
    result = judge_lines(str(output), read_lines(output))
    assert result.rejections == []
    (judged,) = result.verdicts
    if changed.breaks is None:
        assert judged.violation is None
        assert judged.verdict is Verdict.PASS
    else:
        assert judged.violation is not None
        assert changed.breaks in {
            judged.violation.rule,
            *(one.violation.rule for one in judged.also_broken),
        }
