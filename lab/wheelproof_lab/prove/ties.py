"""Ties: the actions of a proof that is written a second time, against TLC's graph of the module.

Both must have the same states and the same steps, on as many small instances as it takes for every
action to occur in one of them. It is a test of a few threads, not a proof: what differs only with
more of them is not seen. A proof that is derived from the text of its module needs none.
"""

import time
from collections.abc import Mapping, Sequence
from itertools import groupby

from wheelproof_lab.graph.comparing.comparisons import CodeSide, GraphModel
from wheelproof_lab.graph.comparing.comparisons import carry_out as compare
from wheelproof_lab.graph.comparing.projected import ProjectedGraph, only
from wheelproof_lab.graph.comparing.tlc_side import TlcConfiguration
from wheelproof_lab.graph.states.state_graph import observe
from wheelproof_lab.prove.finite import Run
from wheelproof_lab.prove.system import Proof, Tables, Tie
from wheelproof_lab.prove.terms import Field, Shape
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict
from wheelproof_spec.tlc.running.launch import find_toolchain
from wheelproof_spec.tlc.states.values import ModelValue, State, Value, make_function

NONE = ModelValue(name="None")
_TERMINATED = "Terminated"


def carry_out(proof: Proof) -> list[CheckResult]:
    """Return how each tie of a proof ended, and whether every action occurs in one of them."""
    results: list[CheckResult] = []
    occurred: set[str] = set()
    for number, tie in enumerate(proof.ties, 1):
        since = time.perf_counter()
        try:
            verdict, summary, details = _tied(proof, tie, occurred)
        except WheelproofSpecError as error:
            verdict, summary, details = Verdict.INCONCLUSIVE, str(error), ""
        results.append(
            CheckResult(
                name=f"tie {number}: the same graph as {tie.module}",
                group=proof.name,
                verdict=verdict,
                seconds=time.perf_counter() - since,
                summary=summary,
                details=details,
            )
        )
    if results:
        results.append(_all_of_them(proof, occurred, results))
    return results


def _all_of_them(proof: Proof, occurred: set[str], results: Sequence[CheckResult]) -> CheckResult:
    """Return whether every action occurs in a tie, but for those that are known not to."""
    but = f", but for {len(proof.untied)}" if proof.untied else ""
    wrong = sorted(({one.name for one in proof.system.actions} - occurred) ^ set(proof.untied))
    verdict = Verdict.FAIL if wrong else Verdict.PASS
    summary = f"wrong of {', '.join(wrong)}" if wrong else f"{len(occurred)} do"
    if any(one.verdict is Verdict.INCONCLUSIVE for one in results):
        verdict, summary = Verdict.INCONCLUSIVE, "a tie was not compared, so nobody knows"
    return CheckResult(
        name=f"every action occurs in a tie{but}",
        group=proof.name,
        verdict=verdict,
        seconds=0.0,
        summary=summary,
    )


def _tied(proof: Proof, tie: Tie, occurred: set[str]) -> tuple[Verdict, str, str]:
    outcome = compare(graph_model(proof, tie, occurred), find_toolchain())
    if outcome.verdict is Verdict.PASS:
        return outcome.verdict, f"{outcome.comparison.spec.states:,} states", ""
    return outcome.verdict, "the graphs differ", "\n".join(map(str, outcome.comparison.differences))


def graph_model(proof: Proof, tie: Tie, occurred: set[str]) -> GraphModel:
    """Return the comparison of a proof's actions with its module; `occurred` gets their names."""
    run = Run(proof.system, tie.instance, tie.fields)
    first = next(run.states())[0]
    tables = _tables(run, first)
    variables = _seen(tie, proof.system.changing, tables)
    constants = {field.name: _value(field, tables) for field in tie.fields}
    return GraphModel(
        name=f"proof-{proof.name}",
        summary=f"the actions of the proof {proof.name}",
        code=lambda _: CodeSide(graph=_graph(proof, tie, occurred)),
        configuration=TlcConfiguration(
            module=tie.module,
            constants={"None": NONE, **tie.constants, **constants},
            overrides=tie.overrides,
        ),
        project=lambda state: only(state, variables),
        label=_label,
    )


def _label(action: str, before: State, after: State) -> str | None:
    del before, after
    return None if action == _TERMINATED else action


def _graph(proof: Proof, tie: Tie, occurred: set[str]) -> ProjectedGraph:
    run = Run(proof.system, tie.instance, tie.fields)
    found = list(run.states())
    occurred |= {step.action.name for _, steps in found for step in steps}
    numbers = {state: number for number, (state, _) in enumerate(found)}
    return ProjectedGraph(
        observations=[
            observe(_seen(tie, proof.system.changing, _tables(run, state))) for state, _ in found
        ],
        moves=[
            [(step.action.tla_name, numbers[step.target]) for step in steps] for _, steps in found
        ],
        initial=frozenset({0}),
    )


def _tables(run: Run, state: tuple[bool | int | str, ...]) -> Tables:
    return lambda field: run.world.table(field, state)


def _seen(tie: Tie, fields: tuple[Field, ...], tables: Tables) -> State:
    shown = {
        field.name: _value(field, tables) for field in fields if field.shape is not Shape.HIDDEN
    }
    return {**shown, **(tie.hidden(tables) if tie.hidden is not None else {})}


def _value(field: Field, tables: Tables) -> Value:
    """Return a field as TLC has it."""
    table = dict(tables(field))
    if field.domain:
        known = [tables(one) for one in field.domain]
        table = {
            place: value for place, value in table.items() if any(one[place[:1]] for one in known)
        }
    if field.shape is Shape.SET:
        return frozenset(place[0] if len(place) == 1 else place for place in table if table[place])
    if field.shape is Shape.ONE:
        return _one(field, table)
    if not field.sorts:
        return table[()]
    return make_function((place[0], value) for place, value in table.items())


def _one(field: Field, table: Mapping[tuple[str, ...], object]) -> Value:
    if len(field.sorts) == 1:
        return next((place[0] for place, holds in table.items() if holds), NONE)
    rows = groupby(table, key=lambda place: place[0])
    return make_function(
        (name, next((place[1] for place in places if table[place]), NONE)) for name, places in rows
    )
