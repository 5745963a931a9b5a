"""Mutants of TLA+ modules: one change of a line of a definition, which is no property.

The operators: a guard left out, an update that changes nothing, a comparison or a boundary, an
operator of arithmetic or logic, a constant, another next step.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import pairwise

from wheelproof_spec.engines.detect.mutants import Mutant

TLA = "tla:"
"""What the ids of these mutants begin with."""
_DEFINITION = re.compile(r"(\w+)(?:\([^)]*\))?(?:\[[^\]]*\])? ==(?!=)")
_BEGIN = re.compile(r"(CONSTANTS?|VARIABLES?|ASSUME|THEOREM|INSTANCE|LOCAL|----|====|\(\*)")
_CONJUNCT = re.compile(r"(\s*(?:\w+(?:\([^)]*\))? == )?/\\ )(.+)")
_UPDATE = re.compile(r"(\w+)' (?:=|\\in) ")
_STEP = re.compile(r'(?<=, )"(\w+)"(?=\))')
_OPERATORS: tuple[tuple[str, str, str], ...] = (
    ("comparison", r"(?<=\S) = (?=\S)", " # "),
    ("comparison", r" # ", " = "),
    ("boundary", r" < ", " <= "),
    ("boundary", r" (?:<=|=<) ", " < "),
    ("boundary", r" > ", " >= "),
    ("boundary", r" >= ", " > "),
    ("arithmetic", r"(?<=\S) \+ ", " - "),
    ("arithmetic", r"(?<=\S) - (?=\S)", " + "),
    ("boolean", r"(?<=\S) /\\ ", r" \\/ "),
    ("boolean", r"(?<=\S) \\/ ", r" /\\ "),
    ("boolean", r"\bTRUE\b", "FALSE"),
    ("boolean", r"\bFALSE\b", "TRUE"),
    ("negation", r"~(?=\w)", ""),
    ("constant", r"\b0\b", "1"),
    ("constant", r"\b1\b", "2"),
)


def tla_mutants(module: str, text: str, properties: Collection[str]) -> Iterator[Mutant]:
    """Yield the mutants of a module; `properties` are the definitions that are left alone."""
    return (mutant for mutant, _ in _mutations(module, text, properties))


def mutated_tla(module: str, text: str, properties: Collection[str], mutant: str) -> str:
    """Return the module with the change of a mutant; raises LookupError if it has none."""
    for found, line in _mutations(module, text, properties):
        if found.id == mutant:
            lines = text.splitlines(keepends=True)
            lines[found.line - 1] = line + "\n"
            return "".join(lines)
    raise LookupError(f"{module} has no mutant {mutant}")


def _mutations(module: str, text: str, properties: Collection[str]) -> Iterator[tuple[Mutant, str]]:
    lines, seen = text.splitlines(), Counter[str]()
    steps = sorted({*_STEP.findall(text)})
    place = ""
    for number, (line, after) in enumerate(pairwise([*lines, ""]), 1):
        if found := _DEFINITION.match(line):
            place = found[1]
        elif _BEGIN.match(line):
            place = ""
        code = line.partition("\\*")[0].rstrip()
        if not place or place in properties or not code:
            continue
        # In the first states every variable has to have a value.
        whole = _indented(after) > _indented(code) or place.startswith("Init")
        for operator, changed in _changes(code, whole, steps):
            name = f"{TLA}{module}.{place}/{operator}"
            seen[name] += 1
            becomes = f"- {code.strip()} / + {changed.strip()}"
            mutant = Mutant(
                id=f"{name}/{seen[name]}", operator=operator, line=number, becomes=becomes
            )
            yield mutant, changed


def _changes(code: str, whole: bool, steps: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the operators that apply to a line, with the line as it is then.

    A conjunct that is needed as a whole, or goes on in the next line, is not left out.
    """
    update = _UPDATE.search(code)
    conjunct = _CONJUNCT.fullmatch(code)
    if conjunct and not whole:
        if update is None and "'" not in code and "UNCHANGED" not in code:
            yield "guard left out", f"{conjunct[1]}TRUE"
        elif update and _UPDATE.match(conjunct[2]):
            yield "update left out", f"{conjunct[1]}{update[1]}' = {update[1]}"
    for step in _STEP.finditer(code):
        other = steps[(steps.index(step[1]) + 1) % len(steps)]
        yield "another step", f'{code[: step.start()]}"{other}"{code[step.end() :]}'
    for operator, pattern, other in _OPERATORS:
        for place in re.finditer(pattern, code):
            # What is assigned, bound or defined is no comparison.
            if operator == "comparison" and (update or "|->" in code or "EXCEPT" in code):
                continue
            new = place.expand(other)
            yield operator, code[: place.start()] + new + code[place.end() :]


def _indented(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 0
