"""`python -m wheelproof_spec` is `wheelproof`."""

import sys

from wheelproof_spec.app.cli import main

if __name__ == "__main__":
    sys.exit(main())
