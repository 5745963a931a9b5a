"""Which implementations are judged, by what, and how they are driven and recorded."""

from dataclasses import dataclass

PYTHON = "python"
"""Stands for the interpreter that makes the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenRun:
    """An implementation driven through one component, under one profile.

    `share` divides the number of cases for whom shrinking, or a slow program, makes them dear.
    """

    component: str
    profile: str
    skip: str | None = None
    share: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """Histories of one component, judged under each of these profiles.

    A timer is judged by the profile; what the others promise is in the header of the history.
    """

    component: str
    profiles: tuple[str, ...]
    promises: str | None = None
    """Whose promises the recorder is to put into the header, instead of the implementation's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """What is judged: the programs that drive it and record it, as words from the checkout."""

    name: str
    about: str
    driver: tuple[str, ...]
    recorder: tuple[str, ...] | None
    driven: tuple[DrivenRun, ...]
    recorded: tuple[RecordedRun, ...]


_KAFKA = "adapters/kafka-java"
_NETTY = "adapters/netty-java"
_NETTY_LIMITS = f"{_NETTY}/known-limits.txt"

IMPLEMENTATIONS = (
    Implementation(
        name="Apache Kafka",
        about="The released classes: driven on a virtual clock, recorded as they are, with "
        "SystemTimer, the purgatory's reaper and threads that call. The sender of the recorded "
        "accumulator is the adapter's, with a broker that stores, fails and delays.",
        driver=(f"{_KAFKA}/run",),
        recorder=(f"{_KAFKA}/run", "record"),
        driven=(
            DrivenRun(component="timer", profile="kafka", skip=f"{_KAFKA}/known-limits.txt"),
            DrivenRun(component="purgatory", profile="kafka"),
            DrivenRun(component="purgatory", profile="wheelproof", share=10),
            DrivenRun(
                component="buffer_pool",
                profile="kafka",
                skip=f"{_KAFKA}/known-limits-buffer_pool.txt",
            ),
            DrivenRun(
                component="buffer_pool",
                profile="longest-waiting-first",
                skip=f"{_KAFKA}/known-limits-buffer_pool.txt",
                share=10,
            ),
            DrivenRun(
                component="accumulator",
                profile="kafka",
                skip=f"{_KAFKA}/known-limits-accumulator.txt",
            ),
            DrivenRun(
                component="accumulator",
                profile="wheelproof",
                skip=f"{_KAFKA}/known-limits-accumulator.txt",
                share=10,
            ),
        ),
        recorded=(
            RecordedRun(component="timer", profiles=("kafka",)),
            RecordedRun(component="purgatory", profiles=("kafka",)),
            RecordedRun(component="purgatory", profiles=("wheelproof",), promises="wheelproof"),
            RecordedRun(component="buffer_pool", profiles=("kafka",)),
            RecordedRun(component="accumulator", profiles=("kafka",)),
            RecordedRun(component="accumulator", profiles=("wheelproof",), promises="wheelproof"),
        ),
    ),
    Implementation(
        name="Netty",
        about="HashedWheelTimer with its own thread: driven on a virtual clock that it does not "
        "know of, recorded on the machine's with a tick of 500 ms, of which it may be 250 late.",
        driver=(f"{_NETTY}/run",),
        recorder=(f"{_NETTY}/run", "record"),
        driven=(
            DrivenRun(component="timer", profile="hashed-wheel", skip=_NETTY_LIMITS),
            DrivenRun(component="timer", profile="never-early", skip=_NETTY_LIMITS, share=10),
            DrivenRun(component="timer", profile="kafka", skip=_NETTY_LIMITS, share=10),
        ),
        recorded=(
            RecordedRun(component="timer", profiles=("hashed-wheel", "never-early", "kafka")),
        ),
    ),
    Implementation(
        name="The reference",
        about="`wheelproof` itself, driven through the same door as everybody, and recorded "
        "under the same load, by the threads of the machine.",
        driver=(PYTHON, "-m", "wheelproof_spec.app.reference_driver"),
        recorder=(PYTHON, "-m", "wheelproof_spec.app.cli", "record"),
        driven=(
            DrivenRun(component="timer", profile="kafka"),
            DrivenRun(component="purgatory", profile="wheelproof"),
            DrivenRun(component="buffer_pool", profile="longest-waiting-first"),
            DrivenRun(component="accumulator", profile="wheelproof"),
        ),
        recorded=(
            RecordedRun(component="timer", profiles=("kafka",)),
            RecordedRun(component="purgatory", profiles=("wheelproof",)),
            RecordedRun(component="buffer_pool", profiles=("longest-waiting-first",)),
            RecordedRun(component="accumulator", profiles=("wheelproof",)),
        ),
    ),
    Implementation(
        name="python-heapq",
        about="The template of an adapter, a timer made of a heap. It has no threads, so there is "
        "nothing to record.",
        driver=(PYTHON, "-I", "adapters/python-heapq/driver.py"),
        recorder=None,
        driven=(DrivenRun(component="timer", profile="kafka"),),
        recorded=(),
    ),
)
