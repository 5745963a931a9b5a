"""What happens at an access of instrumented code: it is logged, or it is a step.

An object that only one thread has reached makes no steps; the thread is remembered.
"""

import inspect
import sys
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType, ModuleType
from typing import TypeAlias, cast
from zlib import crc32

from wheelproof_explore.failures.places import call_stack
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.fields.plain_fields import FieldAccess
from wheelproof_explore.instrument.unseen import foreign
from wheelproof_explore.instrument.unseen.kinds import (
    CONTAINERS,
    exposed,
    has_model,
    looked_into,
    name_of,
    opened,
)
from wheelproof_explore.instrument.unseen.parts import Part
from wheelproof_explore.patched.deaths import Deaths
from wheelproof_explore.patched.primitives import running
from wheelproof_explore.runtime.accesses import Accesses, reading, writing
from wheelproof_explore.runtime.model import ModelThread
from wheelproof_explore.runtime.numbers import ObjectNumber, field_number
from wheelproof_explore.runtime.runtime import ControlledRuntime, LoggedAccess

KEYED = frozenset((dict, OrderedDict, defaultdict))
_CONTENTS, _KEYS = " as a whole", ", its keys"
"""What all items of a dictionary are called in the data race search, and which keys it has."""
"""Containers whose keys are searched for data races one by one."""
_FIELDS = (1 << 19) - 2
_OFTEN = 8
"""So many shared objects of a field, and all of them count as shared: each begins anew."""
_PATIENCE = 10_000
"""The most accesses of a run that has to begin anew: it may spin and never make a step."""


def label_of(key: object) -> str | None:
    """Return the name of a key in the search for data races: keys that are equal have the same.

    None is that of a key that the search does not tell from the others.
    """
    kind = type(key)
    if issubclass(kind, str) and kind.__eq__ is str.__eq__:
        return f"[{str.__str__(cast('str', key))!r}]"
    is_number = issubclass(kind, int) and kind.__eq__ is int.__eq__
    if is_number or (kind is float and cast("float", key).is_integer()):
        return f"[{int(cast('float', key))}]"
    return None


class NewlySharedError(ProgramRejectedError):
    """The error that an object turned out to be shared: its accesses have to become steps.

    `rewrites` tells that code has to be rewritten for that.
    """

    def __init__(self, program: str, reason: str, *, rewrites: bool) -> None:
        super().__init__(program, reason, "explore it anew")
        self.rewrites = rewrites


def _explore_anew(runtime: ControlledRuntime, reason: str, *, rewrites: bool = False) -> None:
    """Have the program explored anew once this run has ended.

    It may find more until then. So an exploration seldom begins anew.
    """
    before = runtime.anew
    if before is None or (rewrites and isinstance(before, NewlySharedError)):
        runtime.anew = NewlySharedError(runtime.program, reason, rewrites=rewrites)


class Seeing:
    """The handling of accesses in one exploration: as `steps`, or logged for the data race search.

    `shared` are the numbers of state that several threads have reached, at least one by a write.
    Nothing is seen unless it is `active`.
    """

    def __init__(self, *, steps: bool) -> None:
        self.steps = steps
        self.shared: set[int] = set()
        self._runtime: ControlledRuntime | None = None
        self._reached: dict[int, tuple[int, bool]] = {}
        self._patience = _PATIENCE
        self._found = Counter[str]()
        """How many objects of each field turned out to be shared."""
        self._always: set[str] = set()
        """Fields of which each access is a step: their objects have other numbers in each order."""
        self.active = False
        self.known: set[int] = set()
        """The identities of the codes that are rewritten."""
        self.faulty: dict[int, str] = {}
        """The calls that fail under the names that were found, by the identity of the function."""
        self.files: set[str] = set()
        self.modules: frozenset[str] = frozenset()
        self.functions: Sequence[FunctionType] = ()
        """The functions whose code is replaced, as those modules had them at first."""
        self._exposed_classes: set[tuple[str, str]] = set()
        """The classes whose own `__dict__` a run has taken, by their names."""
        self.set_names: set[str] = set()
        """Attributes of classes that a run has set, and methods that it has replaced in objects.

        See `note_set`."""
        self.written: dict[str, frozenset[str]] = {}
        """The variables of modules that were written as attributes, by the names of the modules."""
        self._replaced: dict[tuple[int, str], tuple[_Owner, str, object]] = {}
        """Attributes that a run has set, as they were before: see `replace`."""
        self._tell: Callable[[object], object] = id
        self._read_once = set[tuple[int, str]]()
        self.late: list[str] = []
        """The modules that runs have imported."""
        self.blind: dict[str, None] = {}
        self.deaths = Deaths(self.blind)
        self._loaded = frozenset(sys.modules)
        self._looks_at_modules = False
        # What a run has changed that cannot be brought back; each is in `blind`, too.
        self.lost: dict[str, None] = {}
        """What runs called and nobody could look into, in the order of the calls."""
        opened.clear()
        exposed.clear()
        foreign.forget()

    def access(self, instance: object, name: str, key: str, *, write: bool) -> Accesses:
        """Log an access by the running thread, or make it a step and return what that accesses."""
        runtime = running()
        if runtime is None or not self.active:
            return ()
        if self.steps:
            return self._step(runtime, instance, name, key, write=write)
        self._log(runtime, instance, f"{name}{key}", write=write, sure=True)
        return ()

    def whole(self, container: object, *, write: bool, sure: bool = True) -> None:
        """Log an access of all that a container has, for the data race search."""
        runtime, kind = running(), type(container)
        if runtime is None or not self.active:
            return
        if kind not in KEYED:
            self._log(runtime, container, kind.__name__, write=write, sure=sure)
            return
        keys = list(cast("dict[object, object]", container))
        labels = [label for label in map(label_of, keys) if label is not None]
        for label in (_CONTENTS, _KEYS, *labels):
            self._log(runtime, container, f"{kind.__name__}{label}", write=write, sure=sure)

    def keyed(self, container: object, label: str, *, write: bool, resizes: bool) -> None:
        """Log an access of one item, for the data race search.

        Two threads may add or remove different keys. Whoever looks at all keys conflicts with both,
        and whoever may write all items conflicts with each access of one, even of a new one.
        """
        runtime, name = running(), type(container).__name__
        if runtime is None or not self.active:
            return
        self._log(runtime, container, f"{name}{label}", write=write, sure=True)
        self._log(runtime, container, f"{name}{_CONTENTS}", write=False, sure=True)
        if resizes:
            self._log(runtime, container, f"{name}{_KEYS}", write=True, sure=True, joint=True)

    def _log(
        self,
        runtime: ControlledRuntime,
        instance: object,
        field: str,
        *,
        write: bool,
        sure: bool,
        joint: bool = False,
    ) -> None:
        thread = runtime.current
        if thread is not None and not thread.aborted:
            runtime.blind, self._runtime = self.blind, runtime
            line = "" if runtime.log is None else call_stack(inspect.currentframe())
            owner = runtime.stranger(instance)
            noted = LoggedAccess(
                runtime.event, thread.number, owner, field, write, line, sure, joint
            )
            runtime.field_log.append(noted)

    def touch(
        self, parts: Iterable[tuple[Part, bool]], *, sure: bool = False, verb: str = "touch"
    ) -> Accesses:
        """Make one step of several accesses, each with whether it writes, and return them.

        The step is named by `verb`. Code that is not rewritten makes the accesses. In the search
        for data races they are not `sure`, unless it is known that they are made: such code may
        well keep threads apart itself.
        """
        runtime = running()
        if runtime is None or not self.active:
            return ()
        shared: dict[ObjectNumber, bool] = {}
        names: list[str] = []
        for (instance, name, key), write in parts:
            if instance is None:
                self.blind["a call that is given more than can be gone through"] = None
            elif self.steps:
                number = self._reach(runtime, instance, name, key, write=write)
                if number is not None:
                    shared[number] = write or shared.get(number, False)
                    names.append(f"{name}{key}")
            elif issubclass(type(instance), CONTAINERS) and not key:
                self.whole(instance, write=write, sure=sure or not write)
            else:
                self._log(runtime, instance, f"{name}{key}", write=write, sure=sure)
        if not shared:
            return ()
        accesses = tuple(
            access
            for number, write in shared.items()
            for access in (writing(number) if write else reading(number))
        )
        _perform(runtime, _Step(accesses, f"{verb} {', '.join(names)}"))
        return accesses

    def enter(self) -> None:
        """Make a step in a function that is called between what code does that is not seen."""
        runtime = running()
        thread = None if runtime is None else runtime.current
        if runtime is None or thread is None or not thread.within or not self.active:
            return
        # An audit hook is also called by what the checker does itself.
        if not thread.is_looking:
            _perform(runtime, _Step((), "enter"))

    def _step(
        self, runtime: ControlledRuntime, instance: object, name: str, key: str, *, write: bool
    ) -> Accesses:
        number = self._reach(runtime, instance, name, key, write=write)
        if number is None:
            return ()
        accesses = writing(number) if write else reading(number)
        _perform(runtime, _Step(accesses, f"{'write' if write else 'read'} {name}{key}"))
        return accesses

    def _reach(
        self, runtime: ControlledRuntime, instance: object, name: str, key: str, *, write: bool
    ) -> ObjectNumber | None:
        """Return the number of a field if threads share it; else remember who has reached it."""
        if self._runtime is not runtime:
            self._runtime, self._reached, self._patience = runtime, {}, _PATIENCE
        index = crc32(key.encode()) % _FIELDS
        number = runtime.field_number(instance, index, None)
        thread = runtime.current
        if runtime.anew is not None:
            self._patience -= 1
            if self._patience < 0:
                runtime.stop = runtime.anew
                raise runtime.anew
        if thread is None or thread.aborted:
            return None
        if number in self.shared or (self._always and f"{name}{key}" in self._always):
            return number
        first, written = self._reached.setdefault(number, (thread.number, write))
        if first != thread.number and (written or write):
            self.shared.add(number)
            field = f"{name}{key}"
            self._found[field] += 1
            if self._found[field] >= _OFTEN:
                self._always.add(field)
            _explore_anew(runtime, f"shares {field}")
        if first == thread.number and write:
            self._reached[number] = first, True
        return None

    def has_touched(self, value: object, *, write: bool) -> bool:
        """Tell whether the latest run may have read an object as a whole, or written it."""
        runtime = self._runtime
        if runtime is None:
            return False
        own = runtime.known_stranger(value)
        if own is None:
            return False
        if not self.steps:
            return any(noted.owner == own and noted.write >= write for noted in runtime.field_log)
        number = field_number(1, own)
        reached, written = self._reached.get(number, (None, False))
        return number in self.shared or written or (reached is not None and not write)

    def expose(self, value: object) -> None:
        """Have each access of an attribute be one of the `__dict__` of its object, too.

        That of a module is what its functions read without asking: it is noted.
        """
        is_class = issubclass(type(value), type)
        kind = cast("type[object]", value if is_class else type(value))
        taken = self._exposed_classes if is_class else exposed
        runtime = running()
        if runtime is None or not self.active:
            return
        if issubclass(kind, ModuleType):
            self.blind[f"the __dict__ of {cast('ModuleType', value).__name__}"] = None
            return
        if looked_into(kind, "__dict__") is not None:
            self.blind[f"what changes the __dict__ of a {kind.__name__}"] = None
            return
        home, name = sys.modules.get(kind.__module__), name_of(kind)
        is_of_c = kind is FunctionType or issubclass(kind, BaseException)
        has_own = is_of_c or getattr(home, "__file__", None)
        if has_own and name not in taken:
            taken.add(name)
            _explore_anew(runtime, f"takes __dict__ of {kind}")

    def is_exposed_class(self, owner: type) -> bool:
        """Tell whether a run has taken the `__dict__` of a class itself."""
        return bool(self._exposed_classes) and name_of(owner) in self._exposed_classes

    def look_into(self, owner: type, name: str) -> None:
        """Have each call of a method of a class of Python be one that changes its attributes."""
        runtime = running()
        if runtime is None or not self.active or owner in opened:
            return
        if has_model(owner, name):
            self.blind[f"what changes {owner.__name__}.{name}"] = None
            return
        opened.add(owner)
        _explore_anew(runtime, f"looks into {owner.__name__}")

    def note_set(self, name: str) -> None:
        """Have each look at an attribute of this name be one at its object and all its classes.

        Mostly only one of them has it, and nobody changes which.
        """
        runtime = running()
        if runtime is not None and self.active and name not in self.set_names:
            self.set_names.add(name)
            _explore_anew(runtime, f"sets {name}")

    def write_module(self, module: ModuleType, name: str) -> None:
        """Have a module report its own reads of a variable that is written from outside."""
        runtime, home = running(), module.__name__
        known = self.written.get(home, frozenset())
        file = getattr(module, "__file__", None)
        if runtime is None or not self.active or name in known or file not in self.files:
            return
        self.written[home] = known | {name}
        _explore_anew(runtime, f"writes {home}.{name}", rewrites=True)

    def replace(self, owner: "_Owner", name: str) -> None:
        """Note an attribute that is about to be set, if no run would find it as it was before."""
        if running() is not None and self._outlasts(owner):
            before = self._own(owner, name)
            self._replaced.setdefault((id(owner), name), (owner, name, before))

    def find(self, owner: "_Owner", name: str) -> None:
        """Note that a run is about to read an attribute, and may change what it finds.

        What the run itself has set is left alone: whoever looked at it would keep it alive.
        """
        key = id(owner), name
        if running() is None or key in self._replaced or key in self._read_once:
            return
        if self._outlasts(owner):
            self._read_once.add(key)
            self._tell(self._own(owner, name))

    def tell_what_is_found(self, tell: Callable[[object], None]) -> None:
        """Have each of those attributes told once, as it is before it is read."""
        self._tell = tell
        self._read_once.clear()

    def _outlasts(self, owner: "_Owner") -> bool:
        """Tell whether something is there for all runs, and no other code brings it back."""
        if isinstance(owner, FunctionType):
            return "<locals>" not in owner.__qualname__
        home = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
        return home not in self.modules

    def _own(self, owner: "_Owner", name: str) -> object:
        """Return what a module, a class or a function itself has; this object if it has none."""
        if not isinstance(owner, FunctionType):
            return vars(owner).get(name, self)
        try:
            return object.__getattribute__(owner, name)
        except AttributeError:
            return self

    def look_at_modules(self) -> None:
        """Note a look at `sys.modules`, which any import changes that a run makes."""
        self._looks_at_modules = self._looks_at_modules or running() is not None

    def put_back(self) -> None:
        """Give what is not seen the attributes that it had before the latest run."""
        if self._runtime is not None:
            self.deaths.note_outlived(self._runtime.outlived)
            self._runtime = None
        if self._looks_at_modules and not self._loaded.issuperset(sys.modules):
            self.blind["what imports change in sys.modules"] = None
        for owner, name, before in self._replaced.values():
            if self._own(owner, name) is not before:
                base = _base_of(owner)
                if before is self:
                    base.__delattr__(owner, name)
                else:
                    base.__setattr__(owner, name, before)
        self._replaced.clear()

    def made(self, container: object) -> None:
        """Register a new container: the thread that makes it gives it its number."""
        if self.steps and self.active and issubclass(type(container), CONTAINERS):
            runtime = running()
            if runtime is not None:
                runtime.field_number(container, 0, None)


_Owner: TypeAlias = ModuleType | type | FunctionType


def _base_of(owner: _Owner) -> type[object]:
    """Return whose methods set an attribute; those of a metaclass are code of the program."""
    return type if isinstance(owner, type) else object


def _perform(runtime: ControlledRuntime, step: "_Step") -> None:
    thread = runtime.caller()
    before, thread.is_looking = thread.is_looking, True
    try:
        runtime.perform(step)
    finally:
        thread.is_looking = before


class _Step(FieldAccess):
    """Accesses of plain state in one step, perhaps none; they add no happens-before edge."""

    __slots__ = ("_accesses", "_text")

    def __init__(self, accesses: Accesses, text: str) -> None:
        self._accesses = accesses
        self._text = text

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        return self._accesses

    def apply(self, _thread: ModelThread, /) -> object:
        return None

    def describe(self) -> str:
        return self._text
