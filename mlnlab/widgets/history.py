"""What was, for undo and redo: each edit is an entry, and a drag or a burst of typing is one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

MOST_ENTRIES = 500
BETWEEN_EDITS = 1.0  # seconds within which edits of the same kind are one


@dataclass(frozen=True, slots=True)
class History:
    """The values before and after the present one; any immutable value can be kept.

    >>> history = History("a").edited("ab", "typing", 1.0).edited("abc", "typing", 1.5)
    >>> history.present, history.undone().present, history.undone().redone().present
    ('abc', 'a', 'abc')
    """

    present: Any
    past: tuple[Any, ...] = ()
    future: tuple[Any, ...] = ()
    kind: str = ""
    at: float = 0.0

    def edited(self, value: object, kind: str, at: float) -> History:
        """Return the history with a new present, an entry of its own unless it continues the last edit.

        ``kind`` says what was edited, in which words does not matter; without one, nothing continues it.
        """
        if value == self.present:
            return self
        if self.continues(kind, at):
            return replace(self, present=value, future=(), at=at)
        return History(value, (*self.past, self.present)[-MOST_ENTRIES:], (), kind, at)

    def continues(self, kind: str, at: float) -> bool:
        """Say whether an edit would be part of the last one."""
        return bool(self.past and kind) and kind == self.kind and at - self.at <= BETWEEN_EDITS

    def undone(self) -> History:
        """Return the history one edit earlier; at its beginning it stays."""
        if not self.past:
            return self
        return History(self.past[-1], self.past[:-1], (self.present, *self.future))

    def redone(self) -> History:
        """Return the history with the edit that was undone last."""
        if not self.future:
            return self
        return History(self.future[0], (*self.past, self.present), self.future[1:])
