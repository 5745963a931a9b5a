"""The values and states of TLA+ that TLC prints, and its graphs of states."""

from wheelproof_spec.engines.tlc.states.graph import Edge, StateGraph, read_graph
from wheelproof_spec.engines.tlc.states.value_parser import (
    ValueSyntaxError,
    parse_state,
    parse_value,
)
from wheelproof_spec.engines.tlc.states.values import (
    ModelValue,
    Record,
    State,
    Value,
    entries,
    make_function,
    show,
    show_state,
    sort_key,
)

__all__ = [
    "Edge",
    "ModelValue",
    "Record",
    "State",
    "StateGraph",
    "Value",
    "ValueSyntaxError",
    "entries",
    "make_function",
    "parse_state",
    "parse_value",
    "read_graph",
    "show",
    "show_state",
    "sort_key",
]
