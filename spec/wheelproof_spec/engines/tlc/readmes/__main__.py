"""`python -m wheelproof_spec.engines.tlc.readmes`: updates the tables in the READMEs of tla."""

import sys

from wheelproof_spec.base.resources import required_checkout
from wheelproof_spec.base.results.reports import write_text
from wheelproof_spec.engines.tlc.readmes.tables import load_suite


def main() -> int:
    """Write the READMEs."""
    suite = load_suite(required_checkout())
    for path in suite.readmes():
        write_text(path, suite.renewed(path))
    for sentence in suite.unknown():
        print(sentence, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
