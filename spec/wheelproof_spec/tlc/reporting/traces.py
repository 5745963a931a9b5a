"""Writes counterexamples as files for other programs: as plain JSON, and in the format ITF.

ITF, the Informal Trace Format of Apalache, can express what JSON lacks: sets, functions, large
integers. The plain JSON is easier to read, but does not distinguish a set from a sequence. Both
name the action of each step. A model value is written as a string with its name.
"""

from pathlib import Path

from wheelproof_spec.base.results.reports import write_json
from wheelproof_spec.tlc.judging.outcome import ModelOutcome
from wheelproof_spec.tlc.running.report import Counterexample
from wheelproof_spec.tlc.states.values import (
    Function,
    ModelValue,
    Record,
    Value,
    show,
    sort_key,
)

_LARGEST_JSON_INTEGER = 2**53 - 1


def write_traces(folder: Path, outcome: ModelOutcome) -> None:
    """Write MODEL.json and MODEL.itf.json if the run found a counterexample."""
    counterexample = outcome.run.report.counterexample
    if counterexample is not None:
        name = outcome.model.name
        write_json(folder / f"{name}.json", json_trace(name, counterexample))
        write_json(folder / f"{name}.itf.json", itf_trace(name, counterexample))


def json_trace(name: str, counterexample: Counterexample) -> dict[str, object]:
    """Return a counterexample with values as plain JSON.

    `back_to` is the number, from 1, of the state to which the last state returns, or null.
    """
    return {
        "model": name,
        "states": [
            {
                "number": number,
                "action": step.action,
                "arguments": step.arguments,
                "variables": {key: _plain(value) for key, value in sorted(step.state.items())},
            }
            for number, step in enumerate(counterexample.steps, start=1)
        ],
        "back_to": _back_to(counterexample),
    }


def itf_trace(name: str, counterexample: Counterexample) -> dict[str, object]:
    """Return a counterexample in ITF; `loop` counts from 0."""
    variables = sorted({key for step in counterexample.steps for key in step.state})
    back_to = _back_to(counterexample)
    return {
        "#meta": {"format": "ITF", "source": name, "format-description": _ITF},
        "vars": variables,
        "states": [
            {
                "#meta": {"index": index, "action": step.action},
                **{key: _itf(value) for key, value in sorted(step.state.items())},
            }
            for index, step in enumerate(counterexample.steps)
        ],
        **({} if back_to is None else {"loop": back_to - 1}),
    }


_ITF = "https://apalache-mc.org/docs/adr/015adr-trace.html"


def _back_to(counterexample: Counterexample) -> int | None:
    """Return the number of the state to which the behaviour returns: the last if it stutters."""
    return len(counterexample.steps) if counterexample.stutters else counterexample.back_to


def _plain(value: Value) -> object:
    match value:
        case ModelValue():
            return value.name
        case frozenset():
            return [_plain(item) for item in sorted(value, key=sort_key)]
        case tuple():
            return [_plain(item) for item in value]
        case Record():
            return {field: _plain(item) for field, item in value.pairs}
        case Function():
            return {
                argument if isinstance(argument, str) else show(argument): _plain(item)
                for argument, item in value.pairs
            }
        case _:
            return value


def _itf(value: Value) -> object:
    match value:
        case bool() | str():
            return value
        case int():
            is_large = abs(value) > _LARGEST_JSON_INTEGER
            return {"#bigint": str(value)} if is_large else value
        case ModelValue():
            return value.name
        case frozenset():
            return {"#set": [_itf(item) for item in sorted(value, key=sort_key)]}
        case tuple():
            return [_itf(item) for item in value]
        case Record():
            return {field: _itf(item) for field, item in value.pairs}
        case Function():
            return {"#map": [[_itf(argument), _itf(item)] for argument, item in value.pairs]}
