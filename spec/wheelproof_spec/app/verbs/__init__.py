"""The verbs of `wheelproof`, one file each; their summaries are here, without importing them."""

VERBS = {
    "check": "judge recorded traces and histories (JSON Lines)",
    "completion": "print what completes the words of this program in bash or zsh",
    "conform": "drive another implementation and judge it",
    "doctor": "say what is missing on this machine, for which verb, and how to get it",
    "explore": "run a program under every interleaving",
    "fuzz": "stateful fuzzing against the oracle",
    "record": "record histories of the reference under load",
    "schema": "print the schemas, or validate files line by line",
    "tlc": "model-check the TLA+ suite against its manifest, or any module",
    "vectors": "list, generate, verify or run the published vectors",
}


def module_of(verb: str) -> str:
    """Return the name of the module that has the `register` of a verb."""
    return f"wheelproof_spec.app.verbs.{verb}"
