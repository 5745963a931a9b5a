"""The program `wheelproof`, or its reference driver, with one folder and one registry line more."""

import importlib
import sys
from pathlib import Path

from wheelproof_lab.bugs import catalog
from wheelproof_lab.bugs.known_bug import KnownBug
from wheelproof_spec import components
from wheelproof_spec.components import registry

FOLDER = Path(__file__).parent / "components"


def main(arguments: list[str]) -> int:
    """Run the reference driver if `arguments` begin with `--serve`, else the program."""
    components.__path__.append(str(FOLDER))
    registry.COMPONENTS = (*registry.COMPONENTS, "counter")
    of_ours = catalog.bugs_of
    catalog.bugs_of = lambda component: _bugs() if component == "counter" else of_ours(component)
    if arguments[:1] == ["--serve"]:
        from wheelproof_spec.app.reference_driver import main as serve

        return serve()
    from wheelproof_spec.app.cli import main as run

    return run(arguments)


def _bugs() -> tuple[KnownBug, ...]:
    machine = importlib.import_module("wheelproof_spec.components.counter.machine")
    racy: object = vars(machine)["RACY"]
    assert isinstance(racy, KnownBug)
    return (racy,)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
