"""The atoms of lazy predicates that evidence decides, as sorted numbers: made once, and looked up often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.grounding.networks.network_size import bounds_of
from mlnlab.grounding.question.evidence_relations import pack_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mlnlab.grounding.question.evidence_relations import Numbers
    from mlnlab.grounding.question.question import Opening
    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.logic.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class DecidedAtoms:
    """For each of some open predicates without blocks, the packed numbers of its true and false atoms."""

    vocabulary: Vocabulary
    keys: Mapping[str, Numbers]  # sorted

    def holds_row(self, name: str, row: Sequence[int]) -> bool:
        """Return whether evidence decides the atom with these numbers of constants."""
        keys, key = self.keys[name], 0
        for type_, number in zip(self.vocabulary[name].types, row, strict=True):
            key = key * len(self.vocabulary.domain(type_)) + number
        place = int(np.searchsorted(keys, key))
        return place < len(keys) and int(keys[place]) == key

    def __contains__(self, atom: GroundAtom) -> bool:
        domains = map(self.vocabulary.domain, self.vocabulary[atom.predicate].types)
        row = [domain.number(constant) for domain, constant in zip(domains, atom.arguments, strict=True)]
        return self.holds_row(atom.predicate, row)


def decided_atoms(asked: Opening, predicates: Iterable[str]) -> DecidedAtoms:
    """Return the atoms of some predicates that evidence decides."""
    vocabulary, found = asked.mln.vocabulary, {}
    for name in predicates:
        bounds = bounds_of(asked, name)
        rows = np.concatenate([bounds.true, bounds.other]).astype(np.int64)
        sizes = [len(vocabulary.domain(type_)) for type_ in vocabulary[name].types]
        found[name] = np.sort(pack_rows(tuple(rows.T), sizes, len(rows)))
    return DecidedAtoms(vocabulary, found)
