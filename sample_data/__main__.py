"""Write the sample data anew: ``python -m sample_data [FOLDER]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .folder import write_folder


def main() -> None:
    """Write the sample folder and print the number of files written."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}",
        description="Write the sample data, byte for byte as they lie in the repository.",
    )
    parser.add_argument("folder", nargs="?", default="sample_data", type=Path, help="if not sample_data")
    folder = parser.parse_args().folder
    sys.stdout.write(f"{len(write_folder(folder))} files written to {folder}\n")


if __name__ == "__main__":
    main()
