"""The catalogue: each way of Python to read and to write what threads share."""

from collections.abc import Mapping

from wheelproof_lab.worlds.constructs.between import BETWEEN
from wheelproof_lab.worlds.constructs.construct import Construct
from wheelproof_lab.worlds.constructs.grammar import GRAMMAR
from wheelproof_lab.worlds.constructs.library import LIBRARY
from wheelproof_lab.worlds.constructs.made_before import MADE_BEFORE
from wheelproof_lab.worlds.constructs.of_packages import OF_PACKAGES
from wheelproof_lab.worlds.constructs.of_the_system import OF_THE_SYSTEM
from wheelproof_lab.worlds.constructs.special import SPECIAL
from wheelproof_lab.worlds.constructs.state import STATE

MADE_IN_A_RUN: tuple[Construct, ...] = (*STATE, *GRAMMAR, *SPECIAL, *BETWEEN, *LIBRARY)
CONSTRUCTS: tuple[Construct, ...] = (
    *MADE_IN_A_RUN,
    *MADE_BEFORE,
    *OF_PACKAGES,
    *OF_THE_SYSTEM,
)

_OLD = "Python's parser no longer makes it"
WITHOUT_A_ROW: Mapping[str, str] = {
    **dict.fromkeys(("AugLoad", "AugStore", "ExtSlice", "Index", "NameConstant", "Num"), _OLD),
    **dict.fromkeys(("Bytes", "Ellipsis", "Param", "Str", "Suite"), _OLD),
    **dict.fromkeys(("Expression", "FunctionType", "Interactive", "TypeIgnore"), "not in a module"),
    **dict.fromkeys(("Break", "Continue", "Pass"), "it reads and writes nothing"),
    "MatchSingleton": "it compares with None, True or False",
    **dict.fromkeys(("ParamSpec", "TypeAlias", "TypeVar", "TypeVarTuple"), "it only names a type"),
    **dict.fromkeys(("__alloc__", "__getformat__"), "it tells of Python's own insides"),
    "__base__": "it never changes",
    "__del__": "finalisers do not run while a run lasts",
    "__getnewargs__": "called as __reduce__ is",
    "__prepare__": "a class that a run defines makes a pass inconclusive",
    "__subclasses__": "C keeps it: what classes there are is not seen",
    "__subclasshook__": "C keeps its answers: they are not seen",
}
"""The nodes of the grammar and the slots of the data model that no row needs, and why."""
