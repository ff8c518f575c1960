"""The line behind ``%%mln`` and ``%%db``: a name and options, with a sentence for what is wrong."""

from __future__ import annotations

import argparse
import keyword
import shlex
from typing import NoReturn

from IPython.core.error import UsageError


class LineParser(argparse.ArgumentParser):
    """Reads a magic's line; problems are usage errors, which a notebook shows as one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise the sentence instead of ending the kernel."""
        raise UsageError(f"%%{self.prog}: {message}. It is used like: %%{self.format_usage()[7:].strip()}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Raise instead of ending the kernel."""
        raise UsageError(message or f"%%{self.prog} ended with {status}.")

    def read(self, line: str) -> argparse.Namespace:
        """Return the options on the line."""
        try:
            words = shlex.split(line, comments=True)
        except ValueError as problem:
            self.error(str(problem).lower())
        return self.parse_args(words)


def variable_name(text: str) -> str:
    """Return the text if Python can have a variable of this name."""
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"{text!r} cannot name a variable")
    return text
