"""Wake-up trees: the beginnings of runs that still have to be explored from one point.

P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Source Sets: A Foundation for Optimal Dynamic
Partial Order Reduction", JACM 64 (2017).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from wheelproof_explore.runtime.accesses import Event, weak_initial


@dataclass(slots=True)
class WakeupNode:
    """A step to be made, and the steps that follow it; children are in the order of insertion."""

    event: Event
    children: "list[WakeupNode]" = field(default_factory=list["WakeupNode"])


def insert(children: list[WakeupNode], sequence: Sequence[Event]) -> None:
    """Make sure that some branch begins a run equivalent to one that begins with `sequence`."""
    left = list(sequence)
    while left:
        for child in children:
            place = weak_initial(child.event, left)
            if place is None:
                continue
            if place >= 0:
                del left[place]
            if not child.children:
                return
            children = child.children
            break
        else:
            for event in left:
                node = WakeupNode(event)
                children.append(node)
                children = node.children
            return


Flat = list[tuple[int, Event]]
"""A tree as a list: each step with its depth, before the steps that follow it."""


def flat(children: Sequence[WakeupNode]) -> Flat:
    """Return trees as a list, which can be pickled however deep they are."""
    found: Flat = []
    left = [(0, node) for node in reversed(children)]
    while left:
        depth, node = left.pop()
        found.append((depth, node.event))
        left += [(depth + 1, child) for child in reversed(node.children)]
    return found


def trees(steps: Flat) -> list[WakeupNode]:
    """Return the trees from which `flat` made the list."""
    levels: list[list[WakeupNode]] = [[]]
    for depth, event in steps:
        node = WakeupNode(event)
        levels[depth].append(node)
        levels[depth + 1 :] = [node.children]
    return levels[0]
