"""What there is to know of a component in order to judge implementations of it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from wheelproof_spec.base.calls import Request
from wheelproof_spec.base.known_limits import KnownLimit
from wheelproof_spec.base.port import Judge, SendingPort
from wheelproof_spec.base.strict_json import JsonObject

if TYPE_CHECKING:
    from wheelproof_spec.base.fuzz_report import FuzzReport

CallT = TypeVar("CallT", bound=Request)
SeenT = TypeVar("SeenT")
CallT_co = TypeVar("CallT_co", bound=Request, covariant=True)
SeenT_co = TypeVar("SeenT_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario(Generic[CallT_co]):
    """A fixed case; `limit` is the part of the domain that it needs, if not all have it."""

    name: str
    calls: tuple[CallT_co, ...]
    limit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account(Generic[SeenT_co]):
    """What one observation is judged by: how often each clause, and what is left of it to judge.

    `skipped` counts the clauses that would have been judged if they were no known limits.
    """

    seen: SeenT_co
    checked: Mapping[str, int]
    skipped: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzPlan:
    """How many random cases, from which seed; `repeat` is the command that does it again."""

    cases: int
    seed: int
    repeat: str


class Suite(ABC, Generic[CallT, SeenT]):
    """A component: its calls and answers, its clauses, its named cases, its random ones."""

    component: ClassVar[str]
    """Its name on the wire."""
    capabilities: ClassVar[tuple[str, ...]]
    """What a driver has to be able to."""
    profiles: ClassVar[tuple[str, ...]]
    """The contracts that an implementation may declare; the first is the usual one."""
    clauses: ClassVar[tuple[str, ...]]
    """What an implementation is judged by; a violation names one of them as its rule."""
    limits: ClassVar[tuple[str, ...]]
    """Parts of the domain that are known to be too much for some implementations."""
    skippable: ClassVar[tuple[str, ...]]
    """The clauses and limits that may be declared as known limits."""
    needs: ClassVar[tuple[str, ...]] = ("hypothesis",)
    """The packages, beyond the standard library, with which random cases are drawn."""

    @abstractmethod
    def parse_answer(self, fields: JsonObject, call: CallT) -> SeenT:
        """Return what an answer to `call` shows; raises MalformedError."""

    @abstractmethod
    def judge(self, profile: str, known_limits: Sequence[KnownLimit]) -> Judge[CallT, SeenT]:
        """Return a judge by the contract `profile`, without what is known not to hold."""

    @abstractmethod
    def account(
        self, call: CallT, seen: SeenT, known_limits: Sequence[KnownLimit]
    ) -> Account[SeenT]:
        """Return by which clauses `seen`, the outcome of `call`, is judged."""

    @abstractmethod
    def scenarios(self) -> Sequence[Scenario[CallT]]:
        """Return the named cases."""

    @abstractmethod
    def fuzz(
        self,
        port: SendingPort[CallT, SeenT],
        profile: str,
        known_limits: Sequence[KnownLimit],
        plan: FuzzPlan,
    ) -> "FuzzReport":
        """Drive `port` through random cases, which shrink."""
