"""Ground truth for plain threads: every order of the bytecodes that touch what is shared.

Greenlets stand for the threads; before each such bytecode Python's tracing lets another one go on.
Nothing is reduced and nothing of the model checker is used, so what it does not see is seen here. A
bound limits how often a thread that could go on is stopped. What C does, and what modules other
than the program's do, is one bytecode, as it is one step for the model checker. Each run begins
with the module made anew, as at its import: with it come its state, its files and its package.
"""

import _thread
import ctypes
import dis
import gc
import importlib.util
import inspect
import reprlib
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, Protocol

from wheelproof_lab.worlds.constructs.programs import INSTALLED, SHARED

_LONGEST = 5_000
_GENERATED = "<string>"
"""The file of code that `dataclass`, `exec` and the like have made."""
_LOCAL = frozenset((
    "BUILD_LIST", "BUILD_MAP", "BUILD_SET", "BUILD_STRING", "BUILD_TUPLE", "CACHE",
    "CHECK_EXC_MATCH", "COPY", "COPY_FREE_VARS", "END_FOR", "EXTENDED_ARG", "IS_OP",
    "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_FORWARD", "KW_NAMES", "LIST_APPEND",
    "LIST_TO_TUPLE", "LOAD_ASSERTION_ERROR", "LOAD_BUILD_CLASS", "LOAD_CLOSURE", "LOAD_CONST",
    "LOAD_FAST", "LOAD_FAST_AND_CLEAR", "LOAD_FAST_CHECK", "LOAD_FAST_LOAD_FAST", "MAKE_CELL",
    "MAKE_FUNCTION", "MAP_ADD", "NOP", "POP_EXCEPT", "POP_TOP", "PRECALL", "PUSH_EXC_INFO",
    "PUSH_NULL", "RERAISE", "RESUME", "RETURN_CONST", "RETURN_GENERATOR", "RETURN_VALUE",
    "SET_ADD", "SET_FUNCTION_ATTRIBUTE", "STORE_FAST", "STORE_FAST_LOAD_FAST",
    "STORE_FAST_STORE_FAST", "SWAP",
))  # fmt: skip
"""Bytecodes that touch only the value stack and the local names of one frame."""
_PATCHED = ("threading", "concurrent")


class _Greenlet(Protocol):
    """What is used of a greenlet; the package has no types of its own."""

    def switch(self, *args: object) -> object: ...

    def throw(self, error: type[BaseException]) -> object: ...


_GREENLETS = importlib.import_module("greenlet")
_new: Callable[[Callable[..., object], _Greenlet], _Greenlet] = _GREENLETS.greenlet
_current: Callable[[], _Greenlet] = _GREENLETS.getcurrent


@contextmanager
def _not_in_repr() -> Generator[None]:
    """Let others show lists that this thread is showing: to CPython, greenlets are one thread."""
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThreadState_GetDict", ctypes.pythonapi))
    state: dict[str, list[object]] = ctypes.cast(get(), ctypes.py_object).value
    inside = state.setdefault("Py_Repr", [])
    kept = inside.copy()
    inside.clear()
    yield
    inside[:] = kept


@dataclass(frozen=True, slots=True)
class Truth:
    """What the runs have returned; `whole` if all within the bound were made."""

    outcomes: frozenset[str]
    runs: int
    whole: bool


class _AbortError(BaseException):
    """Ends a thread of a run that is over."""


class _Thread:
    """A thread of a run, used as `threading.Thread` is."""

    def __init__(
        self, target: Callable[..., object], args: tuple[object, ...] = (), name: str = ""
    ) -> None:
        self.target, self.args, self.name = target, args, name
        self.result: object = None
        self.ended = False
        self.waits: Callable[[], bool] | None = None
        self.place: tuple[int, int] = 0, -1
        self.greenlet = _current()

    def __repr__(self) -> str:
        return f"<Thread({self.name}, initial)>"

    def start(self) -> None:
        _Run.current.begin(self)

    def join(self) -> None:
        if not self.ended:
            _Run.current.wait(lambda: self.ended)

    def can_go_on(self) -> bool:
        return not self.ended and (self.waits is None or self.waits())


class _Lock:
    """A lock of a run; whoever holds it does not matter."""

    def __init__(self, permits: int = 1) -> None:
        self.taken = False
        self._value = permits

    def acquire(self, blocking: bool = True) -> bool:
        if self.taken:
            if not blocking:
                return False
            _Run.current.wait(lambda: not self.taken)
        self.taken = True
        return True

    def release(self) -> None:
        self.taken = False

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()


class _Event:
    """An event of a run that nobody waits for."""

    def __init__(self) -> None:
        self._is_set = False

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True


class _Local:
    """What each thread of a run has for itself; an import belongs to the first thread."""

    def __getattribute__(self, name: str) -> object:
        own = _own_part(self)
        if name not in own:
            raise AttributeError(name)
        return own[name]

    def __setattr__(self, name: str, value: object) -> None:
        _own_part(self)[name] = value


def _own_part(local: _Local) -> dict[str, object]:
    parts: dict[int, dict[str, object]] = object.__getattribute__(local, "__dict__")
    running = _running()
    is_first = running is None or running is _Run.current.first
    return parts.setdefault(0 if is_first else id(running), {})


def _running() -> _Thread | None:
    return _Run.current.running if hasattr(_Run, "current") else None


class _Future:
    def __init__(self, thread: _Thread) -> None:
        self.thread = thread

    def result(self) -> object:
        self.thread.join()
        return self.thread.result


class _Pool:
    """A pool in which each call has a thread of its own."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def submit(self, function: Callable[..., object], *args: object) -> _Future:
        thread = _Thread(function, args)
        thread.start()
        return _Future(thread)


class _Run:
    """One run: it follows the trail of choices, and lengthens it by first choices."""

    current: "_Run"

    def __init__(self, tracer: "_Tracer", trail: list[tuple[int, int]], bound: int) -> None:
        self._tracer, self._trail, self._bound = tracer, trail, bound
        self._at = self._bytecodes = 0
        self._threads: list[_Thread] = []
        self.running: _Thread | None = None
        self.first: _Thread | None = None
        self._hub = _current()

    def go(self, program: Callable[[], object]) -> str:
        """Run the program as the first thread, and return what it returned or how it ended."""
        self.first = first = _Thread(program)
        self.begin(first)
        problem = ""
        while not problem and not first.ended:
            # A thread has ended, or the run has only begun.
            to = self._choose(None)
            problem = "deadlock" if to is None else self._switch(to)
        self.running = None
        for thread in self._threads:
            if not thread.ended:
                thread.greenlet.throw(_AbortError)
        return problem or str(first.result)

    def begin(self, thread: _Thread) -> None:
        thread.greenlet = _new(self._run, self._hub)
        self._threads.append(thread)

    def bytecode(self, frame: FrameType) -> None:
        """Let another thread go on before a bytecode, if the trail says so."""
        running = self.running
        place = id(frame), frame.f_lasti
        if running is None or running.place == place:
            # Python 3.12 may tell of a bytecode twice.
            return
        running.place = place
        self._bytecodes += 1
        if self._bytecodes > _LONGEST:
            sys.call_tracing(self._hub.switch, ("endless",))
        if not self._bound:
            return
        to = self._choose(running)
        if to is not running:
            sys.call_tracing(self._switch, (to,))

    def called(self) -> None:
        """Forget where the running thread is: another frame may have the number of one before."""
        if self.running is not None:
            self.running.place = 0, -1

    def wait(self, until: Callable[[], bool]) -> None:
        """Keep the running thread from going on before `until` holds."""
        running = self.running
        assert running is not None
        running.waits = until
        with _not_in_repr():
            self._hub.switch("")
        running.waits = None

    def _choose(self, running: _Thread | None) -> _Thread | None:
        """Return who goes on; `running` is the one that would be stopped, if any."""
        able = [thread for thread in self._threads if thread.can_go_on()]
        if running is not None:
            able.remove(running)
            able.insert(0, running)
        if len(able) < 2:
            return able[0] if able else None
        if self._at == len(self._trail):
            self._trail.append((len(able), 0))
        chosen = self._trail[self._at][1]
        self._at += 1
        if running is not None and chosen:
            self._bound -= 1
        return able[chosen]

    def _switch(self, to: _Thread) -> str:
        self.running = to
        with _not_in_repr():
            told: object = to.greenlet.switch(to)
        return told if isinstance(told, str) else ""

    def _run(self, thread: _Thread) -> str:
        self._tracer.begin()
        try:
            thread.result = thread.target(*thread.args)
        except _AbortError:
            pass
        except BaseException as error:
            thread.result = f"raised {type(error).__name__}"
        thread.ended = True
        return ""


class _Tracer:
    """It stops the threads of the current run before bytecodes of one module."""

    def __init__(self, module: ModuleType) -> None:
        self._globals = vars(module)
        self._anew = making_anew(module)
        self._anew()
        shared = sys.modules.get(SHARED)
        self._files = {module.__file__, getattr(shared, "__file__", None), _GENERATED}
        program = self._globals["program"].__code__
        self._program = program
        self._rebound = {*_rebound(program)}
        self._places: dict[CodeType, frozenset[int]] = {}

    @contextmanager
    def tracing(self) -> Generator[None]:
        """Trace the bytecodes of all greenlets of this thread, inside the block."""
        before, frame = sys.gettrace(), inspect.currentframe()
        assert frame is not None
        # Python 3.12 tells of bytecodes only if a frame has asked for them by then.
        frame.f_trace_opcodes = True
        try:
            yield
        finally:
            sys.settrace(before)

    def run(self, trail: list[tuple[int, int]], bound: int) -> str:
        """Make a run, and return what it has returned or how it has ended."""
        before = trail.copy()
        while True:
            known = len(self._places)
            program = self._anew()
            _Run.current = _Run(self, trail, bound)
            outcome = _Run.current.go(program)
            if len(self._places) == known:
                return outcome
            # Python 3.13 tells of the bytecodes of a function only from its second call on.
            trail[:] = before

    def begin(self) -> None:
        """Begin to trace: Python 3.11 keeps in each greenlet whether it is traced."""
        sys.settrace(self._call)

    def _call(self, frame: FrameType, _event: str, _arg: object) -> Callable[..., Any] | None:
        code = frame.f_code
        if code.co_filename not in self._files or code is self._program:
            # The main thread only starts the others and waits for them.
            return None
        _Run.current.called()
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if code not in self._places:
            self._places[code] = self._places_of(code)
        return self._bytecode

    def _bytecode(self, frame: FrameType, event: str, _arg: object) -> Callable[..., Any]:
        if event == "opcode" and frame.f_lasti in self._places[frame.f_code]:
            _Run.current.bytecode(frame)
        return self._bytecode

    def _places_of(self, code: CodeType) -> frozenset[int]:
        every = [*dis.get_instructions(code)]
        places = frozenset(one.offset for one in every if not self._own(one))
        # C may call a function that touches nothing, and another thread goes on meanwhile.
        resumed = pairwise(every)
        return places or frozenset(one.offset for last, one in resumed if last.opname == "RESUME")

    def _own(self, one: dis.Instruction) -> bool:
        """Tell whether no other thread can see a bytecode, or change what it finds."""
        if one.opname in ("LOAD_DEREF", "STORE_DEREF"):
            return one.argval not in self._rebound
        if one.opname == "LOAD_GLOBAL":
            # Modules, classes and functions keep their names in these programs.
            value = self._globals.get(one.argval)
            return one.argval not in self._globals or isinstance(
                value, (ModuleType, FunctionType, type, SimpleNamespace)
            )
        return one.opname in _LOCAL


def _rebound(code: CodeType) -> Iterator[str]:
    """Yield the names that a function inside another one binds for both."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from (
                one.argval
                for one in dis.get_instructions(inner)
                if one.opname in ("STORE_DEREF", "DELETE_DEREF")
            )
            yield from _rebound(inner)


def bytecode_outcomes(module: ModuleType, bound: int, max_runs: int) -> Truth:
    """Run `program` of a module in every order with at most `bound` threads stopped."""
    outcomes: set[str] = set()
    trail: list[tuple[int, int]] = []
    with _modelled():
        tracer = _Tracer(module)
    with _modelled(), tracer.tracing():
        for runs in range(1, max_runs + 1):
            outcomes.add(tracer.run(trail, bound))
            while trail and trail[-1][1] + 1 == trail[-1][0]:
                trail.pop()
            if not trail:
                return Truth(frozenset(outcomes), runs, whole=True)
            choices, chosen = trail[-1]
            trail[-1] = choices, chosen + 1
    return Truth(frozenset(outcomes), max_runs, whole=False)


def _number_of_thread() -> int:
    """Return the number of the thread that is running."""
    return id(_running())


def _code_of(file: str) -> CodeType:
    return compile(Path(file).read_bytes(), file, "exec")


def _package_anew() -> Callable[[], None]:
    package = importlib.util.find_spec(INSTALLED)
    assert package is not None
    assert package.origin is not None
    code = _code_of(package.origin)

    def anew() -> None:
        sys.modules[INSTALLED] = installed = importlib.util.module_from_spec(package)
        # The package imports the same threads as the module.
        modules: dict[str, object] = vars(sys)["modules"]
        modules["threading"] = vars(sys.modules[SHARED])["threading"]
        try:
            exec(code, vars(installed))
        finally:
            modules["threading"] = threading

    return anew


def making_anew(module: ModuleType) -> Callable[[], Callable[[], Any]]:
    """Return what makes a module as at its import, and returns its function `program`."""
    names, code = vars(module), _code_of(str(module.__file__))
    package = _package_anew() if INSTALLED in code.co_names else None

    def anew() -> Callable[[], Any]:
        for name in [name for name in names if not name.startswith("__")]:
            del names[name]
        if package is not None:
            package()
        exec(code, names)
        program: Callable[[], Any] = names["program"]
        return program

    return anew


@contextmanager
def _modelled() -> Generator[None]:
    """Put the models of threads in the place of those that programs import."""
    models: dict[str, object] = {
        "threading": SimpleNamespace(
            Thread=_Thread,
            local=_Local,
            Event=_Event,
            # In these programs nobody waits for them.
            Barrier=threading.Barrier,
            Timer=threading.Timer,
            **dict.fromkeys(("Lock", "RLock", "Condition"), _Lock),
            **dict.fromkeys(("Semaphore", "BoundedSemaphore"), _Lock),
        ),
        "concurrent": SimpleNamespace(
            futures=SimpleNamespace(ThreadPoolExecutor=_Pool, Future=Future)
        ),
    }
    names = vars(sys.modules[SHARED])
    before = {name: names[name] for name in _PATCHED}
    names.update(models)
    own_number = _thread.get_ident
    # The representation of a dataclass asks for it: by the first until 3.12, then by the second.
    homes: tuple[dict[str, object], ...] = (_thread.__dict__, reprlib.__dict__)
    for home in homes:
        home["get_ident"] = _number_of_thread
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        names.update(before)
        for home in homes:
            home["get_ident"] = own_number
        if collects:
            gc.enable()
