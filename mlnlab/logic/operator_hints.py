"""What is said where formulas are joined in Python in a way that probably means something else."""

from __future__ import annotations

import warnings
from typing import Never

from mlnlab.errors import ArgumentError, FormulaHint


def hint_at_parentheses(operator: str, method: str, left_implies: bool, right_implies: bool) -> None:
    """Warn where an implication is joined: ``a & b >> c`` arrives as And(a, Implies(b, c))."""
    if right_implies:
        written, read, meant = f"A {operator} B >> C", f"A {operator} (B >> C)", f"(A {operator} B) >> C"
        _hint(written, read, f"{meant} or (A {operator} B).implies(C)", f"A.{method}(B.implies(C))")
    elif left_implies:
        written, read, meant = f"A >> B {operator} C", f"(A >> B) {operator} C", f"A >> (B {operator} C)"
        _hint(written, read, f"{meant} or A.implies(B {operator} C)", f"A.implies(B).{method}(C)")


def hint_at_grouping(left_implies: bool) -> None:
    """Warn where an implication implies: ``a >> b >> c`` arrives as Implies(Implies(a, b), c)."""
    if left_implies:
        _hint("A >> B >> C", "(A >> B) >> C", "A >> (B >> C)", "A.implies(B).implies(C)")


def _hint(written: str, read: str, meant: str, other: str) -> None:
    warnings.warn(
        f"In Python >> binds tighter than & and | and groups to the left, so  {written}  is read as  {read}."
        f"  If you meant something else, write  {meant};  if not,  {other}  says so.",
        FormulaHint,
        stacklevel=4,  # the line of the user, who wrote the operator that called the function that called us
    )


def refuse_operand(value: object, operator: str) -> Never:
    """Raise a sentence on what is no formula."""
    advice = ""
    if isinstance(value, bool):
        advice = " To compare terms, write x.equals(y) or x.differs(y): == and != compare them in Python."
    kind = type(value).__name__
    raise ArgumentError(f"{operator} joins two formulas, but one side is {value!r} ({kind}).{advice}")
