"""Has SANY parse a TLA+ module, and reads the XML that it prints."""

import subprocess
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from wheelproof_lab.prove.text.syntax import OTHER, Bound, Definition, Module, Node, Place, What
from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.tlc.running.launch import find_toolchain

_EXPORTER = "tla2sany.xml.XMLExporter"
_SECONDS = 120
_STANDARD = ("Naturals", "Integers", "Reals", "Sequences", "FiniteSets", "TLC", "Bags")
_CONSTANT, _VARIABLE = "2", "3"


@cache
def parsed(path: str) -> Module:
    """Return a module of this project, by its path below the folder of the modules, without `.tla`.

    Raises MissingToolError without Java or the jar of TLC.
    """
    return parse(tla_directory() / f"{path}.tla", folders())


def folders() -> tuple[Path, ...]:
    """Return the folders of the modules."""
    return tuple(sorted({path.parent for path in tla_directory().resolve().rglob("*.tla")}))


def parse(path: Path, library: Sequence[Path]) -> Module:
    """Return the module in a file; what it extends is in its own folder or in `library`.

    Raises InputRejectedError if SANY does, MissingToolError without Java or the jar of TLC.
    """
    toolchain = find_toolchain()
    with tempfile.TemporaryDirectory(prefix="wheelproof-sany-") as temporary:
        command = [
            str(toolchain.java.path),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-XX:-UsePerfData",
            f"-Djava.io.tmpdir={temporary}",
            *("-cp", str(toolchain.jar.path), _EXPORTER, "-o"),
            *(word for folder in library for word in ("-I", str(folder))),
            path.name,
        ]
        answer = subprocess.run(
            command, cwd=path.parent, capture_output=True, timeout=_SECONDS, check=False
        )
    if answer.returncode or not answer.stdout.lstrip().startswith(b"<?xml"):
        said = (answer.stdout + answer.stderr).decode("utf-8", "replace").split()
        raise InputRejectedError(
            path.name, None, f"SANY cannot parse it ({' '.join(said)[-300:]})", "correct it"
        )
    return _Reader(ET.fromstring(answer.stdout), (path.parent, *library)).module()


@dataclass(frozen=True, slots=True)
class _Entry:
    kind: str
    name: str
    element: ET.Element


class _Reader:
    """Reads the XML of one root module."""

    def __init__(self, root: ET.Element, library: Sequence[Path]) -> None:
        self._root = root
        self._library = library
        self._entries: dict[str, _Entry] = {}
        for entry in root.iterfind("context/entry"):
            key, element = entry[0].text or "", entry[1]
            name = element.findtext("uniquename") or ""
            self._entries[key] = _Entry(element.tag, name, element)

    def module(self) -> Module:
        """Return the root module."""
        name = self._root.findtext("RootModule") or ""
        root = next(
            one.element
            for one in self._entries.values()
            if one.kind == "ModuleNode" and one.name == name
        )
        definitions = dict(self._definitions())
        named = {
            found.name: found
            for key in _keys(root, "UserDefinedOpKindRef")
            if (found := definitions.get(key)) is not None
        }
        declared = [self._entries[key] for key in _keys(root, "OpDeclNodeRef")]
        ordered = sorted(declared, key=lambda one: (_place(one.element).line, _column(one.element)))
        assumed = [self._entries[key].element for key in _keys(root, "AssumeNodeRef")]
        return Module(
            name=name,
            constants=tuple(x.name for x in ordered if x.element.findtext("kind") == _CONSTANT),
            variables=tuple(x.name for x in ordered if x.element.findtext("kind") == _VARIABLE),
            named=named,
            definitions=definitions,
            assumptions=tuple(self._node(_only(one, "body")) for one in assumed),
            lines=self._lines(),
        )

    def _definitions(self) -> Iterator[tuple[str, Definition]]:
        for key, one in self._entries.items():
            if one.kind != "UserDefinedOpKind" or "!" in one.name or self._is_standard(one):
                continue
            if one.element.find("body/SubstInNode") is not None:
                continue
            yield (
                key,
                Definition(
                    name=one.name,
                    place=_place(one.element),
                    parameters=tuple(
                        (ref.findtext("UID") or "", self._name(ref))
                        for ref in one.element.iterfind("params/leibnizparam/FormalParamNodeRef")
                    ),
                    body=self._node(_only(one.element, "body")),
                    is_recursive=one.element.find("recursive") is not None,
                ),
            )

    def _is_standard(self, one: _Entry) -> bool:
        return one.element.findtext("location/filename") in _STANDARD

    def _name(self, reference: ET.Element) -> str:
        return self._entries[reference.findtext("UID") or ""].name

    def _node(self, element: ET.Element) -> Node:
        place, level = _place(element), int(element.findtext("level") or "0")
        match element.tag:
            case "NumeralNode":
                value = element.findtext("IntValue") or ""
                return Node(what=What.NUMBER, name=value, place=place, level=level)
            case "StringNode":
                word = element.findtext("StringValue")
                if word is None:
                    return Node(what=What.BUILT_IN, name=OTHER, place=place, level=level)
                return Node(what=What.STRING, name=word, place=place, level=level)
            case "AtNode":
                return Node(what=What.OLD, name="@", place=place, level=level)
            case "LetInNode":
                body = self._node(_only(element, "body"))
                return Node(what=What.LET, name="LET", place=place, level=level, parts=(body,))
            case "OpApplNode":
                return self._applied(element, place, level)
            case "OpArgNode":
                return self._argument(element, place, level)
            case _:
                # Refused where it is evaluated, so that a part that no proof needs may have it.
                return Node(what=What.BUILT_IN, name=element.tag, place=place, level=level)

    def _applied(self, element: ET.Element, place: Place, level: int) -> Node:
        (reference,) = _only(element, "operator", inside=False)
        key = reference.findtext("UID") or ""
        entry = self._entries[key]
        match entry.kind:
            case "FormalParamNode":
                what = What.PARAMETER
            case "OpDeclNode":
                is_constant = entry.element.findtext("kind") == _CONSTANT
                what = What.CONSTANT if is_constant else What.VARIABLE
            case "UserDefinedOpKind" if not self._is_standard(entry):
                what = What.DEFINED
            case _:
                what = What.BUILT_IN
        operands = element.find("operands")
        return Node(
            what=what,
            name=entry.name,
            key=key,
            place=place,
            level=level,
            parts=tuple(map(self._node, operands if operands is not None else ())),
            bound=tuple(map(self._bound, element.iterfind("boundSymbols/*"))),
        )

    def _argument(self, element: ET.Element, place: Place, level: int) -> Node:
        """Return an operator that is given to another one, with nothing applied to it."""
        key = _only(element, "argument").findtext("UID") or ""
        name = self._entries[key].name
        return Node(what=What.DEFINED, name=name, key=key, place=place, level=level)

    def _bound(self, element: ET.Element) -> Bound:
        references = element.findall("FormalParamNodeRef")
        place = _place(element[-1])
        if element.tag != "bound" or element.find("tuple") is not None:
            values = Node(what=What.BUILT_IN, name="unbounded or tuple", place=place, level=0)
        else:
            values = self._node(element[-1])
        names = tuple((one.findtext("UID") or "", self._name(one)) for one in references)
        return Bound(names=names, values=values)

    def _lines(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for one in self._entries.values():
            path = next(
                (f for f in (x / f"{one.name}.tla" for x in self._library) if f.is_file()), None
            )
            if one.kind == "ModuleNode" and path is not None:
                found[one.name] = tuple(path.read_text(encoding="utf-8").splitlines())
        return found


def _keys(element: ET.Element, tag: str) -> list[str]:
    return [one.findtext("UID") or "" for one in element.iterfind(tag)]


def _only(element: ET.Element, tag: str, *, inside: bool = True) -> ET.Element:
    found = element.find(tag)
    assert found is not None, f"SANY's {element.tag} has no {tag}"
    return found[0] if inside else found


def _place(element: ET.Element) -> Place:
    return Place(
        element.findtext("location/filename") or "",
        int(element.findtext("location/line/begin") or "0"),
        int(element.findtext("location/line/end") or "0"),
    )


def _column(element: ET.Element) -> int:
    return int(element.findtext("location/column/begin") or "0")
