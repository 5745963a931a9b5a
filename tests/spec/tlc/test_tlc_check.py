"""Verdicts: each way in which a run can differ from what the manifest says."""

from dataclasses import replace

import pytest

from support.tlc.toolchains import fixture_model, frame, run_of
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.tlc.judging.check import Judgement, judge
from wheelproof_spec.tlc.manifest.cfg import parse_cfg
from wheelproof_spec.tlc.manifest.model import Model
from wheelproof_spec.tlc.running.launch import Simulation, TlcRun
from wheelproof_spec.tlc.running.process import Ending

COUNTS = frame(2199, "15 states generated, 13 distinct states found, 0 states left on queue.")
DEPTH = frame(2194, "The depth of the complete state graph search is 7.")
FINISHED = frame(2186, "Finished in 600ms")
COVERAGE = "".join(
    frame(2772, f"<{name} line {line}, col 1 to line {line}, col 9 of module Lock>: 1:{taken}")
    for name, line, taken in (("Acquire", 1, 4), ("Steal", 2, 0), ("Done", 3, 2))
)
SUCCESS = frame(2193, "Model checking completed. No error has been found.")
REACHED = '<<"wheelproof reached", "WitnessBothCounted", 6>>\n'
PASSING = REACHED + SUCCESS + COVERAGE + COUNTS + DEPTH + FINISHED
STATES = frame(2217, "1: <Initial predicate>\nn = 0", 4) + frame(
    2217, "2: <Step line 6, col 1 to line 6, col 7 of module Lock>\nn = 2", 4
)
INVARIANT = frame(2110, "Invariant NobodyCounts is violated.", 1)


def _model(name: str = "MCLock_pass") -> Model:
    return fixture_model(name)


def _failing() -> Model:
    return replace(_model("MCLock_invariant"), trace_length=2)


def _only_problem(judgement: Judgement, verdict: Verdict) -> str:
    assert judgement.verdict is verdict
    assert len(judgement.problems) == 1
    return judgement.problems[0]


def test_a_pass() -> None:
    assert judge(_model(), run_of(PASSING)) == Judgement(verdict=Verdict.PASS)


@pytest.mark.parametrize(("key", "measured"), [("distinct", 13), ("generated", 15), ("depth", 7)])
def test_a_wrong_number(key: str, measured: int) -> None:
    values = {"distinct": 13, "generated": 15, "depth": 7, key: 99}
    model = replace(
        _model(),
        distinct=values["distinct"],
        generated=values["generated"],
        depth=values["depth"],
    )
    problem = _only_problem(judge(model, run_of(PASSING)), Verdict.FAIL)
    assert problem == f"{key}: 99 expected, {measured} measured"


def test_an_action_that_was_never_taken() -> None:
    model = replace(_model(), unreached_actions=())
    problem = _only_problem(judge(model, run_of(PASSING)), Verdict.FAIL)
    assert problem.startswith("the action Steal of Lock was never taken (line 2")


def test_an_action_that_is_taken_though_listed() -> None:
    model = replace(_model(), unreached_actions=("Steal", "Done"))
    problem = _only_problem(judge(model, run_of(PASSING)), Verdict.FAIL)
    assert problem == "the action Done is listed as unreached, but was taken 2 times"


def test_an_action_that_is_listed_and_unknown() -> None:
    model = replace(_model(), unreached_actions=("Steal", "Borrow"))
    problem = _only_problem(judge(model, run_of(PASSING)), Verdict.FAIL)
    assert problem == "Borrow is listed as unreached, but TLC knows no such action"


def test_no_action_of_the_module_under_test() -> None:
    model = replace(_model(), specifies="MCLock")
    problem = _only_problem(judge(model, run_of(PASSING)), Verdict.FAIL)
    assert problem == "TLC saw no action of the module MCLock"


def test_a_model_that_should_pass_and_fails() -> None:
    problem = _only_problem(judge(_model(), run_of(INVARIANT + STATES, 12)), Verdict.FAIL)
    assert problem == "pass was expected, but TLC found the invariant NobodyCounts violated"


@pytest.mark.parametrize("name", ["MCLock_known_bug", "MCLock_invariant", "MCLock_lasso"])
def test_a_model_that_should_fail_and_passes(name: str) -> None:
    problem = _only_problem(judge(_model(name), run_of(PASSING)), Verdict.FAIL)
    assert problem.endswith("was expected, but TLC found no error")


def test_the_expected_failure() -> None:
    assert judge(_failing(), run_of(INVARIANT + STATES, 12)).verdict is Verdict.PASS


def test_a_counterexample_of_another_length() -> None:
    model = replace(_failing(), trace_length=9)
    problem = _only_problem(judge(model, run_of(INVARIANT + STATES, 12)), Verdict.FAIL)
    assert problem == "trace_length: 9 expected, 2 measured"


@pytest.mark.parametrize(
    ("text", "exit_code", "found"),
    [
        (frame(2110, "Invariant TypeOK is violated.", 1), 12, "the invariant TypeOK violated"),
        (frame(2114, "Deadlock reached.", 1), 11, "a deadlock"),
        (frame(2116, "Temporal properties were violated.", 1), 13, "a liveness property violated"),
        (frame(2104, "Assumption line 1 is false.", 1), 10, "a false assumption (line 1)"),
        (
            frame(2112, "Action property line 6 of module Abs is violated.", 1),
            13,
            "the action property line 6 of module Abs violated",
        ),
    ],
)
def test_another_failure_than_the_expected_one(text: str, exit_code: int, found: str) -> None:
    problem = _only_problem(judge(_failing(), run_of(text, exit_code)), Verdict.FAIL)
    assert problem == f"invariant: NobodyCounts was expected, but TLC found {found}"


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("NobodyFinishes", Verdict.PASS),
        ("line 6, col 17 to line 6, col 24 of module Abs", Verdict.PASS),
        ("Other", Verdict.FAIL),
    ],
)
def test_action_properties_are_known_by_name_or_place(name: str, verdict: Verdict) -> None:
    model = replace(_model("MCLock_action_property"), trace_length=2)
    text = frame(2112, f"Action property {name} is violated.", 1) + STATES
    assert judge(model, run_of(text, 13)).verdict is verdict


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        (PASSING.replace(COUNTS, ""), "its statistics are missing"),
        (PASSING.replace(DEPTH, ""), "its statistics are missing"),
        (PASSING.replace(" 0 states left", " 3 states left"), "3 states are left on its queue"),
        (PASSING.replace(FINISHED, ""), "its closing message is missing"),
        (PASSING.replace(SUCCESS, ""), "its closing message is missing"),
        (PASSING + frame(2192, "Checking temporal properties"), "did not finish checking"),
    ],
)
def test_a_success_that_is_none(text: str, sign: str) -> None:
    problem = _only_problem(judge(_model(), run_of(text)), Verdict.INCONCLUSIVE)
    assert problem.startswith("TLC claims success, but ")
    assert sign in problem


def test_out_of_memory() -> None:
    text = frame(1001, "Java ran out of memory.", 1)
    problem = _only_problem(judge(_model(), run_of(text, 255)), Verdict.INCONCLUSIVE)
    assert problem == "Java ran out of memory; no states were counted yet"


@pytest.mark.parametrize(
    ("ending", "words"),
    [(Ending.INTERRUPTED, "interrupted"), (Ending.OUT_OF_TIME, "not finished within the limit")],
)
def test_a_run_that_was_cut_short(ending: Ending, words: str) -> None:
    text = frame(
        2200, "Progress(5) at 1: 14 states generated, 11 distinct states found, 3 states left"
    )
    problem = _only_problem(judge(_failing(), run_of(text, -9, ending)), Verdict.INCONCLUSIVE)
    assert problem.startswith(words)
    assert "11 distinct states were found so far, 3 of them not explored" in problem


@pytest.mark.parametrize(
    ("text", "exit_code", "words"),
    [
        (
            frame(2229, "The invariant X is\nnot defined.", 1),
            151,
            "The invariant X is not defined.",
        ),
        ("Exception in thread main\n", 1, "exit code 1; its last words: Exception in thread main"),
        (INVARIANT + STATES, 0, "NobodyCounts violated with exit code 0"),
        (
            INVARIANT + frame(2217, "1: <Initial predicate>\nn = SUBSET S", 4),
            12,
            "a state that TLC printed is unreadable",
        ),
    ],
)
def test_a_crash_is_no_verdict(text: str, exit_code: int, words: str) -> None:
    assert words in _only_problem(judge(_failing(), run_of(text, exit_code)), Verdict.ERROR)


def test_a_witness_that_is_missed() -> None:
    problem = _only_problem(judge(_model(), run_of(PASSING.replace(REACHED, ""))), Verdict.FAIL)
    assert problem == "the witness WitnessBothCounted was never reached"


SIMULATED = frame(2209, "Progress(-1): 1,215 states generated, -1 distinct states found") + FINISHED
SIMULATION = Simulation(behaviours=20, depth=50, seed=0)


def _simulation(text: str, exit_code: int = 0) -> TlcRun:
    return replace(run_of(text, exit_code), simulation=SIMULATION)


@pytest.mark.parametrize(
    ("model", "text", "exit_code", "verdict"),
    [
        (_model(), SIMULATED, 0, Verdict.PASS),
        # What was not met may be there: only a complete search could tell.
        (_failing(), SIMULATED, 0, Verdict.INCONCLUSIVE),
        (_failing(), INVARIANT + STATES + SIMULATED, 12, Verdict.PASS),
        # A way at random need not be a shortest one.
        (replace(_failing(), trace_length=1), INVARIANT + STATES + SIMULATED, 12, Verdict.PASS),
        (_model(), INVARIANT + STATES + SIMULATED, 12, Verdict.FAIL),
        (_model(), SIMULATED.replace("1,215", "0"), 0, Verdict.INCONCLUSIVE),
        (_model(), SIMULATED.replace(FINISHED, ""), 0, Verdict.INCONCLUSIVE),
        (_model(), FINISHED, 0, Verdict.INCONCLUSIVE),
    ],
)
def test_a_simulation(model: Model, text: str, exit_code: int, verdict: Verdict) -> None:
    assert judge(model, _simulation(text, exit_code)).verdict is verdict


def test_a_model_of_no_manifest() -> None:
    model = replace(_model(), listed=False, distinct=1, unreached_actions=(), witnesses=())
    assert judge(model, run_of(PASSING)).verdict is Verdict.PASS
    problem = _only_problem(judge(model, run_of(INVARIANT + STATES, 12)), Verdict.FAIL)
    assert problem == "TLC found the invariant NobodyCounts violated"
    nothing = replace(model, cfg=parse_cfg("M.cfg", "SPECIFICATION Spec\n"))
    assert judge(nothing, run_of(PASSING)).verdict is Verdict.PASS
    unchecked = judge(replace(nothing, check_deadlock=False), run_of(PASSING))
    assert "M.cfg names nothing to check" in _only_problem(unchecked, Verdict.INCONCLUSIVE)
