"""Makes the run of a model report which witnesses it reaches, in addition to its checks.

A root module that extends the model has one more invariant. It is always true. When a state breaks
a witness for the first time, it prints the name of the witness and the length of the path to that
state; the search is breadth-first, so no path is shorter. A TLC register for each witness says
whether it was printed.
"""

from collections.abc import Sequence
from pathlib import Path

from wheelproof_spec.tlc.states.value_parser import ValueSyntaxError, parse_value

WITNESSED_ROOT = "WheelproofRoot"
"""The module that extends the model."""
REACHED = '<<"wheelproof reached", '
"""The beginning of a line that reports a witness."""

_INVARIANT = "WheelproofWitnesses"
_REGISTERS = "WheelproofRegisters"
_FIRST_REGISTER = 1001
# TLC is instantiated locally: a model may define the same names.
_REGISTERS_MODULE = f"""---- MODULE {_REGISTERS} ----
LOCAL INSTANCE TLC
LOCAL INSTANCE Naturals
WheelproofBegins(register) == TLCSet(register, FALSE)
WheelproofReaches(register, name, witness) ==
    \\/ TLCGet(register)
    \\/ witness
    \\/ TLCSet(register, TRUE) /\\ PrintT({REACHED}name, TLCGet("level") + 1>>)
====
"""


def write_witnessed(folder: Path, module: str, witnesses: Sequence[str]) -> str:
    """Write the root module for a model into `folder`; returns the line that its cfg needs."""
    numbered = list(enumerate(witnesses, start=_FIRST_REGISTER))
    lines = [
        f"---- MODULE {WITNESSED_ROOT} ----",
        f"EXTENDS {module}, {_REGISTERS}",
        *(f"ASSUME WheelproofBegins({register})" for register, _ in numbered),
        f"{_INVARIANT} ==",
        *(
            f'    /\\ WheelproofReaches({register}, "{name}", {name})'
            for register, name in numbered
        ),
        "====",
    ]
    root = "\n".join(lines) + "\n"
    (folder / f"{WITNESSED_ROOT}.tla").write_text(root, encoding="utf-8")
    (folder / f"{_REGISTERS}.tla").write_text(_REGISTERS_MODULE, encoding="utf-8")
    return f"INVARIANT {_INVARIANT}\n"


def read_reached(line: str) -> tuple[str, int]:
    """Return the witness that a line reports, and the number of states on the path to it.

    Raises ValueSyntaxError.
    """
    match parse_value(line):
        case (str(), str() as witness, int() as length):
            return witness, length
        case _:
            raise ValueSyntaxError(f"no witness: {line[:60]!r}")
