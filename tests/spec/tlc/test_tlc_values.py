"""TLA+ values: what TLC prints is read, and what is printed is read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wheelproof_spec.tlc.states.value_parser import (
    ValueSyntaxError,
    parse_state,
    parse_value,
)
from wheelproof_spec.tlc.states.values import (
    Function,
    ModelValue,
    Record,
    Value,
    entries,
    make_function,
    show,
    show_state,
)

pytestmark = pytest.mark.slow

T1, T2 = ModelValue(name="t1"), ModelValue(name="t2")

_names = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,6}", fullmatch=True).filter(
    lambda name: name not in ("TRUE", "FALSE")
)
_model_values = _names.map(lambda name: ModelValue(name=name))
_strings = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")) | st.just("\n"))
_integers = st.integers()


def _sets(items: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    return st.frozensets(items, max_size=4)


def _functions(
    arguments: st.SearchStrategy[Value], items: st.SearchStrategy[Value]
) -> st.SearchStrategy[Value]:
    return st.dictionaries(arguments, items, max_size=4).map(lambda d: make_function(d.items()))


def _compound(items: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    return st.one_of(
        st.lists(items, max_size=4).map(lambda values: tuple(values)),
        _sets(_integers),
        _sets(_strings),
        _sets(_model_values),
        _sets(_sets(_integers)),
        _functions(_strings, items),
        _functions(_integers, items),
        _functions(_model_values, items),
        _functions(st.tuples(_model_values, _integers), items),
    )


_leaves: st.SearchStrategy[Value] = st.one_of(st.booleans(), _integers, _strings, _model_values)
_values = st.recursive(_leaves, _compound, max_leaves=12)


@given(_values)
def test_what_is_printed_is_read_back(value: Value) -> None:
    assert parse_value(show(value)) == value
    assert show(parse_value(show(value))) == show(value)


@given(st.dictionaries(_names, _values, min_size=1, max_size=4))
def test_states_are_read_back(state: dict[str, Value]) -> None:
    assert parse_state(show_state(state)) == state


@given(_values)
def test_white_space_between_symbols_means_nothing(value: Value) -> None:
    text = show(value)
    assert parse_value(f"\n  {text} \n") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-5", -5),
        ("TRUE", True),
        ("t1", T1),
        ('"y\\"z\\\\"', 'y"z\\'),
        ("{}", frozenset[Value]()),
        ("{<<t1, 0>>,\n  <<t1, 1>>}", frozenset({(T1, 0), (T1, 1)})),
        ("<<>>", ()),
        ("<<1, <<t2>>>>", (1, (T2,))),
        ("2..4", frozenset({2, 3, 4})),
        ("3..2", frozenset[Value]()),
        ("[b |-> 1, a |-> {}]", Record(pairs=(("a", frozenset[Value]()), ("b", 1)))),
        ("(t1 :> 1 @@ t2 :> 2)", Function(pairs=((T1, 1), (T2, 2)))),
        ("(0 :> 1 @@ -1 :> 2)", Function(pairs=((-1, 2), (0, 1)))),
    ],
)
def test_values_as_tlc_prints_them(text: str, value: Value) -> None:
    assert parse_value(text) == value


def test_a_function_has_one_form_however_it_is_printed() -> None:
    assert parse_value("(2 :> t2 @@ 1 :> t1)") == (T1, T2)
    assert parse_value('("a" :> 1)') == parse_value("[a |-> 1]")
    assert parse_value('("a b" :> 1)') == Function(pairs=(("a b", 1),))
    assert make_function([]) == ()


def test_booleans_are_no_arguments_of_a_sequence() -> None:
    assert isinstance(make_function([(True, 5)]), Function)


def test_entries_of_every_kind_of_function() -> None:
    assert entries(("x",)) == ((1, "x"),)
    assert entries(parse_value("[a |-> 1]")) == (("a", 1),)
    assert entries(3) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<<1",
        "{1, }",
        "[a |-> ]",
        "[]",
        "()",
        "(1 :> 2",
        "1 2",
        '"open',
        "1..t1",
        "SUBSET {1}",
        "(1 :> 2 @@ 1 :> 3)",
        "[a |-> 1, a |-> 2]",
        "0..99999999999",
        "/\\",
    ],
)
def test_what_is_no_value_is_refused(text: str) -> None:
    with pytest.raises(ValueSyntaxError):
        parse_value(text)


def test_a_state_of_one_variable_has_no_conjunction() -> None:
    assert parse_state("n = 0") == {"n": 0}


@pytest.mark.parametrize("text", ["", "n", "n = 1 /\\ n = 2", "/\\ n = 1 m = 2"])
def test_what_is_no_state_is_refused(text: str) -> None:
    with pytest.raises(ValueSyntaxError):
        parse_state(text)
