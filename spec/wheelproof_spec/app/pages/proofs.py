"""`python -m wheelproof_spec.app.pages.proofs`: renews docs/proofs/README.md and the TLA+ clauses.

Both are made of the proofs themselves, so neither can say anything else than what is proved.
"""

import sys
from collections.abc import Iterator, Mapping

from wheelproof_spec.app.parts import proofs
from wheelproof_spec.base.resources import required_checkout
from wheelproof_spec.base.results.reports import write_text
from wheelproof_spec.engines.prove.system import Proof
from wheelproof_spec.engines.prove.terms import Term
from wheelproof_spec.engines.prove.tla import module_text

PAGE = "docs/proofs/README.md"

_HEAD = """# Proofs for any number of threads

Made by `python -m wheelproof_spec.app.pages.proofs` from the proofs in
`spec/wheelproof_spec/components/*/proofs`.

TLC tries every state of a model with two or three threads. A proof is about any number of them.
It is an *inductive invariant*: some clauses about the state that hold in the first states
together, and that each action keeps. Then they hold in every state that can ever be reached, and
so does whatever follows from them. `wheelproof prove --all` asks the solver z3 about each action
and each clause, and prints a line for each such obligation; `--details` shows the states.

- **An action that breaks a clause** is shown with the states before and after it. The solver's
  state is evaluated once more by other code, which knows nothing of z3.
- **Nothing is vacuous**: each action happens in a run of a few threads, where all clauses hold.
- **A solver that gives up** within its limit makes the obligation inconclusive, never a pass.
- **Known bugs are refuted**: with the defect in it, a run of a few threads comes to a state in
  which all clauses hold, and from which the action that is named breaks the clause that is named; a
  run breaks what the user is promised.
- **Tied to the TLA+ modules**: the actions are compared with the module on a few threads, where
  TLC's graph and theirs have to be equal, state by state and step by step. The clauses are printed
  as TLA+ from the same terms, and TLC checks them as invariants of the models named below.

What is taken for granted: z3 and the few hundred lines that translate for it; that the TLA+ modules
say what the code does, which `wheelproof graph` compares; that there are finitely many threads.

A proof is a table: actions, clauses and bugs are rows of the TOML files in these folders, in a
language that `spec/wheelproof_spec/engines/prove/written.py` defines on its first lines.

What is not proved:

- **How late** (`system-timer`): the timer itself adds nothing to the time that its thread takes to
  come round. What is due when an advance begins is submitted when it ends, and an entry is put down
  at most once for each level on its way. The proof knows of ticks only the assumptions named there.
  They are facts about rounding down; a test tries them with several ticks and wheel sizes. Numbers
  of any size with any tick would be products of three unknowns, of which z3 decides nothing.
- **Two adders of one task**, and closing (`system-timer`): the module says which task a thread has
  in hand, not which entry, so it is right for one adder a task alone. `entry-migration` has any
  number of adders of a task.
- **That each entry is reached from its root** (`entry-lists`): the order of a list and its links
  are proved to agree, but not that no link is missing. "Each node has a node before it" makes z3
  invent ever new nodes: it gave up after 12 s of CPU at `AddLink`. TLC has `LinksAreConsistent`.
- **Purges** (`purgatory`): a purge takes out of the lists what is done, and changes nothing else.
- **That something happens at last**: TLC checks liveness, of small models.
"""


def render() -> str:
    """Return the page as Markdown."""
    made = proofs()
    return "\n".join([_HEAD, *_overview(made), *(line for one in made for line in _section(one))])


def modules() -> Mapping[str, str]:
    """Return the TLA+ modules of the clauses, by their paths below the folder of the modules."""
    grouped: dict[str, list[Proof]] = {}
    for proof in proofs():
        grouped.setdefault(proof.clauses_in, []).append(proof)
    found: dict[str, str] = {}
    for path, some in grouped.items():
        name = path.rpartition("/")[2]
        header = (
            "Made by python -m wheelproof_spec.app.pages.proofs: what z3 proves for any number."
        )
        found[f"{path}.tla"] = module_text(name, name.removesuffix("Proof"), header, some)
    return found


def _overview(made: tuple[Proof, ...]) -> Iterator[str]:
    yield "| proof | what is proved | actions | clauses | obligations |"
    yield "|---|---|---:|---:|---:|"
    for proof in made:
        sizes = (len(proof.system.actions), len(proof.clauses), proof.size())
        numbers = " | ".join(f"{size:,}" for size in sizes)
        yield f"| [{proof.name}](#{proof.name}) | {proof.summary} | {numbers} |"
    actions = sum(len(proof.system.actions) for proof in made)
    clauses = sum(len(proof.clauses) for proof in made)
    total = sum(proof.size() for proof in made)
    yield f"| all {len(made)} | | {actions} | {clauses} | {total:,} |"
    yield ""


def _section(proof: Proof) -> Iterator[str]:
    yield f"## {proof.name}"
    yield ""
    yield f"{proof.summary[0].upper()}{proof.summary[1:]}."
    yield ""
    yield from _told("Assumed", {name: name for name in proof.system.assumed})
    yield from _named("Clauses of the invariant", proof.clauses, proof)
    yield from _named("What follows from them", proof.promises, proof)
    yield from _named("What holds of each step", proof.steps, proof)
    if proof.models:
        yield f"TLC checks the clauses in {', '.join(f'`{model}`' for model in proof.models)}."
        yield ""
    if proof.variants:
        yield "| refuted | known bug | action | clause |"
        yield "|---|---|---|---|"
        for one in proof.variants:
            bug = f"`{one.bug}`" if one.bug else ""
            yield f"| {one.summary} | {bug} | `{one.action}` | `{one.clause}` |"
        yield ""


def _named(title: str, terms: Mapping[str, Term], proof: Proof) -> Iterator[str]:
    return _told(title, {f"`{name}`: {proof.words[name]}": name for name in terms})


def _told(title: str, lines: Mapping[str, str]) -> Iterator[str]:
    if lines:
        yield f"{title}:"
        yield ""
        yield from (f"- {line}" for line in lines)
        yield ""


def main() -> int:
    """Write the page and the modules."""
    checkout = required_checkout()
    write_text(checkout / PAGE, render())
    for path, text in modules().items():
        write_text(checkout / "tla" / path, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
