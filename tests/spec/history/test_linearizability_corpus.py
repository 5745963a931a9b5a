"""The linearizability check on long histories, on models of all kinds, and as a drawing."""

import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import pytest

from support import seeds
from support.history.linearizability import is_linearizable, longest_prefix, random_history
from support.history.linearizability_logs import (
    Workload,
    etcd_log,
    keys_and_values,
    kv_log,
    one_of,
)
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.history.linearizability.calls import Event, Invoked, Returned
from wheelproof_spec.history.linearizability.check import Model, check_history
from wheelproof_spec.history.linearizability.drawing import drawing
from wheelproof_spec.history.linearizability.models import (
    CompareAndSet,
    Do,
    GetAndSet,
    KeyValues,
    Queues,
    Read,
    RegisterOperation,
    Registers,
    Sets,
    Write,
)

pytestmark = pytest.mark.slow

_PORCUPINE = "github.com/anishathalye/porcupine@v1.3.1"
_MOST = 1_000_000
"""Configurations for each object: more than any of these histories needs."""


@pytest.fixture(scope="module")
def porcupine() -> Path:
    """The module of porcupine, whose tests have 108 logs with verdicts; Go's proxy has it."""
    told = "porcupine's logs come by `go mod download`, which needs Go and its module proxy"
    if shutil.which("go") is not None:
        command = ["go", "mod", "download", "-json", _PORCUPINE]
        found = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
        if found.returncode == 0:
            return Path(str(json.loads(found.stdout)["Dir"]))
        told = f"{told}: {found.stdout}{found.stderr}"
    if os.environ.get("CI") == "true":
        pytest.fail(told)
    pytest.skip(told)


def test_the_logs_of_porcupine_have_its_verdicts(porcupine: Path) -> None:
    tests = (porcupine / "porcupine_test.go").read_text(encoding="utf-8")
    etcd = set(re.findall(r"checkJepsen\(t, (\d+), (true|false)\)", tests))
    stores = set(re.findall(r'checkKv\(t, "([\w-]+)", (true|false), true\)', tests))
    assert (len(etcd), len(stores)) == (102, 6)
    data = porcupine / "test_data"
    wrong: list[str] = []
    for number, expected in sorted(etcd):
        text = (data / "jepsen" / f"etcd_{int(number):03}.log").read_text(encoding="utf-8")
        found = check_history(Registers(), etcd_log(text), max_configurations=_MOST)
        if found.verdict is not (Verdict.PASS if expected == "true" else Verdict.FAIL):
            wrong.append(f"etcd {number}: {found.verdict}")
    for name, expected in sorted(stores):
        text = (data / "kv" / f"{name}.txt").read_text(encoding="utf-8")
        judged = check_history(KeyValues(), kv_log(text), max_configurations=_MOST)
        if judged.verdict is not (Verdict.PASS if expected == "true" else Verdict.FAIL):
            wrong.append(f"{name}: {judged.verdict}")
    assert not wrong


_WORK = {
    "kv": Workload(KeyValues(), keys_and_values(10), clients=10, calls=400),
    "crowded-kv": Workload(KeyValues(), keys_and_values(50), clients=50, calls=1_500),
    "queue": Workload(
        Queues(),
        one_of(Do("put", 1), Do("put", 2), Do("put", 3), Do("take"), Do("take")),
        clients=3,
        calls=60,
    ),
    "set": Workload(
        Sets(),
        one_of(*(Do(f, value) for f in ("add", "remove", "contains") for value in range(3))),
        clients=4,
        calls=200,
    ),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", _WORK)
def test_generated_histories_have_an_order(name: str, seed: int) -> None:
    work = _WORK[name]
    judged = check_history(work.model, work.history(seed), max_configurations=_MOST)
    assert judged.verdict is Verdict.PASS, judged.explanation


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["kv", "crowded-kv", "queue"])
def test_generated_histories_with_one_wrong_answer_have_none(name: str, seed: int) -> None:
    work = _WORK[name]
    work.spoilt = True
    try:
        judged = check_history(work.model, work.history(seed), max_configurations=_MOST)
    finally:
        work.spoilt = False
    assert judged.explanation is not None
    assert judged.explanation.call.result == "from nowhere"
    assert judged.explanation.is_exact


def _do(*operations: tuple[str, Hashable]) -> Sequence[Do]:
    return [Do(f, value) for f, value in operations]


_FIRST = seeds.seed(0)
_MODELS: dict[str, tuple[Model[Any, Any, Hashable], Sequence[object], Sequence[Hashable]]] = {
    "compare-and-set": (
        Registers(0),
        [Read(), Write(1), CompareAndSet(0, 1), CompareAndSet(1, 0)],
        [None, True, False, 0, 1],
    ),
    "kv": (KeyValues(), _do(("get", None), ("append", "a"), ("put", "a")), [None, "a", "aa", ""]),
    "queue": (Queues(), _do(("put", 1), ("put", 2), ("take", None)), [None, 1, 2]),
    "set": (Sets(), _do(("add", 1), ("remove", 1), ("contains", 1)), [True, False]),
}


@pytest.mark.campaign
@pytest.mark.parametrize("name", _MODELS)
def test_models_are_judged_as_by_trying_everything(name: str) -> None:
    """What only looks is taken at once, and calls that are lost go last: no verdict changes."""
    model, operations, answers = _MODELS[name]
    linearizable = 0
    for seed in range(_FIRST, _FIRST + 600):
        events = random_history(random.Random(seed), operations, answers, 4)
        judged = check_history(model, events)
        expected = is_linearizable(model, events)
        linearizable += expected
        assert (judged.verdict is Verdict.PASS) == expected, (seed, events)
        if judged.explanation is not None:
            assert judged.explanation.prefix == longest_prefix(model, events), (seed, events)
    assert 20 < linearizable < 580


def test_the_first_bad_object_ends_it_however_hard_another_one_is() -> None:
    events: list[Event[RegisterOperation, Hashable]] = []
    # Sixteen writes at once, and two reads that nothing explains: 2^16 configurations to be sure.
    events += [Invoked(f"w{number}", Write(number, "hard")) for number in range(16)]
    events += [Returned(f"w{number}", None) for number in range(16)]
    events += [Invoked("r", Read("hard")), Returned("r", -1)]
    events += [Invoked("r", Read("easy")), Returned("r", -1)]
    judged = check_history(Registers(0), events)
    assert judged.explanation is not None
    assert judged.explanation.object == "easy"
    assert judged.configurations < 1_000
    # An object whose budget ends leaves the others theirs.
    bounded = check_history(Registers(0), events[:-2], max_configurations=100)
    assert bounded.verdict is Verdict.INCONCLUSIVE
    bounded = check_history(Registers(0), events, max_configurations=100)
    assert bounded.verdict is Verdict.FAIL


def test_an_explanation_that_is_cut_short_claims_no_more_than_it_knows() -> None:
    """With all answers the search is short; before they were known, a great many were possible."""
    swaps = range(17)
    events: list[Event[RegisterOperation, Hashable]] = [
        Invoked(f"p{number}", GetAndSet(number)) for number in swaps
    ]
    events += [Invoked("r", Read()), Returned("r", "from nowhere")]
    events += [Returned(f"p{number}", number - 1) for number in swaps]
    found = check_history(Registers(-1), events).explanation
    assert found is not None
    assert not found.is_exact
    assert (found.prefix, found.call.process) == (len(swaps) + 1, f"p{swaps[-1]}")
    assert "no order explains that after more events then p16" in str(found)


class _Liar(Registers):
    def observes(self, operation: RegisterOperation, result: object) -> bool:
        del operation, result
        return True


def test_a_model_whose_write_only_looks_is_refused() -> None:
    events: list[Event[RegisterOperation, Hashable]] = [Invoked("a", Write(1)), Returned("a", None)]
    with pytest.raises(ValueError, match=r"write\(x, 1\) = None observes, says the model, and"):
        check_history(_Liar(0), events)


def test_the_drawing_has_what_each_call_saw_and_the_one_that_nothing_explains() -> None:
    events: list[Event[RegisterOperation, Hashable]] = [
        Invoked("a", Write("<1>")),
        Invoked("b", Read()),
        Returned("b", "<1>"),
        Invoked("b", Read()),
        Returned("a", None),
    ]
    model = Registers(0)
    good = drawing(model, events, check_history(model, events))
    assert re.findall(r"<tr><td>.*", good) == [
        "<tr><td>1</td><td>a: write(x, &#x27;&lt;1&gt;&#x27;) = None</td>"
        "<td>the beginning</td><td>&lt;1&gt;</td></tr>",
        "<tr><td>2</td><td>b: read(x) = &#x27;&lt;1&gt;&#x27;</td>"
        "<td>&lt;1&gt;</td><td>&lt;1&gt;</td></tr>",
    ]
    assert good.count("<circle") == 2
    assert good.count("<rect") == 3
    events.append(Returned("b", 2))
    bad = drawing(model, events, check_history(model, events))
    assert "No order explains b: read(x) = 2." in bad
    assert bad.count('fill="#d33"') == 1
