"""The picture of the steps: every action has its place, every recorded step its arrow."""

from wheelproof_spark.report.step_graph import step_graph


def test_every_action_and_every_step_is_drawn() -> None:
    actions = [f"a{number}" for number in range(12)]
    steps = {("", "a0"): 2, ("a0", "a1"): 5, ("a1", "a2"): 1, ("a2", "a0"): 4, ("a1", "a1"): 1}
    graph = step_graph("title", actions, steps)
    assert [node.name for node in graph.nodes] == actions
    assert [node.count for node in graph.nodes][:4] == [6, 6, 1, 0]
    assert {edge.title for edge in graph.edges} == {
        f"{before} → {after}: {count}" for (before, after), count in steps.items() if before
    }
    places = {(node.x, node.y) for node in graph.nodes}
    assert len(places) == len(actions)
    assert all(x < graph.width and y < graph.height for x, y in places)
    rows = {node.name: node.y for node in graph.nodes}
    assert rows["a0"] < rows["a1"] < rows["a2"] < rows["a3"] == rows["a4"]
