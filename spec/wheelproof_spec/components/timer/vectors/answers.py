"""From the calls of a timer's case to the steps of a vector: what a contract says of each."""

from collections.abc import Iterable, Sequence

from wheelproof_spec.base.codec.vocabulary import ABSENT, Absent
from wheelproof_spec.base.contract import TimerContract
from wheelproof_spec.components.timer.calls import (
    Add,
    Advance,
    Cancel,
    Reset,
    Size,
    TimerCall,
    TimerConfig,
)
from wheelproof_spec.components.timer.events import (
    AddStep,
    AdvanceStep,
    CancelStep,
    Done,
    Fired,
    SizeAnswer,
    SizeStep,
)
from wheelproof_spec.components.timer.vectors.ideal import IdealTimer, Ran

TimerStep = AddStep | CancelStep | AdvanceStep | SizeStep

_Answer = bool | int | None


def timer_steps(
    contract: TimerContract, config: TimerConfig, calls: Sequence[TimerCall]
) -> tuple[TimerStep, ...] | None:
    """Return the steps of a case with its answers, or None if the contract leaves one open."""
    asked = [call for call in calls if not isinstance(call, Reset)]
    eager = IdealTimer(contract, config, eager=True)
    lazy = IdealTimer(contract, config, eager=False)
    steps: list[TimerStep] = []
    pending: tuple[Ran, Ran] = ((), ())
    for call in asked:
        ran_early, answer_of_eager = eager.perform(call)
        ran_late, answer_of_lazy = lazy.perform(call)
        if answer_of_eager != answer_of_lazy or _runs_twice(pending[0], call):
            return None
        pending = (pending[0] + ran_early, pending[1] + ran_late)
        known = eager.due_ms == lazy.due_ms
        steps.append(_step(call, _fired(pending) if known else ABSENT, answer_of_eager))
        if known:
            pending = ((), ())
    return tuple(steps)


def _runs_twice(pending: Ran, call: TimerCall) -> bool:
    """Tell whether an add meets an earlier one of the same task that may have run or not."""
    return isinstance(call, Add) and any(task == call.task for task, _ in pending)


def _fired(pending: tuple[Ran, Ran]) -> Fired:
    early, late = pending
    names = tuple(task for task, _ in early)
    times = [due_ms for _, due_ms in early]
    if early == late and len(set(times)) == len(times):
        return Fired(fired=names)
    return Fired(fired=tuple(sorted(names)), any_order=True)


def _step(call: TimerCall, fired: Fired | Absent, answer: _Answer) -> TimerStep:
    match call:
        case Add(task=task, delay_ms=delay_ms):
            return AddStep(do="add", task=task, delay_ms=delay_ms, expect=fired)
        case Cancel(task=task):
            return CancelStep(do="cancel", task=task, expect=Done(ok=bool(answer)))
        case Advance(to_ms=to_ms):
            return AdvanceStep(do="advance", to_ms=to_ms, expect=fired)
        case _:
            assert answer is not None
            return SizeStep(do="size", expect=SizeAnswer(size=answer))


def timer_flags(config: TimerConfig, calls: Iterable[TimerCall]) -> tuple[str, ...]:
    """Return what the case is about, in the words of the flags."""
    span_ms = config.tick_ms * max(config.wheel_size, 2)
    found: set[str] = set()
    added: set[str] = set()
    now_ms = config.start_ms
    if config.wheel_size == 1:
        found.add("WheelOfOneBucket")
    for call in calls:
        match call:
            case Add(task=task, delay_ms=delay_ms):
                found |= _flags_of_delay(delay_ms, span_ms, config.tick_ms)
                found |= {"AddAgain"} if task in added else set()
                found |= {"Rounding"} if (now_ms + delay_ms) % config.tick_ms else set()
                added.add(task)
            case Cancel(task=task):
                found.add("Cancel" if task in added else "CancelInVain")
            case Advance(to_ms=to_ms):
                found |= {"Jump"} if to_ms - now_ms > span_ms else set()
                found |= {"LongJump"} if to_ms - now_ms > _MANY_TICKS * config.tick_ms else set()
                now_ms = to_ms
            case Size():
                found.add("Size")
            case _:
                continue
    return tuple(sorted(found))


_MANY_TICKS = 100_000
_LONGEST_MS = 2**61


def _flags_of_delay(delay_ms: int, span_ms: int, tick_ms: int) -> set[str]:
    flags: set[str] = set()
    if delay_ms < 0:
        flags.add("NegativeDelay")
    if delay_ms < tick_ms:
        flags.add("DueAtOnce")
    if delay_ms >= span_ms:
        flags.add("Overflow")
    if delay_ms > _LONGEST_MS:
        flags.add("LongestDelay")
    return flags
