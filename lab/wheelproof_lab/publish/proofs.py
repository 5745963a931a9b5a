"""`python -m wheelproof_lab pages proofs`: renews docs/proofs/README.md and the TLA+ clauses.

Both are made from the proofs themselves, so they cannot differ from what is proved.
"""

from collections.abc import Mapping

from wheelproof_lab.checkout import required_checkout
from wheelproof_lab.prove.all_proofs import proofs
from wheelproof_lab.prove.system import Proof
from wheelproof_lab.prove.tla import module_text
from wheelproof_lab.publish.markdown import markdown, renew
from wheelproof_spec.base.results.reports import write_text

PAGE = "docs/proofs/README.md"


def render() -> str:
    """Return the page as Markdown."""
    made = proofs()
    total = {
        "actions": sum(len(proof.taken) for proof in made),
        "clauses": sum(len(proof.clauses) for proof in made),
        "obligations": sum(proof.size() for proof in made),
    }
    return markdown("proofs", proofs=made, total=total)


def modules() -> Mapping[str, str]:
    """Return the TLA+ modules of clauses that are written in another language, by their paths.

    The paths are below the folder of the modules. Clauses of derived proofs are TLA+ already.
    """
    grouped: dict[str, list[Proof]] = {}
    for proof in (one for one in proofs() if not one.is_derived):
        grouped.setdefault(proof.clauses_in, []).append(proof)
    found: dict[str, str] = {}
    for path, some in grouped.items():
        name = path.rpartition("/")[2]
        header = "Made by python -m wheelproof_lab pages proofs: what z3 proves for any number."
        found[f"{path}.tla"] = module_text(name, name.removesuffix("Proof"), header, some)
    return found


def renew_page() -> int:
    """Write the page and the modules, and return the exit code."""
    for path, text in modules().items():
        write_text(required_checkout() / "tla" / path, text)
    return renew(PAGE, render)
