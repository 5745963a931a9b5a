"""Mutants of TLA+ modules: one change of a line of a definition that behaviours depend on.

The operators: a guard left out, an update that changes nothing, a comparison or a boundary, an
operator of arithmetic or logic, a constant, another next step. Changes that TLC could not read or
evaluate are not made: a variable without a value, or conjunctions mixed with disjunctions.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import pairwise

from wheelproof_lab.detect.mutation.mutants import Mutant

TLA = "tla:"
"""The prefix of the ids of these mutants."""
_DEFINITION = re.compile(r"(\w+)(?:\([^)]*\))?(?:\[[^\]]*\])? ==(?!=)")
_BEGIN = re.compile(r"(CONSTANTS?|VARIABLES?|ASSUME|THEOREM|INSTANCE|LOCAL|----|====|\(\*)")
_CONJUNCT = re.compile(r"(\s*(?:\w+(?:\([^)]*\))? == )?/\\ )(.+)")
_UPDATE = re.compile(r"(\w+)' (?:=|\\in) ")
_FIRST_VALUE = re.compile(r"\s*(?:\w+ == )?/\\ \w+ = ")
_TEMPORAL = re.compile(r"\b[WS]F_|\]_")
_WORD = re.compile(r'"[^"]*"|\w+|\'')
_BULLET = "".join(
    rf"(?<!{word})" for word in (r"\s", r"[/\\:(]", "==", "=>", r"\bIN", "THEN", "ELSE")
)
"""Text before a conjunction or disjunction sign that is a bullet, and no infix operator."""
_PART = re.compile(
    r"<<|>>|[(\[{}\])]|=>|==|,|:|\b(?:IF|THEN|ELSE|IN|LET)\b|" + _BULLET + r" (?:/\\|\\/) "
)
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
    ("boolean", r"\bTRUE\b", "FALSE"),
    ("boolean", r"\bFALSE\b", "TRUE"),
    ("negation", r"~(?=\w)", ""),
    ("constant", r"\b0\b", "1"),
    # -1 stands for "idle" or "expired" in the modules: any other negative number would do.
    ("constant", r"(?<!-)\b1\b", "2"),
)


def tla_mutants(
    module: str, text: str, among: Collection[str], acting: Collection[str]
) -> Iterator[Mutant]:
    """Yield the mutants of those definitions of a module that are in `among`.

    The definitions in `acting` give variables their next values, directly or through others.
    """
    return (mutant for mutant, _ in _mutations(module, text, among, acting))


def mutated_tla(
    module: str, text: str, among: Collection[str], acting: Collection[str], mutant: str
) -> str:
    """Return the module with the change of a mutant; raises LookupError if it has none."""
    for found, line in _mutations(module, text, among, acting):
        if found.id == mutant:
            lines = text.splitlines(keepends=True)
            lines[found.line - 1] = line + "\n"
            return "".join(lines)
    raise LookupError(f"{module} has no mutant {mutant}")


def _mutations(
    module: str, text: str, among: Collection[str], acting: Collection[str]
) -> Iterator[tuple[Mutant, str]]:
    steps, seen = sorted({*_STEP.findall(text)}), Counter[str]()
    for (number, place, line), (_, _, after) in pairwise([*_code(text), (0, "", "")]):
        if place not in among or not line:
            continue
        for operator, changed in _changes(place, line, after, steps, acting):
            name = f"{TLA}{module}.{place}/{operator}"
            seen[name] += 1
            becomes = f"- {line.strip()} / + {changed.strip()}"
            mutant = Mutant(
                id=f"{name}/{seen[name]}", operator=operator, line=number, becomes=becomes
            )
            yield mutant, changed


def _code(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the number of each line, the definition that it belongs to, and its code."""
    place = ""
    for number, line in enumerate(text.splitlines(), 1):
        if found := _DEFINITION.match(line):
            place = found[1]
        elif _BEGIN.match(line):
            place = ""
        yield number, place, line.partition("\\*")[0].rstrip()


def _changes(
    place: str, code: str, after: str, steps: list[str], acting: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield the operators that apply to a line, each with the changed line.

    A conjunct of an initial state, or one that continues in the next line, is not left out.
    """
    begins, temporal = place.startswith("Init"), _TEMPORAL.search(code) is not None
    words = {*_WORD.findall(code.removeprefix(place))}
    acts = not temporal and bool(words & {"'", "UNCHANGED", *acting})
    whole = begins or _indented(after) > _indented(code)
    update, conjunct = _UPDATE.search(code), _CONJUNCT.fullmatch(code)
    if conjunct and not whole and not acts and _is_closed(conjunct[2]):
        yield "guard left out", f"{conjunct[1]}TRUE"
    if conjunct and not whole and update and _UPDATE.match(conjunct[2]):
        yield "update left out", f"{conjunct[1]}{update[1]}' = {update[1]}"
    for step in _STEP.finditer(code):
        alike = [other for other in steps if other[0].isupper() is step[1][0].isupper()]
        other = alike[(alike.index(step[1]) + 1) % len(alike)]
        yield "another step", f'{code[: step.start()]}"{other}"{code[step.end() :]}'
    if not temporal:
        yield from _swapped(code, acts=acts)
    for operator, pattern, other in _OPERATORS:
        for found in re.finditer(pattern, code):
            # An `=` that assigns, binds or defines is not a comparison.
            if operator == "comparison" and (
                update or "|->" in code or "EXCEPT" in code or "![" in code
            ):
                continue
            # In an initial state every variable needs a value.
            if operator == "comparison" and begins and _FIRST_VALUE.match(code[: found.end()]):
                continue
            new = found.expand(other)
            yield operator, code[: found.start()] + new + code[found.end() :]


def _swapped(code: str, *, acts: bool) -> Iterator[tuple[str, str]]:
    """Yield, per chain of conjunctions or of disjunctions, the line with the other operator there.

    A conjunction that acts stays: as a disjunction it would leave variables without a value.
    """
    chains: list[list[re.Match[str]]] = [[]]
    done: list[list[re.Match[str]]] = []
    for part in _PART.finditer(code):
        sign = part[0]
        if sign in ("(", "[", "{", "<<"):
            chains.append([])
        elif sign in (")", "]", "}", ">>"):
            done.append(chains.pop())
            chains = chains or [[]]
        elif sign.strip() in ("/\\", "\\/"):
            chains[-1].append(part)
        else:
            done.append(chains[-1])
            chains[-1] = []
    for chain in (*done, *chains):
        signs = {part[0] for part in chain}
        if len(signs) == 1 and not (acts and signs == {" /\\ "}):
            other = " \\/ " if signs == {" /\\ "} else " /\\ "
            changed = code
            for part in chain:
                changed = changed[: part.start()] + other + changed[part.end() :]
            yield "boolean", changed


def _is_closed(code: str) -> bool:
    return all(code.count(left) == code.count(right) for left, right in ("()", "[]", "{}"))


def _indented(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 0
