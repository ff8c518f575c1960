"""What tells databases apart: a hash of what they hold."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mlnlab.model.database import Database


def fingerprint(db: Database) -> str:
    """Return a hash of a database's constants and facts."""
    found = hashlib.sha256()
    for type_, domain in sorted(db.vocabulary.types.items()):
        found.update(f"{type_}\0{len(domain)}\0".encode())
        found.update("\0".join(domain).encode("utf-8", "surrogatepass"))
    for name in sorted(db.relations):
        relation = db.relations[name]
        for mark in ("true", "false", "unknown", "soft", "probabilities"):
            rows = getattr(relation, mark)
            found.update(f"\0{name}\0{mark}\0{len(rows)}\0".encode())
            found.update(np.ascontiguousarray(rows).tobytes())
    return found.hexdigest()
