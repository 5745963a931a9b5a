"""The search for a linearization: an order of the effects of one object's calls.

J. Wing and C. Gong ("Testing and Verifying Concurrent Objects", JPDC 1993) with G. Lowe's cache of
tried configurations ("Testing for Linearizability", CPSP 2017): the set of effects taken, and the
set of possible states. Each set of states has a number, and the model computes each transition
between numbers once. The search itself only compares integers.

Most histories are right, and then the first way down often explains them. On it no configuration
comes twice, so states are neither compared nor hashed. At its first dead end the search begins
again, with the cache. It takes the same way, so what it finds is the same as without that first
try.

A call that changes no state and is possible now is taken at once, and no other order is tried: in
an order that has the call later, it can be moved here. A configuration is skipped if one was tried
with the same effects, except that it has fewer of the calls that never return: whatever can follow
now could follow there as well.
"""

from collections.abc import Collection, Generator, Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Final, Generic, TypeVar

from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.history.linearizability.calls import Call
from wheelproof_spec.history.linearizability.model import Model

State = TypeVar("State", bound=Hashable)
Op = TypeVar("Op")
Res = TypeVar("Res")

TURN: Final = 256
"""After how many configurations the next object gets its turn."""
_FEW: Final = 32
"""How many tried configurations are kept to be compared with others in their lost calls."""
_NEVER: Final = 1 << 60
_NOTHING: Final = -1


class Search(Generic[State, Op, Res]):
    """The search over the calls of one object.

    Of n calls, effect i is the last effect of call i, and n + i is the request before it if the
    call waits. `furthest` is the last return before which an order explains every answer.
    """

    def __init__(self, model: Model[State, Op, Res], calls: Sequence[Call[Op, Res]]) -> None:
        self._model = model
        # A call that changes nothing and has no known answer needs no explanation.
        self.calls = [
            call
            for call in calls
            if call.returned is not None or not model.observes(call.operation, call.result)
        ]
        self._numbers: dict[frozenset[State], int] | None = None
        """The number of each set of states; None on the first way down."""
        self._holds: list[Collection[State]] = []
        self._after: list[dict[int, int]] = []
        self._order: list[tuple[int, int, int, list[int]]] = []
        self.tried = 0
        self.furthest = 0

    def run(self, limit: int | None) -> Verdict:
        """Search to the end, or until `limit` configurations have been tried."""
        for verdict in self.turns(TURN if limit is None else max(1, min(TURN, limit))):
            if verdict is not Verdict.INCONCLUSIVE or (limit is not None and self.tried >= limit):
                return verdict
        raise AssertionError("a search ends with a verdict")

    def turns(self, turn: int = TURN) -> Iterator[Verdict]:
        """Yield INCONCLUSIVE after each `turn` configurations, and the verdict at the end."""
        for numbers in (None, dict[frozenset[State], int]()):
            self._numbers, self._holds, self.tried = numbers, [], 0
            self._after = [{} for _ in range(2 * len(self.calls))]
            if (yield from self._search(turn, is_first_way=numbers is None)):
                return

    def _search(self, turn: int, *, is_first_way: bool) -> Generator[Verdict, None, bool]:
        """Do as `turns` says; return False if the first way down ends without a verdict."""
        calls, rows, end = self.calls, self._after, len(self.calls)
        stack: list[tuple[int, int, int, list[int]]] = []
        waits = [self._model.waits(call.operation) for call in calls]
        looks = [self._model.observes(call.operation, call.result) for call in calls]
        invoked = [call.invoked for call in calls]
        returned = [_NEVER if call.returned is None else call.returned for call in calls]
        # A doubly linked list of the calls whose last effect is open, in the order of invocation.
        following, previous = [*range(1, end + 1), 0], [end, *range(end)]
        # Calls that never return go last: what was tried without them need not be tried with them.
        rank = [call + end * (returned[call] == _NEVER) for call in range(end)]
        lost = sum(1 << call for call in range(end) if rank[call] >= end and not waits[call])
        seen: dict[int, set[int]] = {}
        tried: dict[tuple[int, int], list[int]] = {}
        taken, node = 0, self._number(frozenset({self._model.initial_state()}))
        while True:
            deadline, choices, forced = _NEVER, list[int](), _NOTHING
            call = following[end]
            while call != end and invoked[call] < deadline:
                if returned[call] < deadline:
                    deadline = returned[call]
                if not looks[call] or len(self._holds[node]) > 1:
                    choices.append(call)
                elif self._next(rows[call], call, node) != _NOTHING:
                    forced = call
                    break
                call = following[call]
            if forced != _NOTHING:
                stack.append((forced, taken, node, []))
                taken |= 1 << forced
                following[previous[forced]] = following[forced]
                previous[following[forced]] = previous[forced]
                continue
            if deadline == _NEVER:
                self._order = [*stack, (0, 0, node, [])]
                yield Verdict.PASS
                return True
            choices.sort(key=rank.__getitem__, reverse=True)
            while True:
                if not choices:
                    if is_first_way:
                        return False
                    if deadline > self.furthest:
                        self.furthest, self._order = deadline, [*stack, (0, 0, node, [])]
                    if not stack:
                        yield Verdict.FAIL
                        return True
                    effect, taken, node, choices = stack.pop()
                    if effect < end:
                        following[previous[effect]] = previous[following[effect]] = effect
                    continue
                effect = choices.pop()
                if waits[effect] and not taken >> end + effect & 1:
                    effect += end
                after = self._next(rows[effect], effect, node)
                if after == _NOTHING:
                    continue
                then = taken | 1 << effect
                if is_first_way and (lost & 1 << effect or self.tried + 1 >= turn):
                    return False
                known = seen.setdefault(after, set[int]())
                if then in known:
                    continue
                if not lost:
                    break
                fewer = tried.setdefault((after, then & ~lost), [])
                if not any(less & then == less for less in fewer):
                    if len(fewer) < _FEW:
                        fewer.append(then & lost)
                    break
            stack.append((effect, taken, node, choices))
            taken, node = then, after
            known.add(then)
            if effect < end:
                following[previous[effect]] = following[effect]
                previous[following[effect]] = previous[effect]
            self.tried += 1
            if not self.tried % turn:
                yield Verdict.INCONCLUSIVE

    def order(self) -> list[tuple[Call[Op, Res], bool, frozenset[State]]]:
        """Return the effects in order: the call, whether it is its last one, the states after it.

        They explain the whole history, or the events before `furthest` if the history fails.
        """
        end = len(self.calls)
        return [
            (self.calls[effect % end], effect < end, frozenset(self._holds[node]))
            for (effect, *_), (_, _, node, _) in pairwise(self._order)
        ]

    def _next(self, row: dict[int, int], effect: int, node: int) -> int:
        """Return the number of the states after `effect`; _NOTHING if the effect is impossible."""
        number = row.get(node)
        if number is None:
            number = row[node] = self._step(effect, node)
        return number

    def _step(self, effect: int, node: int) -> int:
        model, call = self._model, self.calls[effect % len(self.calls)]
        after: list[State] = []
        for state in self._holds[node]:
            if effect >= len(self.calls):
                after += model.request(state, call.operation, call.number)
            elif model.waits(call.operation):
                after += model.follow_up(state, call.operation, call.number, call.result)
            else:
                after += model.step(state, call.operation, call.result)
        looks = bool(after) and model.observes(call.operation, call.result)
        if looks and not set(after) <= set(self._holds[node]):
            raise ValueError(f"{call} observes, says the model, and then changes the state")
        return self._number(after) if after else _NOTHING

    def _number(self, states: Collection[State]) -> int:
        number = len(self._holds)
        if self._numbers is None:
            self._holds.append(states if len(states) == 1 else frozenset(states))
            return number
        held = frozenset(states)
        if self._numbers.setdefault(held, number) < number:
            return self._numbers[held]
        self._holds.append(held)
        return number
