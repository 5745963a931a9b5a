"""ProduceFetch.tla against a replica manager: variables and steps."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from wheelproof.purgatory import OperationState
from wheelproof.replication import LogRecord
from wheelproof.replication.log_segment import LogSegment
from wheelproof.replication.partition import Partition
from wheelproof_explore.runtime.read_write_lock import ModelReadWriteLock
from wheelproof_lab.graph.comparing.driven import WITHIN
from wheelproof_lab.graph.comparing.projected import changes_of, only, pairs_of
from wheelproof_lab.graph.replication.stepped import BROKER, UNNAMED, Waiting
from wheelproof_lab.graph.states.cells import is_dict, value_in
from wheelproof_lab.graph.states.names import attributes, members
from wheelproof_lab.graph.states.views import NextStep, Surroundings, View
from wheelproof_spec.tlc.states.values import State, Value, make_function

NO_ANSWER = "none"
_VARIABLES = ("log", "hw", "epoch", "leads", "start", "isr", "ends", "copy")


def record_of(record: LogRecord) -> Value:
    """Return the module's value of a record."""
    return record.leader_epoch, f"p{record.value.decode()}"


def sequence_of(value: Value) -> tuple[Value, ...]:
    """Return a value that is a sequence, as a tuple."""
    assert isinstance(value, tuple)
    return value


@dataclass(slots=True, kw_only=True)
class ProduceFetchView(View):
    """A broker as ProduceFetch.tla sees it; requests, answers, copies are in cells."""

    partitions: Mapping[str, Partition]
    followers: Mapping[str, int]
    purgatories: Mapping[str, object]
    answers: Mapping[str, object]
    copies: Mapping[str, object]
    steps: frozenset[str]

    def state(self, surroundings: Surroundings) -> State:
        """Return the variables of ProduceFetch, as far as they are compared."""

        def of_each(show: Callable[[str], Value]) -> Value:
            return make_function((q, show(q)) for q in self.partitions)

        return {
            "log": of_each(self._log_of),
            "hw": of_each(lambda q: _number(self._log(q)["_high_watermark"])),
            "epoch": of_each(lambda q: _number(self._held(q)["_leader_epoch"])),
            "leads": of_each(lambda q: self._held(q)["_leader_id"] == BROKER),
            "start": of_each(lambda q: _number(self._held(q)["_epoch_start_offset"])),
            "isr": of_each(self._in_sync),
            "ends": of_each(lambda q: make_function(self._ends_of(q).items())),
            "copy": make_function((name, shown(cell)) for name, cell in self.copies.items()),
            "answers": make_function((name, shown(cell)) for name, cell in self.answers.items()),
            **{name: _waiting_in(cell) for name, cell in self.purgatories.items()},
            WITHIN: self._within(surroundings),
        }

    def label(self, step: NextStep) -> str | None:
        """Return the thread and the action, None for no action."""
        action = self._begins(step)
        return None if action is None or action in UNNAMED else f"{step.thread}: {action}"

    def permits(self, step: NextStep, surroundings: Surroundings) -> bool:
        """Let a thread finish its step before another step begins; no thread waits in a step."""
        within = self._within(surroundings)
        if within:
            return step.thread == within
        match self._begins(step):
            case "Receive":
                return shown(self.answers[step.thread]) != NO_ANSWER
            case "LeaveOut":
                return any(map(self._may_leave_out, self.partitions))
            case "Expand":
                locks = map(self._lock_of, self.partitions)
                return not any(lock.state.readers for lock in locks if lock.number == step.number)
            case _:
                return True

    def _begins(self, step: NextStep) -> str | None:
        """Return the step of the module that begins here, None within one."""
        if step.operation == "_RequestWrite" and step.site == "_expand_in_sync":
            return "Expand"
        begins = step.operation == "Get" and step.subject in self.steps
        return step.subject if begins else None

    def _within(self, surroundings: Surroundings) -> str:
        """Return the thread that is within a step, the first thread if there are several."""
        pending = surroundings.pending.values()
        return next((step.thread for step in pending if self._begins(step) is None), "")

    def _may_leave_out(self, q: str) -> bool:
        end = len(self._log_of(q))
        behind = {name for name, known in self._ends_of(q).items() if known < end}
        return bool(behind & self._in_sync(q)) and not self._lock_of(q).state.readers

    def _held(self, q: str) -> dict[str, object]:
        return attributes(self.partitions[q])

    def _log(self, q: str) -> dict[str, object]:
        return attributes(self._held(q)["log"])

    def _lock_of(self, q: str) -> ModelReadWriteLock:
        lock = self._held(q)["_lock"]
        assert isinstance(lock, ModelReadWriteLock)
        return lock

    def _log_of(self, q: str) -> tuple[Value, ...]:
        segments = members(self._log(q)["_segments"], LogSegment)
        held = (members(attributes(segment)["_records"], LogRecord) for segment in segments)
        return tuple(record_of(record) for records in held for record in records)

    def _in_sync(self, q: str) -> frozenset[str]:
        replicas = members(self._held(q)["_in_sync"], int)
        return frozenset(name for name, number in self.followers.items() if number in replicas)

    def _ends_of(self, q: str) -> dict[str, int]:
        replicas = self._held(q)["_remote_replicas"]
        assert is_dict(replicas)
        return {
            name: _number(attributes(replicas[number])["_log_end_offset"])
            for name, number in self.followers.items()
        }


def _waiting_in(cell: object) -> Value:
    waiting = cast(Waiting, value_in(cell))
    return frozenset(
        name
        for name, operation, _ in waiting
        if value_in(attributes(operation)["_state"]) is OperationState.PENDING
    )


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


def shown(cell: object) -> Value:
    """Return the value of the module that a cell holds."""
    return cast(Value, value_in(cell))


def project_produce_fetch(state: State) -> State:
    """Return the compared part of a state of the module."""
    status, received = dict(pairs_of(state["status"])), dict(pairs_of(state["received"]))

    def full(request: Value, answer: Value) -> Value:
        if answer == NO_ANSWER:
            return NO_ANSWER
        return status[request] if request in status else (answer, received[request])

    answers = make_function(
        (request, full(request, answer)) for request, answer in pairs_of(state["answer"])
    )
    waiting = {name: _open_in(state[name], state) for name in ("produces", "fetches")}
    return {**only(state, _VARIABLES), **waiting, "answers": answers}


def _open_in(requests: Value, state: State) -> Value:
    assert isinstance(requests, frozenset)
    answers = dict(pairs_of(state["answer"]))
    return frozenset(request for request in requests if answers[request] == NO_ANSWER)


def label_of_produce_fetch(action: str, before: State, after: State) -> str | None:
    """Return the thread and the action; the thread is the one whose registers change."""
    del action
    changed = (
        thread
        for variable in ("pc", "todo", "triggers")
        for thread, _, _ in changes_of(variable, before, after)
    )
    thread = next(changed, None)
    if thread is None:
        # A step that changes no register is the watchdog's, if it moves no high watermark.
        return None if before == after else "isr: LeaveOut"
    pc = dict(pairs_of(before["pc"]))[thread]
    match pc:
        case "Trigger":
            purgatory, key = sequence_of(sequence_of(dict(pairs_of(before["triggers"]))[thread])[0])
            return f"{thread}: Trigger {purgatory} {key}"
        case "Wait":
            is_follower = thread in dict(pairs_of(before["copy"]))
            return f"{thread}: Receive" if is_follower else None
        case "Watchdog":
            return f"{thread}: LeaveOut"
        case _:
            return None if pc in UNNAMED else f"{thread}: {pc}"
