"""The faults of purgatory histories: each breaks one clause of a correct history."""

from wheelproof_lab.metamorphic.recording import Scene
from wheelproof_lab.metamorphic.relations import Fault, Metamorphic, acted
from wheelproof_spec.base.calls import AdvanceClock, Advanced, Gauge, NumDelayed, NumKeys, Watched
from wheelproof_spec.base.component import Call
from wheelproof_spec.components.purgatory.component import (
    KAFKA,
    WHEELPROOF,
    CancelForKey,
    Cancelled,
    CheckAndComplete,
    Checked,
    Completed,
    OnComplete,
    OnExpiration,
    PurgatoryClause,
    PurgatoryConfig,
    Satisfy,
    TryComplete,
    TryCompleteElseWatch,
)

_DELAY_MS = 1_000
_KEY = "new key"
_TOO_MANY = 1_000
_CHECKER = "checker"
_TIMER = "the timer"


def _watched(scene: Scene) -> str:
    name = scene.name()
    asked = TryCompleteElseWatch(operation=name, keys=(_KEY,), delay_ms=_DELAY_MS)
    scene.call(asked, Completed(completed=False))
    return name


def _able(scene: Scene) -> str:
    name = _watched(scene)
    scene.call(Satisfy(operation=name))
    return name


def _checks(scene: Scene, count: int, *completed: str) -> Scene:
    scene.begin(CheckAndComplete(key=_KEY), _CHECKER)
    for name in completed:
        scene.begin(OnComplete(operation=name), _CHECKER)
    return scene.answer(CheckAndComplete, Checked(count=count), _CHECKER)


def _twice(scene: Scene) -> object:
    name = _able(scene)
    return _checks(scene, 1, name).begin(OnComplete(operation=name), _TIMER)


def _out_of_order(scene: Scene) -> object:
    first, second = _able(scene), _able(scene)
    return _checks(scene, 2, second, first)


def _claims(scene: Scene) -> PurgatoryConfig:
    config = scene.config
    assert isinstance(config, PurgatoryConfig)
    return config


def _missed(scene: Scene) -> object:
    if _claims(scene).triggers == "may_be_missed":
        return False
    _able(scene)
    return _checks(scene, 0)


def _at_once(scene: Scene) -> object:
    if _claims(scene).attempts != "exclusive":
        return False
    name = _watched(scene)
    threads = ("one", "another")
    for thread in threads:
        scene.begin(TryComplete(operation=name), thread)
    for thread in threads:
        scene.answer(TryComplete, process=thread)
    return scene


def _boasts(scene: Scene) -> object:
    name = scene.name()
    scene.call(Satisfy(operation=name))
    asked = TryCompleteElseWatch(operation=name, keys=(_KEY,), delay_ms=_DELAY_MS)
    return scene.call(asked, Completed(completed=True))


def _left_behind(scene: Scene) -> object:
    _watched(scene)
    return scene.wait(2 * _DELAY_MS).call(AdvanceClock(), Advanced())


def _only_expires(scene: Scene) -> object:
    name = _watched(scene)
    return scene.wait(2 * _DELAY_MS).begin(OnExpiration(operation=name), _TIMER)


def _takes_what_has_no_key(scene: Scene) -> object:
    asked = TryCompleteElseWatch(operation=scene.name(), keys=(), delay_ms=_DELAY_MS)
    return scene.call(asked, Completed(completed=False))


def _overlooked(scene: Scene) -> object:
    _watched(scene)
    return scene.call(CancelForKey(key=_KEY), Cancelled(count=0, cancelled=()))


def _counted(clause: PurgatoryClause, look: Call) -> Fault:
    """Return a fault that breaks the clause of a gauge."""
    return acted(clause, lambda scene: scene.call(look, Gauge(count=_TOO_MANY)))


METAMORPHIC = Metamorphic(
    faults=(
        acted(PurgatoryClause.COMPLETES_AT_MOST_ONCE, _twice),
        acted(
            PurgatoryClause.COMPLETES_FOR_A_REASON, lambda scene: _checks(scene, 1, _watched(scene))
        ),
        acted(PurgatoryClause.TRIGGER_COMPLETES, _missed),
        acted(PurgatoryClause.TRIES_IN_WATCH_ORDER, _out_of_order),
        acted(PurgatoryClause.ATTEMPTS_EXCLUDE, _at_once),
        acted(PurgatoryClause.ANSWERS_TRULY, _boasts),
        acted(PurgatoryClause.COUNTS_COMPLETED, lambda scene: _checks(scene, 2, _able(scene))),
        acted(PurgatoryClause.EXPIRES_IN_TIME, _left_behind, whole=True, end=True),
        acted(PurgatoryClause.EXPIRES_ONCE_AFTER_COMPLETION, _only_expires),
        acted(PurgatoryClause.CANCELS_WHO_WAITS, _overlooked),
        acted(PurgatoryClause.KEEPS_TO_ITS_DOMAIN, _takes_what_has_no_key),
        _counted(PurgatoryClause.DELAYED_COUNTS, NumDelayed()),
        _counted(PurgatoryClause.WATCHED_COUNTS, Watched()),
        _counted(PurgatoryClause.NO_EMPTY_KEY, NumKeys()),
    ),
    looks=frozenset({"watched", "num_delayed", "num_keys"}),
    meaningful=frozenset({"triggers"}),
    profiles={WHEELPROOF: lambda recording: recording, KAFKA: lambda recording: recording},
)
