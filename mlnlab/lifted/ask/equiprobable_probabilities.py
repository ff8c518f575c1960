"""The probability that groundings of each equiprobable class are true, all by one pass down a circuit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mlnlab.errors import MlnlabError
from mlnlab.lifted.ask.lift import lift
from mlnlab.lifted.theory.shattering import literal_of
from mlnlab.logic.formulas.formulas import Term, Variable
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import ToLearn

if TYPE_CHECKING:
    from mlnlab.lifted.circuit.equiprobable import EquiprobableClass, EquiprobableClasses
    from mlnlab.lifted.theory.weighted_theory import WeightedTheory

MOST_TERMS = 1e7  # that are summed over without being asked for


def class_probabilities(classes: EquiprobableClasses) -> tuple[float | None, ...]:
    """Return each class's probability; nothing where a weight is missing, or it would take long."""
    mln, sizes = classes.mln, classes.sizes
    nothing = (None,) * len(classes)
    if any(isinstance(one.weight, ToLearn) for one in mln.formulas):
        return nothing
    try:
        circuit = lift(replace(mln, semantics="textbook"), recursions=0).compile()
        terms = float(max(sizes.values(), default=0) + 1) ** max(circuit.circuit.nesting(), 1)
        if terms * (1000.0 if circuit.is_signed else 1.0) > MOST_TERMS or circuit.unlifted:
            return nothing
        found = circuit.evaluate(sizes, expectations=True)
    except MlnlabError:
        return nothing
    probabilities: list[float | None] = []
    for one in classes:
        symbol, positive = symbol_of(one, circuit.weighted)
        size = one.size(sizes)
        atoms = float((found.true if positive else found.false)[symbol])
        probabilities.append(atoms / size if size else None)
    return tuple(probabilities)


def symbol_of(one: EquiprobableClass, weighted: WeightedTheory) -> tuple[int, bool]:
    """Return the symbol whose atoms are the groundings of a class, and whether they are so if true."""
    literal, decided = literal_of(one.formula), dict(one.decided)
    terms: tuple[Term, ...]
    if literal is None:
        name, terms, positive = f"formula#{one.number}", free_variables(one.formula), True
    else:
        name, terms, positive = literal[0].predicate, literal[0].arguments, literal[1]
    places = [decided[term] if isinstance(term, Variable) else getattr(term, "name", "") for term in terms]
    order = {p: n for n, p in enumerate(dict.fromkeys(p for p in places if isinstance(p, int)))}
    pattern = tuple(order[p] if isinstance(p, int) else p for p in places)
    symbols = weighted.shattered.symbols
    return next(n for n, s in enumerate(symbols) if (s.predicate, s.pattern) == (name, pattern)), positive
