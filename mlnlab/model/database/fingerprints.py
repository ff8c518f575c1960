"""Compute hashes of databases and models, to tell them apart."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.steps.run_identity import digest

if TYPE_CHECKING:
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.database.database import Database
    from mlnlab.model.database.hypergraph import Hypergraph
    from mlnlab.model.mln.mln import MLN


def constants_of(vocabulary: Vocabulary) -> list[str]:
    """Return the types with their constants, each as one text."""
    return [f"{name}\0" + "\0".join(vocabulary.types[name]) for name in sorted(vocabulary.types)]


def hypergraph_identity(graph: Hypergraph) -> str:
    """Return a hash that is equal for equal constants and true atoms."""
    members = (part for name, rows in graph.members.items() for part in (name, rows))
    return digest(*constants_of(graph.vocabulary), *members)


def model_identity(mln: MLN) -> str:
    """Return a hash that is equal for equal predicates and formulas, whatever their weights."""
    formulas = (repr(weighted.formula) for weighted in mln.formulas)
    return digest(mln.semantics, mln.vocabulary.predicates, *formulas)


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
