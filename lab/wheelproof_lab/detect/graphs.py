"""A cache of TLC's graphs: altering the Python code does not change a TLA+ module."""

import hashlib
import os
import pickle
from pathlib import Path

from wheelproof_lab.graph.comparing.comparisons import SpecOf
from wheelproof_lab.graph.comparing.tlc_side import TlcConfiguration, tlc_graph
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.tlc.running.launch import Toolchain
from wheelproof_spec.tlc.states.graph import StateGraph


def remembered(folder: Path) -> SpecOf:
    """Return a function that gives TLC's graphs, and caches them in a folder of this user.

    The name of a file is a digest of the configuration and of the text of all modules.
    """

    def graph(toolchain: Toolchain, configuration: TlcConfiguration) -> StateGraph:
        digest = hashlib.blake2b(repr(configuration).encode(), digest_size=12)
        for path in sorted(tla_directory().rglob("*.tla")):
            digest.update(path.read_bytes())
        file = folder / f"{digest.hexdigest()}.pickle"
        if file.exists() and file.stat().st_uid == os.getuid():
            known: object = pickle.loads(file.read_bytes())
            if isinstance(known, StateGraph):
                return known
        found = tlc_graph(toolchain, configuration)
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.stat().st_uid == os.getuid():
            part = file.with_suffix(f".{os.getpid()}")
            part.write_bytes(pickle.dumps(found))
            part.replace(file)
        return found

    return graph
