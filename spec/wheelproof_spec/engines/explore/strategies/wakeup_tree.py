"""Wake-up trees: the beginnings of runs that still have to be explored from one point.

P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Source Sets: A Foundation for Optimal Dynamic
Partial Order Reduction", JACM 64 (2017).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from wheelproof_spec.engines.explore.runtime.accesses import Event, weak_initial


@dataclass(slots=True)
class WakeupNode:
    """A step to be made, and what has to follow it; the children are in the order of insertion."""

    event: Event
    children: "list[WakeupNode]" = field(default_factory=list["WakeupNode"])


def insert(children: list[WakeupNode], sequence: Sequence[Event]) -> None:
    """Make sure that some branch begins a run that is equivalent to one that begins `sequence`."""
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
