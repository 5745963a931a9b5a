"""How often each clause was tested: counted by the judge, where it tests it."""

from collections.abc import Collection, Iterable


class Tally:
    """Counts tests of clauses; a clause that is a known limit is counted as skipped instead.

    A clause that no test has met stays at 0, so that a pass can say what it has not seen.
    """

    __slots__ = ("checked", "skipped")

    def __init__(self, clauses: Iterable[str] = (), limits: Collection[str] = ()) -> None:
        """Count the tests of `clauses`; those among `limits` are not to be judged.

        `limits` may name parts of the domain and capabilities too, which are not there.
        """
        self.checked: dict[str, int] = dict.fromkeys(map(str, clauses), 0)
        self.skipped: dict[str, int] = dict.fromkeys(map(str, limits), 0)

    def tests(self, clause: str, times: int = 1) -> bool:
        """Count that `clause` is tested now, so many times; tell whether it is to be judged."""
        if clause in self.skipped:
            self.skipped[clause] += times
            return False
        self.checked[clause] = self.checked.get(clause, 0) + times
        return True

    def skips(self, clause: str) -> bool:
        """Tell whether a clause, a part of the domain or a capability is left out."""
        return clause in self.skipped

    def untested(self) -> tuple[str, ...]:
        """Return the clauses that no test has met."""
        return tuple(clause for clause, times in self.checked.items() if not times)
