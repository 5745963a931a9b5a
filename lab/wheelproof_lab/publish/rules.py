"""`python -m wheelproof_lab pages rules`: renews docs/proofs/rules.md.

The page has each rule of the standard with the properties of TLA+ modules that state it, and each
property with its rules. What states a rule is named under *Evidence* of the rule, and nowhere else.
Models and mistakes are the manifest's, proofs those of `wheelproof_lab.prove`.

A rule without a property has a sentence in its place, in the line *TLA+*; a rule that has some may
say there what they leave out. A property that states no rule is a clause of a proof, says that one
module refines another one, or tells of the model itself: then `INSIDE` says what.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from wheelproof_lab.prove.all_proofs import proofs
from wheelproof_lab.publish import standard
from wheelproof_lab.publish.markdown import markdown, renew
from wheelproof_lab.publish.refinements import arrows
from wheelproof_lab.publish.standard import Rule
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Kind, Model

PAGE = "docs/proofs/rules.md"
TYPES = "TypeOK"
_NONE, _IN_PART = "none: ", "in part: "
_MONITOR = "the monitor is a model of `threading`'s, or of Java's"
_REGISTERS = "what a thread has in hand is gone when its call ends; no caller sees it"
_WAKES = "a model without spurious wake-ups: who is awake was woken"
_QUEUE = "the read-write lock is a model of the real one: who queues has to wait"
INSIDE: Mapping[str, str] = MappingProxyType(
    {
        "AppendsInProgress.MutualExclusion": _MONITOR,
        "AppendsInProgress.NobodyWakesForNoReason": _WAKES,
        "BufferPool.MutualExclusion": _MONITOR,
        "ConditionClaims.MutualExclusion": _MONITOR,
        "DelayQueue.DoneIsDone": "a thread of the model calls once",
        "DelayQueue.MutualExclusion": _MONITOR,
        "DelayQueue.NobodyWakesForNoReason": _WAKES,
        "DelayQueue.OnlySleepersHaveATime": _REGISTERS,
        "LockOrder.MutualExclusion": _MONITOR,
        "LockOrder.NobodyBeginsToReadBeforeAWriter": _QUEUE,
        "LockOrder.NothingIsHeldInTheEnd": _REGISTERS,
        "LockOrder.WhoeverQueuesHasToWait": _QUEUE,
        "Purgatory.CallsLeaveNothingBehind": _REGISTERS,
        "RecordAccumulator.MutualExclusion": _MONITOR,
        "SystemTimer.CallsLeaveNothingBehind": _REGISTERS,
        "SystemTimer.WhoeverQueuesHasToWait": _QUEUE,
        "SystemTimer.WhoeverQueuesIsAtTheLock": _QUEUE,
        "Timer.OnlyWaitingTasksAreDue": "the module forgets the due time of what has ended",
    }
)
"""What a property tells of its model, if it states no rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A property that a model checks: what states it, checks it, breaks it and proves it."""

    module: str
    name: str
    rules: tuple[str, ...]
    models: tuple[str, ...]
    mistakes: tuple[str, ...]
    proofs: tuple[str, ...]
    reason: str
    """What it is for, if it states no rule; empty if nobody says so."""

    @property
    def full_name(self) -> str:
        """Return the name by which a rule names it."""
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A rule with its properties, and the sentence about what has none."""

    rule: Rule
    anchor: str
    properties: tuple[Property, ...]

    @property
    def models(self) -> tuple[str, ...]:
        """Return the models that check one of the properties."""
        return _once(model for each in self.properties for model in each.models)

    @property
    def mistakes(self) -> tuple[str, ...]:
        """Return the mistakes that break one of the properties."""
        return _once(mistake for each in self.properties for mistake in each.mistakes)

    @property
    def proofs(self) -> tuple[str, ...]:
        """Return the proofs of one of the properties."""
        return _once(proof for each in self.properties for proof in each.proofs)


def properties(rules: Sequence[Rule], models: Sequence[Model]) -> list[Property]:
    """Return what the models check, module by module in the order of the manifest."""
    stated: dict[str, list[str]] = defaultdict(list)
    for rule in rules:
        for one in rule.evidence:
            if one.kind == "TLA+":
                stated[one.name].append(rule.number)
    checking: dict[tuple[str, str], list[str]] = {}
    breaking: dict[tuple[str, str], list[str]] = defaultdict(list)
    for model in models:
        if model.kind is Kind.MODEL:
            for name in (*model.cfg.invariants, *model.cfg.properties):
                checking.setdefault((model.specifies, name), []).append(model.name)
        elif model.property is not None:
            breaking[model.specifies, model.property].append(model.name)
    proved = _proved()
    refining = {(arrow.lower, arrow.property) for arrow in arrows(tla_directory(), models)}
    found: list[Property] = []
    for (module, name), names in checking.items():
        full = f"{module}.{name}"
        if name == TYPES:
            reason = "the type of each variable"
        elif (module, name) in refining:
            reason = "one module is an instance of another one: [refinements.md](refinements.md)"
        elif full in proved:
            reason = "a clause of a proof: [README.md](README.md)"
        else:
            reason = INSIDE.get(full, "")
        found.append(
            Property(
                module=module,
                name=name,
                rules=tuple(stated[full]),
                models=tuple(names),
                mistakes=tuple(breaking[module, name]),
                proofs=proved.get(full, ()),
                reason=reason,
            )
        )
    order = _once(each.module for each in found)
    return sorted(found, key=lambda each: order.index(each.module))


def rows(rules: Sequence[Rule], found: Sequence[Property]) -> list[Row]:
    """Return the rows of the rules."""
    titles = standard.groups()
    by_name = {each.full_name: each for each in found}
    return [
        Row(
            rule=rule,
            anchor=standard.anchor_of(rule, titles),
            properties=tuple(
                by_name[one.name]
                for one in rule.evidence
                if one.kind == "TLA+" and one.name in by_name
            ),
        )
        for rule in rules
    ]


def problems(table: Sequence[Row], found: Sequence[Property]) -> Iterator[str]:
    """Yield a sentence for each rule, and each property, that lacks something in its row.

    What states a rule needs a mistake that breaks it; z3 refutes mistakes of what it proves.
    """
    for row in table:
        where, said = f"{row.rule.page}, line {row.rule.line}: {row.rule.number}", row.rule.tla
        if not row.properties and not said.startswith(_NONE):
            yield f"{where} names no property; name one, or say why not: *TLA+:* {_NONE}..."
        if row.properties and said and not said.startswith(_IN_PART):
            yield f"{where} names a property, so its line *TLA+* begins with {_IN_PART!r}"
    for each in found:
        if not each.rules and not each.reason:
            yield f"{each.full_name} states no rule; let a rule name it, or add it to INSIDE"
        if each.rules and not each.mistakes and not each.proofs:
            yield f"{each.full_name} states {each.rules[0]}, and nothing breaks it; add a mutant"
        if each.rules and each.full_name in INSIDE:
            yield f"{each.full_name} states {each.rules[0]}; take it out of INSIDE"
    for name in INSIDE.keys() - {each.full_name for each in found}:
        yield f"{name} of INSIDE is checked by no model"


def render() -> str:
    """Return the page as Markdown; raises InputRejectedError."""
    rules = standard.rules()
    found = properties(rules, load_manifest(tla_directory() / "manifest.toml"))
    by_module: dict[str, list[Property]] = {}
    for each in found:
        by_module.setdefault(each.module, []).append(each)
    table = rows(rules, found)
    return markdown(
        "rules",
        rows=table,
        with_property=sum(bool(row.properties) for row in table),
        modules=by_module,
        properties=len(found),
    )


def renew_page() -> int:
    """Write the page, and return the exit code."""
    return renew(PAGE, render)


def _proved() -> Mapping[str, tuple[str, ...]]:
    """Return the proofs of each property, by its full name."""
    found: dict[str, list[str]] = defaultdict(list)
    for proof in proofs():
        module = standard.module_of(proof.clauses_in)
        for name in (*proof.clauses, *proof.promises, *proof.steps):
            found[f"{module}.{name}"].append(proof.name)
    return {name: _once(names) for name, names in found.items()}


def _once(names: Iterator[str] | Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
