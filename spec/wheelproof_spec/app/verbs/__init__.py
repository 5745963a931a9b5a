"""The verbs of `wheelproof`, one file each; their summaries are here, without importing them."""

VERBS = {
    "bugs": "let every engine look for every known bug, within a fixed budget",
    "check": "judge recorded traces and histories (JSON Lines)",
    "completion": "print what completes the words of this program in bash or zsh",
    "conform": "drive another implementation and judge it",
    "doctor": "say what is missing on this machine, for which verb, and how to get it",
    "explore": "run a program under every interleaving",
    "fuzz": "stateful fuzzing against the oracle",
    "graph": "compare the state graph of the code with TLC's",
    "metamorphic": "vary right histories, and compare what their judges say",
    "methods": "show which engine calls which method of the reference, and how it ends",
    "mutate": "change the reference a little, again and again, and see which engine sees it",
    "prove": "prove invariants for any number of threads",
    "record": "record histories of the reference under load",
    "schema": "print the schemas, or validate files line by line",
    "tlc": "model-check the TLA+ suite against its manifest, or any module",
    "vectors": "list, generate, verify or run the published vectors",
}

_ELSEWHERE = {
    "bugs": "detecting",
    "metamorphic": "varied",
    "methods": "detecting",
    "mutate": "detecting",
}
"""The folders of the verbs that are not in this folder."""
DECLARED_BY_TABLE = frozenset({"bugs", "methods", "mutate"})
"""The verbs whose modules are imported only when they run, because they import a lot."""


def module_of(verb: str) -> str:
    """Return the name of the module that has the `register` or the `run` of a verb."""
    return f"wheelproof_spec.app.{_ELSEWHERE.get(verb, 'verbs')}.{verb}"
