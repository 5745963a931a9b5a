"""How often each clause was tested: counted by the judge, where it tests it."""

from collections.abc import Collection, Iterable

from wheelproof_spec.base.codec.bounds import Bounds


class Tally:
    """Counts tests of clauses; a clause that is a known limit is counted as skipped instead.

    A clause that no test has met stays at 0, so that a pass can say what it has not seen. So does
    one of which only the end shows whether it is promised, unless the judge says then that it is.
    """

    __slots__ = ("_open", "bounds", "checked", "skipped")

    def __init__(
        self,
        clauses: Iterable[str] = (),
        limits: Collection[str] = (),
        bounds: Bounds | None = None,
    ) -> None:
        """Count the tests of `clauses`; those among `limits` are not to be judged.

        `limits` may name parts of the domain and capabilities too, which are not there. What lies
        outside `bounds` is not to be asked.
        """
        self.bounds: Bounds = bounds or {}
        self.checked: dict[str, int] = dict.fromkeys(map(str, clauses), 0)
        self.skipped: dict[str, int] = dict.fromkeys(map(str, limits), 0)
        self._open: set[str] = set()

    def tests(self, clause: str, times: int = 1) -> bool:
        """Count that `clause` is tested now, so many times; tell whether it is to be judged."""
        if clause in self.skipped:
            self.skipped[clause] += times
            return False
        self.checked[clause] = self.checked.get(clause, 0) + times
        return True

    def leaves_open(self, clause: str) -> None:
        """Let violations of `clause` count only if it turns out to be promised."""
        self._open.add(clause)

    def settles(self, clause: str) -> None:
        """Say that a clause that was left open is promised."""
        self._open.discard(clause)

    def is_open(self, clause: str) -> bool:
        """Tell whether nobody knows if `clause` is promised."""
        return clause in self._open

    def counts(self) -> dict[str, int]:
        """Return how often each clause was tested."""
        return {clause: 0 if clause in self._open else n for clause, n in self.checked.items()}

    def skips(self, clause: str) -> bool:
        """Tell whether a clause, a part of the domain or a capability is left out."""
        return clause in self.skipped

    def untested(self) -> tuple[str, ...]:
        """Return the clauses that no test has met."""
        return tuple(clause for clause, times in self.checked.items() if not times)
