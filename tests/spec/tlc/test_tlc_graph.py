"""The state graph: TLC's DOT is read, anything else is refused."""

from pathlib import Path

import pytest

from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.tlc.states.graph import Edge, read_graph
from wheelproof_spec.tlc.states.values import ModelValue, make_function

DOT = r"""strict digraph DiskGraph {
edge [colorscheme="paired12"]
nodesep=0.35;
subgraph cluster_graph {
color="white";
-34 [label="/\\ n = \"y\\\"z\\\\\"\n/\\ pc = (t1 :> 1 @@ t2 :> 2)",style = filled]
-34 -> 68 [label="Up",color="2",fontcolor="2"];
68 [label="/\\ n = \"\"\n/\\ pc = <<>>"];
-34 -> 68 [label="Jump",color="2",fontcolor="2"];
-34 -> 68 [label="Up",color="2",fontcolor="2"];
68 -> 68 [style="dashed"];
{rank = same; -34;}
{rank = same; 68;}
}
subgraph cluster_legend {graph[style=bold];label = "Next State Actions" style="solid"
node [ labeljust="l",colorscheme="paired12",style=filled,shape=record ]
Up [label="Up",fillcolor=2]
}}"""


def _write(folder: Path, text: str) -> Path:
    path = folder / "graph.dot"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_graph(tmp_path: Path) -> None:
    graph = read_graph(_write(tmp_path, DOT))
    t1, t2 = ModelValue(name="t1"), ModelValue(name="t2")
    assert graph.states[-34] == {"n": 'y"z\\', "pc": make_function([(t1, 1), (t2, 2)])}
    assert graph.states[68] == {"n": "", "pc": ()}
    assert graph.initial == {-34}
    assert graph.edges == {
        Edge(source=-34, target=68, action="Up"),
        Edge(source=-34, target=68, action="Jump"),
    }
    assert graph.dead_ends() == {68}
    assert graph.summary() == "2 states (1 initial, 1 dead ends), 2 edges (Jump 1, Up 1)"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("}}", "", "the graph breaks off"),
        (",style = filled]", "];", "no initial state"),
        ('68 [label="/\\\\ n = \\"\\"\\n/\\\\ pc = <<>>"];', "", "the state 68 is missing"),
        ("<<>>", "<<", "graph.dot:8: no TLA"),
    ],
)
def test_a_graph_that_is_refused(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert old in DOT
    with pytest.raises(InputRejectedError, match=problem):
        read_graph(_write(tmp_path, DOT.replace(old, new)))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputRejectedError, match="unreadable"):
        read_graph(tmp_path / "missing.dot")
