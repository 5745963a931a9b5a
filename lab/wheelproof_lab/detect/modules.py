"""The modules of the reference, and the component that each of them belongs to."""

from collections.abc import Iterator
from pathlib import Path

import wheelproof

_COMPONENTS = {
    "wheelproof.timer.": "timer",
    "wheelproof.purgatory.": "purgatory",
    "wheelproof.replication.": "replication",
    "wheelproof.producer.buffer_pool": "buffer_pool",
    "wheelproof.producer.byte_buffer": "buffer_pool",
    "wheelproof.producer.pool": "buffer_pool",
    "wheelproof.producer.wait_time": "buffer_pool",
    "wheelproof.producer.": "accumulator",
}
"""The component of a module: that of the first prefix of its name.

Most engines replace the runtime of `wheelproof.sync`, which has its own tests: it is not here.
"""


def component_of(name: str) -> str | None:
    """Return the component of a module, or of a mutant of one; None if it belongs to none."""
    found = (component for start, component in _COMPONENTS.items() if name.startswith(start))
    return next(found, None)


def modules() -> Iterator[tuple[str, Path]]:
    """Yield each module of a component, with its file."""
    root = Path(str(wheelproof.__file__)).parent
    for path in sorted(root.rglob("*.py")):
        name = ".".join(path.relative_to(root.parent).with_suffix("").parts)
        if component_of(name) is not None:
            yield name, path
