"""Random small databases over a few predicates, with the lifted hypergraphs that leave constants alone."""

from __future__ import annotations

from itertools import product

import numpy as np

import mlnlab as ml
from mlnlab.model.database.hypergraph import Hypergraph
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph, separate_constants

PREDICATES = {
    "Smokes": ("person",),
    "Friends": ("person", "person"),
    "Likes": ("person", "thing"),
}
CONSTANTS = {"person": ("Anna", "Bob", "Carl", "Dora"), "thing": ("Tea", "Ale", "Rum")}


def small_model() -> ml.MLN:
    """Return a model that declares the predicates and lists the constants."""
    types = [f"{name} = {{{', '.join(constants)}}}" for name, constants in CONSTANTS.items()]
    predicates = [f"{name}({', '.join(types)})" for name, types in PREDICATES.items()]
    return ml.MLN.from_text("\n".join([*types, *predicates]))


def random_databases(seed: int, number: int = 2) -> list[ml.Database]:
    """Return databases in which about a third of the atoms are true."""
    rng = np.random.default_rng(seed)
    model = small_model()
    found = []
    for _ in range(number):
        facts = [
            f"{name}({', '.join(names)})"
            for name, types in PREDICATES.items()
            for names in product(*(CONSTANTS[type_] for type_ in types))
            if rng.random() < 0.35
        ]
        found.append(ml.Database.from_text("\n".join(facts), model))
    return found


def graphs_of(databases: list[ml.Database]) -> list[LiftedHypergraph]:
    """Return the hypergraphs of databases, each constant in a cluster of its own."""
    return [separate_constants(Hypergraph.from_database(database)) for database in databases]
