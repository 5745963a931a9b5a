"""The violation that a judge returns when the contract is broken."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A broken rule: its name, what the contract allows, what was seen, and why in a sentence."""

    rule: str
    expected: str
    observed: str
    reason: str
