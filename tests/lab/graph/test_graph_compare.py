"""The comparison of two graphs: what counts as a difference, and the way to it."""

from collections.abc import Mapping, Sequence

from wheelproof_lab.graph.comparing.compare import Comparison, Side, compare
from wheelproof_lab.graph.comparing.projected import Move, ProjectedGraph
from wheelproof_lab.graph.comparing.report import difference_lines


def _graph(values: Sequence[int], moves: Mapping[int, Sequence[Move]]) -> ProjectedGraph:
    return ProjectedGraph(
        observations=[(("x", value),) for value in values],
        moves=[moves.get(number, ()) for number in range(len(values))],
        initial=frozenset({0}),
    )


def _differences(comparison: Comparison) -> list[tuple[Side, str | None, list[str | None]]]:
    return [
        (one.side, one.action, [label for label, _ in one.path]) for one in comparison.differences
    ]


_COUNT = _graph([0, 1, 2], {0: [("Up", 1)], 1: [("Up", 2)]})


def test_a_graph_equals_itself() -> None:
    comparison = compare(_COUNT, _COUNT)
    assert comparison.equal
    assert (comparison.code.seen_states, comparison.code.seen_edges) == (3, 2)


def test_steps_that_show_nothing_are_passed_over() -> None:
    slow = _graph([0, 0, 1, 1, 2], {0: [(None, 1)], 1: [("Up", 2)], 2: [(None, 3)], 3: [("Up", 4)]})
    assert compare(slow, _COUNT).equal
    assert compare(_COUNT, slow).equal


def test_a_step_that_shows_is_no_stuttering() -> None:
    silent = _graph([0, 1, 2], {0: [(None, 1)], 1: [("Up", 2)]})
    assert _differences(compare(silent, _COUNT)) == [
        (Side.CODE, "(no action)", []),
        (Side.SPEC, "Up", []),
    ]


def test_an_edge_that_the_module_lacks() -> None:
    more = _graph([0, 1, 2], {0: [("Up", 1)], 1: [("Up", 2)], 2: [("Reset", 0)]})
    assert _differences(compare(more, _COUNT)) == [
        (Side.CODE, "Reset", ["Up", "Up"]),
        (Side.SPEC, None, ["Up", "Up"]),
    ]


def test_an_edge_that_the_code_lacks() -> None:
    loop = _graph([0, 1, 2], {0: [("Up", 1)], 1: [("Up", 2), ("Stay", 1)]})
    assert _differences(compare(_COUNT, loop)) == [(Side.SPEC, "Stay", ["Up"])]


def test_another_name_or_another_result_is_a_difference() -> None:
    named = _graph([0, 1, 2], {0: [("Up", 1)], 1: [("Top", 2)]})
    assert _differences(compare(named, _COUNT)) == [
        (Side.CODE, "Top", ["Up"]),
        (Side.SPEC, "Up", ["Up"]),
    ]
    other = _graph([0, 1, 3], {0: [("Up", 1)], 1: [("Up", 2)]})
    assert [one.after for one in compare(other, _COUNT).differences] == [
        (("x", 3),),
        (("x", 2),),
    ]


def test_states_that_look_alike_but_go_on_otherwise() -> None:
    """Their edges are the same one by one; a path that turns shows the difference."""
    edges = {0: [("A", 1), ("B", 2)], 1: [("C", 3)], 2: [("D", 4)]}
    turned = {0: [("A", 1), ("B", 2)], 1: [("D", 3)], 2: [("C", 4)]}
    straight, crossed = _graph([0, 1, 1, 2, 2], edges), _graph([0, 1, 1, 2, 2], turned)
    assert straight.edges() == crossed.edges()
    assert not compare(straight, crossed).equal


def test_the_shortest_way_is_told() -> None:
    long = {0: [("Up", 1), ("Jump", 2)], 1: [("Up", 2)], 2: [("Wrong", 0)]}
    right = {**long, 2: [("Right", 0)]}
    first = compare(_graph([0, 1, 2], long), _graph([0, 1, 2], right)).differences[0]
    assert [label for label, _ in first.path] == ["Jump"]
    assert difference_lines(first) == [
        "  code only: Wrong",
        "      x: 2 -> 0",
        "    after 1 steps:",
        "        1  Jump",
    ]


def test_different_beginnings() -> None:
    assert _differences(compare(_graph([1], {}), _graph([2], {}))) == [
        (Side.CODE, "(first state)", []),
        (Side.SPEC, "(first state)", []),
    ]
