"""Which operations have to be completed without waiting for their time-outs.

An operation whose predicate was true before a check of one of its keys began, or before it was
handed in, is completed by that call, or by one that overlaps it (semantics.md 2.4 - 2.6): so at the
latest when no call is under way any more.
"""

from wheelproof_spec.components.purgatory.history.operation import Operation

HANDED_IN = "its predicate was true before it was handed in"


class Triggers:
    """Keeps who can end, and who has been triggered since."""

    def __init__(self) -> None:
        self._ready: dict[str, dict[Operation, None]] = {}
        self._owed: dict[Operation, str] = {}
        self._late: dict[Operation, str] = {}

    def ready(self, operation: Operation) -> None:
        """Its predicate has been made true, and it waits for its keys or will do so."""
        if operation.completed is None:
            for key in operation.keys:
                self._ready.setdefault(key, {})[operation] = None

    def checked(self, key: str, began: int) -> None:
        """A check has ended."""
        for operation in self._ready.get(key, {}):
            if operation.true_since is not None and operation.true_since < began:
                self._owe(operation, f"a check of {key!r} began after its predicate was made true")

    def handed_in(self, operation: Operation, began: int) -> None:
        """The call that handed it in has ended."""
        if operation.true_since is not None and operation.true_since < began:
            self._owe(operation, HANDED_IN)

    def ended(self, operation: Operation) -> None:
        """It needs no completion any more."""
        for key in operation.keys:
            waiting = self._ready.get(key)
            if waiting is not None:
                waiting.pop(operation, None)
                if not waiting:
                    del self._ready[key]
        self._owed.pop(operation, None)
        self._late.pop(operation, None)

    def missed(self, high_ms: int) -> tuple[Operation, str] | None:
        """Return one that waits though no call is under way; who may just expire is put off."""
        while self._owed:
            operation, why = self._owed.popitem()
            if operation.may_be_cancelled or operation.refused:
                continue
            if operation.least > high_ms:
                return operation, why
            self._late[operation] = why
        return None

    def missed_in_the_end(self) -> tuple[Operation, str] | None:
        """Return one that waits though all is quiet."""
        return next(
            (
                (operation, why)
                for operation, why in (*self._owed.items(), *self._late.items())
                if not (operation.may_be_cancelled or operation.refused)
            ),
            None,
        )

    def _owe(self, operation: Operation, why: str) -> None:
        if operation.completed is None and operation not in self._late:
            self._owed.setdefault(operation, why)
