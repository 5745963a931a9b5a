"""Terms as text: reads the tables of a proof into the language of the proofs.

``all x y: P``, ``some x: P`` and ``sum x: N`` reach as far to the right as they can; then bind,
from weak to strong, ``<=>``, ``=>``, ``|``, ``&``, ``~``, comparisons and ``in {A, B}``, ``+`` and
``-``, ``*``. ``if P then A else B`` stands in brackets or last. ``f(x)'`` is f(x) after the step.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from wheelproof_lab.prove.system import Action
from wheelproof_lab.prove.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Change,
    Field,
    Sort,
    Term,
    after,
    all_of,
    any_of,
    as_term,
    for_all,
    if_,
    there_is,
    total,
)

Names = Mapping[str, Term]
_TOKEN = re.compile(r"\s*(<=>|=>|:=|!=|<=|>=|[-+*=<>|&~(){},:;@']|\w+)")
_BINDERS: Mapping[str, Callable[[Sort, Callable[[Term], Term]], Term]] = {
    "all": for_all,
    "some": there_is,
    "sum": total,
}
_COMPARISONS: Mapping[str, Callable[[Term, Term], Term]] = {
    "=": lambda a, b: a.is_(b),
    "!=": lambda a, b: ~a.is_(b),
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The names that a text may use.

    `variables` maps the name of a variable, without digits at its end, to its sort. `definitions`
    maps a name to the names of its parameters and a text. `sets` are named lists of words.
    """

    fields: Mapping[str, Field]
    variables: Mapping[str, Sort]
    definitions: Mapping[str, tuple[Sequence[str], str]] = field(
        default_factory=dict[str, tuple[Sequence[str], str]]
    )
    sets: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    sums: dict[str, Term] = field(default_factory=dict[str, Term])

    def variable(self, name: str) -> Term:
        """Return a variable of the sort that its name says; raises ValueError."""
        sort = self.variables.get(name.rstrip("0123456789"))
        if sort is None:
            raise ValueError(f"no sort has variables like {name}")
        return sort.variable(name)

    def term(self, text: str, names: Names | None = None, sort: Sort = BOOL) -> Term:
        """Return a text as a term of a sort; raises ValueError."""
        return _Reader(self, text).whole(names or {}, sort)

    def action(self, name: str, text: str) -> Action:
        """Return an action; raises ValueError.

        The text is ``parameters: guard; change; ...``. With ``@`` for the colon, the first
        parameter is a thread whose `pc` is the action's name; ``pc := A`` then sets that thread's.
        A change is ``f(x) := value``. If x is no parameter, f changes at every element. If the last
        element is missing, the value is the only element for which f holds afterwards, or NONE.
        """
        return _Reader(self, text).action(name)


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, words: Vocabulary, text: str) -> None:
        self._words = words
        self._text = text
        self._tokens: list[str] = [*_TOKEN.findall(text), ""]
        self._at = 0
        if "".join(self._tokens) != re.sub(r"\s", "", text):
            raise ValueError(f"a sign is not known in: {text}")

    def whole(self, names: Names, sort: Sort) -> Term:
        """Return the text as one term."""
        found = self._term(names, sort)
        self._expect("")
        return as_term(found, sort)

    def action(self, name: str) -> Action:
        """Return the text as an action."""
        names: dict[str, Term] = {}
        while not self._sees(":", "@"):
            parameter = self._next()
            names[parameter] = self._words.variable(parameter)
        guard: list[Term] = []
        if self._next() == "@":
            pc = self._words.fields["pc"]
            guard.append(pc(next(iter(names.values()))).is_(name.partition(" ")[0]))
        if not self._sees(";", ""):
            guard.append(self._term(names, BOOL))
        changes: list[Change] = []
        while self._taken(";"):
            changes.append(self._change(names))
        self._expect("")
        return Action(
            name=name,
            parameters=tuple(names.values()),
            guard=all_of(*guard),
            changes=tuple(changes),
        )

    def _change(self, names: Names) -> Change:
        field_ = self._words.fields[self._next()]
        places = self._names_in_brackets() if self._seen == "(" else []
        if field_.name == "pc" and not places:
            places = [next(iter(names))]
        self._expect(":=")
        free = {one: self._words.variable(one) for one in places if one not in names}
        known = {**names, **free}
        where = [known[one] for one in places]
        if len(where) == len(field_.sorts):
            value = self._term(known, field_.result)
        else:
            last = field_.sorts[-1].variable("it")
            free["it"] = last
            where.append(last)
            value = FALSE if self._taken("NONE") else last.is_(self._term(known, last.sort))
        if not free:
            return field_.to(*where, value)
        variables = tuple(
            one if str(one.value) in free else one.sort.variable(f"at_{number}")
            for number, one in enumerate(where)
        )
        here = [x.is_(y) for x, y in zip(variables, where, strict=True) if x is not y]
        value = if_(all_of(*here), value, field_(*variables)) if here else value
        return Change(field=field_, where=variables, value=value, everywhere=True)

    def _names_in_brackets(self) -> list[str]:
        self._expect("(")
        found = [self._next()]
        while self._taken(","):
            found.append(self._next())
        self._expect(")")
        return found

    def _term(self, names: Names, sort: Sort) -> Term:
        left = self._implied(names, sort)
        while self._taken("<=>"):
            left = left.is_(self._implied(names, sort))
        return left

    def _implied(self, names: Names, sort: Sort) -> Term:
        left = self._either(names, sort)
        return left.implies(self._implied(names, sort)) if self._taken("=>") else left

    def _either(self, names: Names, sort: Sort) -> Term:
        parts = [self._both(names, sort)]
        while self._taken("|"):
            parts.append(self._both(names, sort))
        return any_of(*parts) if len(parts) > 1 else parts[0]

    def _both(self, names: Names, sort: Sort) -> Term:
        parts = [self._compared(names, sort)]
        while self._taken("&"):
            parts.append(self._compared(names, sort))
        return all_of(*parts) if len(parts) > 1 else parts[0]

    def _compared(self, names: Names, sort: Sort) -> Term:
        if self._taken("~"):
            return ~self._compared(names, sort)
        left = self._summed(names, sort)
        if self._taken("in"):
            return left.among(*self._set())
        if self._seen in _COMPARISONS:
            compare = _COMPARISONS[self._next()]
            return compare(left, self._summed(names, left.sort))
        return left

    def _set(self) -> list[str]:
        found: list[str] = []
        several = self._taken("{")
        while True:
            word = self._next()
            found += self._words.sets.get(word, (word,))
            if not (several and self._taken(",")):
                break
        if several:
            self._expect("}")
        return found

    def _summed(self, names: Names, sort: Sort) -> Term:
        left = self._multiplied(names, sort)
        while self._seen in ("+", "-"):
            plus = self._next() == "+"
            right = self._multiplied(names, sort)
            left = left + right if plus else left - right
        return left

    def _multiplied(self, names: Names, sort: Sort) -> Term:
        left = self._atom(names, sort)
        while self._taken("*"):
            left = left * self._atom(names, sort)
        return left

    def _atom(self, names: Names, sort: Sort) -> Term:
        word = self._next()
        if word == "(":
            found = self._term(names, sort)
            self._expect(")")
        elif word in _BINDERS:
            return self._bound(word, names)
        elif word == "if":
            test = self._term(names, BOOL)
            self._expect("then")
            then = self._term(names, sort)
            self._expect("else")
            return if_(test, then, self._term(names, then.sort))
        else:
            found = self._named(word, names, sort)
        return after(found) if self._taken("'") else found

    def _bound(self, binder: str, names: Names) -> Term:
        variables: list[str] = []
        while not self._taken(":"):
            variables.append(self._next())
        begin = self._at

        def body(rest: Sequence[str], known: Names) -> Term:
            if not rest:
                self._at = begin
                return self._term(known, INT if binder == "sum" else BOOL)
            sort = self._words.variable(rest[0]).sort
            return _BINDERS[binder](sort, lambda x: body(rest[1:], {**known, rest[0]: x}))

        found = body(variables, names)
        if binder != "sum":
            return found
        # The same text gives the same term, so that the solver has one number for the sum.
        text = " ".join((*variables, *self._tokens[begin : self._at]))
        return self._words.sums.setdefault(text, found)

    def _named(self, word: str, names: Names, sort: Sort) -> Term:
        constants = {"TRUE": TRUE, "FALSE": FALSE}
        if word in names or word in constants:
            return names.get(word) or constants[word]
        if word in sort.words:
            return sort.word(word)
        if word.isdigit():
            return as_term(int(word), INT)
        if word in self._words.definitions:
            parameters, text = self._words.definitions[word]
            given = self._arguments([self._words.variable(one).sort for one in parameters], names)
            inner = _Reader(self._words, text)
            known = {**names, **dict(zip(parameters, given, strict=True))}
            found = inner._term(known, sort)
            inner._expect("")
            return found
        if word in self._words.fields:
            field_ = self._words.fields[word]
            return field_(*self._arguments(field_.sorts, names))
        raise ValueError(f"{word!r} is not known in: {self._text}")

    def _arguments(self, sorts: Sequence[Sort], names: Names) -> list[Term]:
        found: list[Term] = []
        for number, sort in enumerate(sorts):
            self._expect("," if number else "(")
            found.append(self._term(names, sort))
        if sorts:
            self._expect(")")
        return found

    @property
    def _seen(self) -> str:
        return self._tokens[self._at]

    def _sees(self, *tokens: str) -> bool:
        return self._seen in tokens

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _taken(self, token: str) -> bool:
        if self._seen != token:
            return False
        self._at += 1
        return True

    def _expect(self, token: str) -> None:
        if not self._taken(token):
            raise ValueError(f"{token or 'the end'} belongs before {self._seen!r} in: {self._text}")
