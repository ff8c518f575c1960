"""``python -m mlnlab`` is the command ``mlnlab``, for where scripts are not on the path."""

from __future__ import annotations

import sys

from mlnlab.cli import main

if __name__ == "__main__":
    sys.exit(main())
