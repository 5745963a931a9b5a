"""The loans of a pool's history, what is given back, and the sum of the loans."""

from dataclasses import dataclass, field

from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import Deallocate, PoolClause

MOST_NAMES = 100_000
"""The maximum number of names of buffers that were given back and are remembered."""


class Returned:
    """The names of the buffers that were given back at some time.

    What comes after the first `MOST_NAMES` is taken to have been given back before.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()

    def add(self, buffer: str) -> None:
        """Remember a buffer that was given back."""
        if len(self._names) < MOST_NAMES:
            self._names.add(buffer)

    def __contains__(self, buffer: str) -> bool:
        return len(self._names) >= MOST_NAMES or buffer in self._names


@dataclass(slots=True, eq=False)
class Loan:
    """A buffer that is lent."""

    size: int
    process: str
    """The process that got it."""
    disputed: bool = False
    """Whether it was lent wrongly, or nobody knows whether it has been given back: then the right
    answers to its returns are unknown."""
    returning: int = 0
    """The number of calls of deallocate under way for it."""
    returned: bool = False

    @property
    def certain(self) -> int:
        """The bytes that are lent for certain with this loan."""
        return 0 if self.disputed else self.size


@dataclass(slots=True)
class Ledger:
    """The bytes lent, for certain and at most, and the bounds for open calls that ask for it."""

    total: int
    certain: int = 0
    possible: int = 0
    reads: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])

    def change(self, certain: int, possible: int) -> None:
        """Change the bounds by these bytes."""
        self.certain += certain
        self.possible += possible
        for call, (least, most) in self.reads.items():
            self.reads[call] = (min(least, self._least()), max(most, self._most()))

    def begin_read(self, call: int) -> None:
        """Record that a call of available_memory began."""
        self.reads[call] = (self._least(), self._most())

    def _least(self) -> int:
        return max(self.total - self.possible, 0)

    def _most(self) -> int:
        return self.total - self.certain


class Loans:
    """Judges what is given back, and tells the ledger of it.

    The line of an answer may be late: its buffer may have been handed on, given back and lent again
    before it is written. Where it is not known which of two loans of a buffer a return has ended,
    both are disputed: they are judged no more.
    """

    def __init__(self, ledger: Ledger, tally: Tally) -> None:
        self._ledger = ledger
        self._tests = tally.tests
        self._loans: dict[str, Loan] = {}
        self._returns: dict[int, tuple[str, Loan | None]] = {}
        self._ended = Returned()
        self._askers: dict[int, int] = {}
        """The sizes of the allocations that have no answer, for ever if they are lost."""
        self._strange: dict[str, set[int]] = {}
        """Buffers that were taken back without a known loan, and the calls that may own them."""

    def excludes(self, call: int, buffer: str) -> bool:
        """Tell whether an allocation cannot have got a buffer: it is lent for certain.

        If the loan of that allocation may have been over before its answer was written, it can.
        """
        holder = self._loans.get(buffer)
        if holder is None or holder.returning:
            return False
        return call not in self._strange.get(buffer, ())

    def asks(self, call: int, size: int) -> None:
        """Record that an allocation began."""
        self._askers[call] = size

    def lent(self, asked: HistoryOp[object], size: int, buffer: str, *, disputed: bool) -> None:
        """Record that an allocation got a buffer; `disputed` says that this was wrong."""
        holder = self._loans.get(buffer)
        owners = self._strange.get(buffer, set())
        if asked.index in owners:
            # It was handed on, and given back before its answer was written.
            del self._strange[buffer]
            if owners == {asked.index}:
                self._ledger.change(0, -size)
                return
            if holder is not None and not holder.returning:
                self._ledger.change(-holder.certain, 0)
            self._loans[buffer] = Loan(size, asked.process, disputed=True, returning=1)
            return
        if holder is not None and not holder.returning:
            self._ledger.change(-holder.certain, 0)
        loan = self._loans[buffer] = Loan(size, asked.process, disputed=disputed)
        under_way = [one for name, one in self._returns.values() if name == buffer]
        needed = holder is not None and not holder.disputed and not holder.returned
        if len(under_way) > needed:
            loan.disputed, loan.returning = True, 1
            for one in under_way:
                if one is not None:
                    one.disputed = True
        self._ledger.change(loan.certain, 0)

    def answered(self, call: int) -> None:
        """Record that an allocation has ended: it owns no buffer but the one of its answer."""
        del self._askers[call]
        for owners in self._strange.values():
            owners.discard(call)

    def judge_strange(self) -> Violation | None:
        """Return the violation if all calls that may have got a buffer had other answers."""
        for buffer, owners in self._strange.items():
            if not owners:
                del self._strange[buffer]
                return _not_lent(buffer, "was not lent when it was taken back")
        return None

    def begins_to_return(self, call: int, value: Deallocate) -> None:
        """Record that a return began."""
        loan = self._loans.get(value.buffer)
        self._returns[call] = (value.buffer, loan)
        if loan is not None:
            if not loan.returning:
                self._ledger.change(-loan.certain, 0)
            loan.returning += 1

    def returned(self, call: int, value: Deallocate) -> Violation | None:
        """Record that a buffer was taken back."""
        _, loan = self._returns.pop(call)
        self._ended.add(value.buffer)
        newest = self._loans.get(value.buffer)
        if loan is not None and loan.disputed:
            loan.returning -= 1
            return None
        if loan is None and newest is not None and newest.disputed:
            return None
        self._tests(PoolClause.TAKES_BACK_ONLY_LOANS)
        if loan is None:
            return self._take_back_strange(value)
        if loan.returned:
            return _not_lent(value.buffer, "has been given back by another call")
        loan.returned = True
        loan.returning -= 1
        self._ledger.change(0, -loan.size)
        if newest is loan:
            del self._loans[value.buffer]
        if isinstance(value.size, int):
            self._tests(PoolClause.TAKES_BACK_WHAT_IT_LENT)
        if isinstance(value.size, int) and value.size != loan.size:
            return PoolClause.TAKES_BACK_WHAT_IT_LENT.broken(
                f"{value.buffer!r} is given back with {loan.size} bytes",
                f"{value.size} bytes were taken back",
                f"{value.buffer!r} was lent with {loan.size} bytes, but the pool took back "
                f"{value.size}",
            )
        return None

    def refused(self, asked: HistoryOp[object], value: Deallocate) -> Violation | None:
        """Record that a return was refused."""
        _, loan = self._returns.pop(asked.index)
        if loan is None or loan.returned:
            return None
        loan.returning -= 1
        if loan.returning or loan.disputed:
            return None
        self._ledger.change(loan.size, 0)
        is_part = value.size not in (loan.size, ABSENT)
        # Somebody else may have given back an old loan of a buffer that is lent again.
        if is_part or (value.buffer in self._ended and asked.process != loan.process):
            return None
        self._tests(PoolClause.TAKES_BACK_WHAT_IT_LENT)
        return PoolClause.TAKES_BACK_WHAT_IT_LENT.broken(
            f"{value.buffer!r} is taken back",
            "its return was refused",
            f"the return of {value.buffer!r} was refused, but it is lent, and no other call has "
            "given it back",
        )

    def _take_back_strange(self, value: Deallocate) -> Violation | None:
        """Return the violation, unless the answer of an open allocation may be this buffer."""
        owners = {call for call, size in self._askers.items() if value.size in (size, ABSENT)}
        if not owners:
            return _not_lent(value.buffer, "is not lent")
        self._strange[value.buffer] = owners
        return None


def _not_lent(buffer: str, why: str) -> Violation:
    return PoolClause.TAKES_BACK_ONLY_LOANS.broken(
        f"the return of {buffer!r} is refused",
        f"{buffer!r} was taken back",
        f"the pool took back {buffer!r}, which {why}",
    )
