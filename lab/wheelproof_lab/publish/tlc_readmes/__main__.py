"""`python -m wheelproof_lab.publish.tlc_readmes`: updates the tables in the READMEs of tla."""

import sys

from wheelproof_lab.checkout import required_checkout
from wheelproof_lab.publish.tlc_readmes.tables import load_suite
from wheelproof_spec.base.results.reports import write_text


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
