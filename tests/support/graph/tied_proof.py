"""The actions of a proof on a few threads against TLC: the same states, the same steps.

So what is proved is proved of the module, and no transcription can drift away from it.
"""

from collections.abc import Mapping
from itertools import groupby

from wheelproof_lab.graph.comparing.comparisons import CodeSide, GraphModel
from wheelproof_lab.graph.comparing.projected import ProjectedGraph, only
from wheelproof_lab.graph.comparing.tlc_side import TlcConfiguration
from wheelproof_lab.graph.states.state_graph import observe
from wheelproof_lab.prove.finite import Run
from wheelproof_lab.prove.system import Proof, Tables, Tie
from wheelproof_lab.prove.terms import Field, Shape
from wheelproof_spec.tlc.states.values import ModelValue, State, Value, make_function

NONE = ModelValue(name="None")
_TERMINATED = "Terminated"


def graph_model(proof: Proof, tie: Tie) -> GraphModel:
    """Return the comparison of the actions of a proof with those of its module."""
    run = Run(proof.system, tie.instance, tie.fields)
    first = next(run.states())[0]
    tables = _tables(run, first)
    variables = _seen(tie, proof.system.changing, tables)
    constants = {field.name: _value(field, tables) for field in tie.fields}
    return GraphModel(
        name=f"proof-{proof.name}",
        summary=f"the actions of the proof {proof.name}",
        code=lambda _: CodeSide(graph=_graph(proof, tie)),
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


def _graph(proof: Proof, tie: Tie) -> ProjectedGraph:
    run = Run(proof.system, tie.instance, tie.fields)
    found = list(run.states())
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
