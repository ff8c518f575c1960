"""Learners that other processes can find by name."""

from __future__ import annotations


def good(mln, databases, seed, strength=1.0):
    """Return sensible weights."""
    return mln.with_weights([strength * weight for weight in (1.4, 1.2, 0.4)][: len(mln.formulas)]
                            + [0.0] * (len(mln.formulas) - 3))  # fmt: skip


def flat(mln, databases, seed):
    """Return weights that say nothing."""
    return mln.with_weights([0.0] * len(mln.formulas))


def extra_is_known(db):
    """Return what is known of a database whose page Extra is no part of the question."""
    return db.without(["Topic"]).with_facts("!Topic(Extra)")
