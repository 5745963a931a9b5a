"""The catalogue: each way of Python to read and to write what threads share."""

from wheelproof_lab.worlds.constructs.construct import Construct
from wheelproof_lab.worlds.constructs.grammar import GRAMMAR
from wheelproof_lab.worlds.constructs.library import LIBRARY
from wheelproof_lab.worlds.constructs.special import SPECIAL
from wheelproof_lab.worlds.constructs.state import STATE

CONSTRUCTS: tuple[Construct, ...] = (*STATE, *GRAMMAR, *SPECIAL, *LIBRARY)
