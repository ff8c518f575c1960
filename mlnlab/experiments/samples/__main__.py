"""Write the sample data anew: ``python -m mlnlab.experiments.samples [FOLDER]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mlnlab.experiments.samples.folder import write_folder


def main() -> None:
    """Write the folder and say what was written."""
    parser = argparse.ArgumentParser(
        prog="python -m mlnlab.experiments.samples",
        description="Write the sample data, byte for byte as they lie in the repository.",
    )
    parser.add_argument("folder", nargs="?", default="sample_data", type=Path, help="if not sample_data")
    folder = parser.parse_args().folder
    sys.stdout.write(f"{len(write_folder(folder))} files written to {folder}\n")


if __name__ == "__main__":
    main()
