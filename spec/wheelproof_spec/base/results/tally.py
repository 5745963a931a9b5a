"""Counts how often each clause was tested; the judge counts where it tests."""

from collections.abc import Collection, Iterable

from wheelproof_spec.base.codec.bounds import Bounds


class Tally:
    """Counts tests of clauses; a clause that is a known limit is counted as skipped instead.

    A clause that was never tested stays at 0, so that a pass can say so. An open clause, of which
    only the end shows whether it is promised, also stays at 0 unless the judge settles it.
    """

    __slots__ = ("_open", "bounds", "checked", "skipped")

    def __init__(
        self,
        clauses: Iterable[str] = (),
        limits: Collection[str] = (),
        bounds: Bounds | None = None,
    ) -> None:
        """Count the tests of `clauses`; those among `limits` are not to be judged.

        `limits` may also name missing parts of the domain and missing capabilities. Calls outside
        `bounds` are not to be made.
        """
        self.bounds: Bounds = bounds or {}
        self.checked: dict[str, int] = dict.fromkeys(map(str, clauses), 0)
        self.skipped: dict[str, int] = dict.fromkeys(map(str, limits), 0)
        self._open: set[str] = set()

    def tests(self, clause: str, times: int = 1) -> bool:
        """Count `times` tests of `clause`; return whether it is to be judged."""
        if clause in self.skipped:
            self.skipped[clause] += times
            return False
        self.checked[clause] = self.checked.get(clause, 0) + times
        return True

    def leaves_open(self, clause: str) -> None:
        """Let violations of `clause` count only if it turns out to be promised."""
        self._open.add(clause)

    def settles(self, clause: str) -> None:
        """Record that an open clause is promised."""
        self._open.discard(clause)

    def is_open(self, clause: str) -> bool:
        """Tell whether it is unknown if `clause` is promised."""
        return clause in self._open

    def counts(self) -> dict[str, int]:
        """Return how often each clause was tested."""
        return {clause: 0 if clause in self._open else n for clause, n in self.checked.items()}

    def skips(self, clause: str) -> bool:
        """Tell whether a clause, a part of the domain or a capability is left out."""
        return clause in self.skipped

    def untested(self) -> tuple[str, ...]:
        """Return the clauses that were never tested."""
        return tuple(clause for clause, times in self.checked.items() if not times)
