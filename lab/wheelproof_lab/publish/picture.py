"""The picture of the README: a counterexample from top to bottom, a block for each turn.

It is so narrow that its text can be read on a phone.

``python -m wheelproof_lab pages picture`` renews it; a test compares it.
"""

from itertools import groupby

from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Engine, Options
from wheelproof_lab.publish.markdown import renew
from wheelproof_lab.worlds.all_programs import find_program
from wheelproof_spec.base.drawing import Markup, element

PAGE = "docs/examples/counterexample.svg"
PROGRAM = "bug/test-then-submit"

_TITLE = "A cancel returns, and the task runs all the same"
_WIDTH, _LANE, _LINE, _LEFT, _TOP = 420, 20, 18, 20, 64
_LETTERS = 50
"""The most letters of a line of text."""
_SHOWN = 4
"""The number of steps shown at each end of a block that a thread runs without interruption."""
_STYLE = """
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328 }
.title { font: 600 14px system-ui, sans-serif } .soft { fill: #59636e } .switch { fill: #b35900 }
.ground { fill: #ffffff } .lane { fill: #ddf4ff } .edge { stroke: #b35900; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .soft { fill: #9198a1 } .switch { fill: #f0883e }
.ground { fill: #0d1117 } .lane { fill: #12314f } .edge { stroke: #f0883e } }
"""


def render() -> str:
    """Return the picture."""
    options = Options(engine=Engine.OPTIMAL)
    found = explore(find_program(PROGRAM), options).counterexample
    assert found is not None, f"{PROGRAM} has to fail"
    lane_of = {name: number for number, name in enumerate(found.threads)}
    switched = {step for step, _, _ in found.deviations}
    drawn: list[Markup] = []
    y = _TOP
    numbered = enumerate(found.steps, start=1)
    for name, group in groupby(numbered, key=lambda numbered_step: numbered_step[1].thread):
        block = list(group)
        shown = [f"{number:>2}  {step.text}" for number, step in block]
        if len(shown) > 2 * _SHOWN + 1:
            shown[_SHOWN:-_SHOWN] = [f"    ... {len(shown) - 2 * _SHOWN} steps"]
        if block[0][0] in switched:
            drawn.append(_line(_LEFT - 8, y - 14, _WIDTH - 12))
            drawn.append(_text("switch", _LEFT, y, "the only switch of threads"))
            y += _LINE + 4
        x = _LEFT + _LANE * lane_of[name]
        lines = [line for text in shown for line in _lines_of(text)]
        height = _LINE * (len(lines) + 1)
        drawn.append(
            element("rect", class_="lane", x=x - 8, y=y - 13, width=_WIDTH - x, height=height, rx=4)
        )
        for text in (f"thread {name}", *lines):
            soft = text.startswith("thread") or "..." in text
            drawn.append(_text("soft" if soft else "", x, y, text))
            y += _LINE
        y += 6
    end = "The task ran, and its cancel returned true:"
    last = "on Kafka 4.4.0 as well."
    height = y + _LINE + 12
    picture = element(
        "svg",
        element("title", _TITLE),
        element("style", Markup(_STYLE)),
        element("rect", class_="ground", width=_WIDTH, height=height, rx=6),
        _text("title", _LEFT - 8, 32, _TITLE),
        *drawn,
        _text("switch", _LEFT - 8, y + 4, end),
        _text("switch", _LEFT - 8, y + 4 + _LINE, last),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {height}",
        width=_WIDTH,
        role="img",
    )
    return f"{picture}\n"


def _lines_of(step: str) -> tuple[str, ...]:
    """Return a step in one line, or with its arguments in a second one."""
    called, _, arguments = step.partition("(")
    return (step,) if len(step) <= _LETTERS else (f"{called}(", " " * 8 + arguments)


def _text(kind: str, x: int, y: int, content: str) -> Markup:
    return element("text", content, class_=kind, x=x, y=y, style="white-space: pre")


def _line(left: int, y: int, right: int) -> Markup:
    return element("line", class_="edge", x1=left, y1=y, x2=right, y2=y)


def renew_page() -> int:
    """Write the picture, and return the exit code."""
    return renew(PAGE, render)
