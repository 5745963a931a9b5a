"""Proofs as tables: sorts, fields, actions, clauses, broken variants and instances in TOML.

Several files may make one proof: a later file adds rows to the tables of an earlier one, or
replaces rows. A row with an empty text removes the row.
"""

from collections.abc import Mapping
from typing import cast

from wheelproof_lab.prove.system import Action, Instance, Proof, System, Tables, Variant
from wheelproof_lab.prove.terms import BOOL, INT, Field, Shape, Sort, Term
from wheelproof_lab.prove.written import Vocabulary
from wheelproof_spec.base.codec.tables import read_document

Rows = Mapping[str, str]
Document = Mapping[str, Mapping[str, object]]
_SHAPES = {"one": Shape.ONE, "set": Shape.SET, "hidden": Shape.HIDDEN}


def read(module: str, *names: str) -> Document:
    """Return the merged tables of some files beside `module`."""
    found: dict[str, dict[str, object]] = {}
    for name in names:
        for table, rows in cast(Document, read_document(module, name)).items():
            merged = {**found.get(table, {}), **rows}
            found[table] = {key: row for key, row in merged.items() if row != ""}
    return found


class Written:
    """The tables of a proof, read into the language of the proofs.

    A field is written ``A B -> C; word word; text``: its sorts, the sort of its values unless it is
    a relation; ``rigid``, its shape, the sets that are its domain; and its text in TLA+.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self.sorts: dict[str, Sort] = {"Bool": BOOL, "Int": INT}
        variables: dict[str, Sort] = {}
        for name, row in document["sorts"].items():
            given = cast(Mapping[str, str], row)
            words = tuple(given.get("words", "").split())
            self.sorts[name] = Sort(name=name, words=words, tla=given.get("tla", ""))
            variables |= dict.fromkeys(given.get("variables", "").split(), self.sorts[name])
        self.fields: dict[str, Field] = {}
        for name, text in self._rows("fields").items():
            self.fields[name] = self._field(name, text)
        definitions: dict[str, tuple[list[str], str]] = {}
        for key, text in self._rows("define").items():
            name, *parameters = key.split()
            definitions[name] = parameters, text
        self.words = Vocabulary(
            fields=self.fields,
            variables={"n": INT, **variables},
            definitions=definitions,
            sets={name: text.split() for name, text in self._rows("sets").items()},
        )

    def proof(self) -> Proof:
        """Return the proof, without a tie to its module."""
        system = self.system()
        instances = {
            name: self._instance(cast(Rows, row))
            for name, row in self._document.get("instances", {}).items()
        }
        given = cast(Rows, self._document["proof"])
        small, *more = (instances[name] for name in given["instances"].split())
        variants = cast(Mapping[str, Document], self._document.get("variants", {}))
        return Proof(
            name=given["name"],
            summary=given["summary"],
            case=given.get("case", "TRUE"),
            system=system,
            instance=small,
            more_instances=tuple(more),
            clauses=self._terms("clauses"),
            promises=self._terms("promises"),
            steps=self._terms("steps"),
            words=self._rows("words"),
            by={name: names.split() for name, names in self._rows("by").items()},
            clauses_in=given["clauses_in"],
            models=tuple(given["models"].split()),
            variants=tuple(self._variant(name, row, instances) for name, row in variants.items()),
        )

    def system(self) -> System:
        """Return the system; the default first value is FALSE, 0, or the first word of a sort."""
        initial = {
            change.field: change
            for key, text in self._rows("initial").items()
            for change in self.words.action("", f": ; {key} := {text}").changes
        }
        return System(
            initial=tuple(
                initial.get(each, each.all_to(_first(each)))
                for each in self.fields.values()
                if not each.rigid
            ),
            actions=self._actions(self._rows("actions")),
            assumed=self._terms("assumed"),
        )

    def named(self, names: str) -> tuple[Field, ...]:
        """Return the fields with these names."""
        return tuple(self.fields[name] for name in names.split())

    def pairs(self, tables: Tables, name: str) -> dict[str, list[str]]:
        """Return, for a relation of two sorts, the elements to which each element is related."""
        found: dict[str, list[str]] = {}
        for (one, other), holds in tables(self.fields[name]).items():
            found.setdefault(one, []).extend([other] if holds else [])
        return found

    def _rows(self, table: str) -> Rows:
        return cast(Rows, self._document.get(table, {}))

    def _terms(self, table: str) -> dict[str, Term]:
        return {name: self.words.term(text) for name, text in self._rows(table).items()}

    def _actions(self, rows: Rows) -> tuple[Action, ...]:
        return tuple(self.words.action(name, text) for name, text in rows.items())

    def _field(self, name: str, text: str) -> Field:
        kind, _, rest = text.partition(";")
        flags, _, tla = rest.partition(";")
        places, _, result = kind.partition("->")
        words = flags.split()
        return Field(
            name=name,
            sorts=tuple(self.sorts[one] for one in places.split()),
            result=self.sorts[result.strip() or "Bool"],
            rigid="rigid" in words,
            shape=next((_SHAPES[word] for word in words if word in _SHAPES), Shape.FUNCTION),
            domain=tuple(self.fields[word] for word in words if word in self.fields),
            tla=" ".join(tla.split()),
        )

    def _instance(self, rows: Rows) -> Instance:
        """Return an instance; a rigid field is written as a list of places, with any numbers."""
        rigid: dict[Field, dict[tuple[str, ...], bool | int]] = {}
        for field, text in (
            (self.fields[name], rows[name]) for name in rows if name in self.fields
        ):
            places = (
                text.split() if len(field.sorts) == 1 and field.result == BOOL else text.split(",")
            )
            found = [tuple(place.split()) for place in places]
            if field.result == INT:
                rigid[field] = {place[:-1]: int(place[-1]) for place in found}
            else:
                rigid[field] = dict.fromkeys(found if field.sorts else [()], True)
        elements = {self.sorts[name]: tuple(rows.get(name, "").split()) for name in self._open()}
        numbers = tuple(map(int, rows.get("numbers", "").split()))
        return Instance(elements=elements, rigid=rigid, numbers=numbers)

    def _open(self) -> list[str]:
        return [
            name for name, one in self.sorts.items() if one not in (BOOL, INT) and not one.words
        ]

    def _variant(self, name: str, row: Document, instances: Mapping[str, Instance]) -> Variant:
        given = cast(Rows, row)
        actions = {**self._rows("actions"), **row.get("actions", {})}
        actions.pop(given.get("without", ""), None)
        define = {**self._rows("define"), **row.get("define", {})}
        broken = Written({**self._document, "actions": actions, "define": define})
        return Variant(
            name=name,
            summary=given["summary"],
            bug=given.get("bug", ""),
            system=broken.system(),
            action=given["action"],
            clause=given["clause"],
            reached=given.get("reached", ""),
            instance=instances.get(given.get("instance", "")),
        )


def _first(field: Field) -> bool | int | str:
    if field.result == BOOL:
        return False
    return 0 if field.result == INT else field.result.words[0]
