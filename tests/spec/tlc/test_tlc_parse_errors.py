"""The parser's words become places, each with its error; what is no error does not."""

from wheelproof_spec.tlc.judging.parse_errors import parse_errors

_SYNTAX = """***Parse Error***
Encountered "Beginning of definition" at line 5, column 14 and token "="

Residual stack trace follows:
ExtendableExpr starting at line 5, column 14.

Fatal errors while parsing TLA+ spec in file Bad

tla2sany.semantic.AbortException
*** Abort messages: 1
In module Bad
Could not parse module Bad from file Bad.tla
"""
_EXPECTED = """Was expecting "==== or more Module body"
Encountered "]" at line 7, column 3 and token "x"
Fatal errors while parsing TLA+ spec in file /models/Bad.tla
"""
_LEXICAL = """Lexical error at line 3, column 15.  Encountered: "\\n" (10), after : "\\"a"

Fatal errors while parsing TLA+ spec in file Bad5.tla
"""
_MEANING = """Semantic errors:

*** Warnings: 1

line 2, col 1 to line 2, col 9 of module Bad

A declaration has the same name as one in Naturals.

*** Errors: 2

line 5, col 14 to line 5, col 14 of module Bad

Unknown operator: `y'.


line 8, col 18 to line 9, col 18 of module Other

The operator z requires 2 arguments
and was given 1.
"""


def test_an_error_of_syntax_has_its_place() -> None:
    told = 'Encountered "Beginning of definition" and token "="'
    assert parse_errors(_SYNTAX.splitlines()) == [f"Bad.tla:5:14: {told}"]


def test_what_was_expected_is_told() -> None:
    told = 'Was expecting "==== or more Module body"; Encountered "]" and token "x"'
    assert parse_errors(_EXPECTED.splitlines()) == [f"Bad.tla:7:3: {told}"]


def test_a_lexical_error_has_its_place() -> None:
    (error,) = parse_errors(_LEXICAL.splitlines())
    assert error.startswith("Bad5.tla:3:15: Lexical error. Encountered:")


def test_every_error_of_meaning_has_its_place_and_no_warning_is_one() -> None:
    errors = [
        "Bad.tla:5:14: Unknown operator: `y'.",
        "Other.tla:8:18: The operator z requires 2 arguments and was given 1.",
    ]
    lines = _MEANING.splitlines()
    assert parse_errors(lines) == errors
    # TLC's own output comes without the empty lines.
    assert parse_errors([line for line in lines if line]) == errors


def test_what_is_no_error_of_the_parser_has_no_place() -> None:
    assert parse_errors(["Cannot find source file for module Nowhere imported in module A."]) == []
    assert parse_errors(["line 2, col 1 to line 2, col 9 of module A", "is covered"]) == []
    assert parse_errors([]) == []
