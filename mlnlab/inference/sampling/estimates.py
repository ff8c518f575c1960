"""From sums over samples to probabilities, with their errors, and with warnings in words."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import count_of
from mlnlab.inference.answers.marginals import Estimate, Marginals
from mlnlab.inference.answers.memory import bytes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.inference.sampling.batches import Batches
    from mlnlab.inference.sampling.chains import Ground
    from mlnlab.logic.formulas.ground_atoms import GroundAtom

LARGE_R_HAT = 1.05
FEW_SAMPLES = 100.0  # effective ones: the error is then a tenth of the spread
STRONG_TIE = 5.0  # added up: some e^5 = 150 sweeps to leave a world that satisfies the formulas
_SHOWN = 3


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The queries in the order asked: atoms, then formulas; and which column of the sums counts each.

    A column of -1 says that evidence decides the query, and ``truths`` how.
    """

    names: tuple[str, ...]
    columns: NDArray[np.int64]
    truths: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class QueryEstimates:
    """The estimates of all queries from samples, in the order asked; NaN where there is no number."""

    probabilities: NDArray[np.float64]
    errors: NDArray[np.float64]
    r_hats: NDArray[np.float64]
    effective_sizes: NDArray[np.float64]


def estimate_marginals(
    method: str,
    ground: Ground,
    batches: Batches,
    seconds: float,
    *,
    single_changes: bool = True,
    working: int = 0,
) -> Marginals:
    """Return the fractions of samples in which the queried atoms and formulas hold.

    ``single_changes`` tells whether the chains change one choice at a time, ``working`` how many bytes they
    work with.
    """
    asked = asked_of(ground.clauses)
    found = query_estimates(asked, batches)
    columns = (found.probabilities, found.errors, found.r_hats, found.effective_sizes)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    estimates = {name: Estimate(*row) for name, row in zip(asked.names, rows, strict=True)}
    largest = max((estimate.error for estimate in estimates.values()), default=0.0)
    return Marginals(
        probabilities={name: estimate.probability for name, estimate in estimates.items()},
        method=method,
        log_z=nan,
        number_of_worlds=batches.samples * batches.chains,
        seconds=seconds,
        rounding=0.0,
        question=ground.clauses.question,
        expected_counts=tuple(_expected_counts(ground.clauses, batches)),
        reason=(
            f"{method}: {count_of(batches.chains, 'chain')} of {count_of(batches.samples, 'sample')} each, "
            f"standard errors up to {largest:.2g}"
        ),
        estimates=estimates,
        warnings=warnings_of(ground.clauses, asked, found, single_changes=single_changes),
        memory=_count_bytes(ground, batches, estimates) + working,
    )


def _count_bytes(ground: Ground, batches: Batches, estimates: Mapping[str, Estimate]) -> int:
    """Return the bytes of the ground model, the chains' worlds and sums, and the answer."""
    question, network = ground.clauses.question, ground.network
    parts = bytes_of(question.true, question.choices, question.query_atoms, ground, estimates)
    parts += 2 * bytes_of(batches)  # they are stacked for the standard errors
    counters = 4 * (len(network.strengths) + len(network.table_strengths)) + ground.clauses.number_of_atoms
    return parts + batches.chains * (counters + 4 * len(network.options) + 8 * batches.columns)


def asked_of(clauses: GroundClauses) -> Asked:
    """Return the queries, and where they are counted."""
    places = {atom: place for place, atom in enumerate(open_atoms(clauses))}
    found: dict[str, tuple[int, float]] = {}
    for atom in clauses.question.query_atoms:
        found[str(atom)] = (places.get(atom, -1), float(clauses.question.holds(*atom)))
    for place, (source, tally) in enumerate(zip(clauses.sources, clauses.tallies, strict=True)):
        if source.kind == "query":
            decided = tally.true + tally.false
            found[source.text] = (-1 if decided else len(places) + place, float(bool(tally.true)))
    columns = np.array([column for column, _ in found.values()], np.int64)
    return Asked(tuple(found), columns, np.array([truth for _, truth in found.values()], np.float64))


def open_atoms(clauses: GroundClauses) -> tuple[GroundAtom, ...]:
    """Return the open atoms in the order of their numbers."""
    return tuple(atom for choice in clauses.question.choices for atom in choice.atoms)


def query_estimates(asked: Asked, batches: Batches) -> QueryEstimates:
    """Return the estimates of all queries; before there are batches, their errors are unknown."""
    number = len(asked.names)
    drawn = asked.columns >= 0
    columns = asked.columns[drawn]
    probabilities, errors = asked.truths.copy(), np.zeros(number)
    r_hats, sizes = np.full(number, nan), np.full(number, nan)
    probabilities[drawn] = batches.means()[columns]
    if batches.can_tell():
        errors[drawn] = batches.errors()[columns]
        r_hats[drawn] = batches.r_hats()[columns]
        sizes[drawn] = batches.effective_sizes()[columns]
    else:
        errors[drawn], sizes[drawn] = 0.5, 1.0
    return QueryEstimates(probabilities, errors, r_hats, sizes)


def _expected_counts(clauses: GroundClauses, batches: Batches) -> Iterator[float]:
    """Yield E[n_i] of the model's formulas; hard ones hold in every grounding."""
    means = batches.means()[clauses.number_of_atoms :]
    for source, tally, mean in zip(clauses.sources, clauses.tallies, means.tolist(), strict=True):
        if source.kind == "formula":
            yield float(tally.groundings) if source.hard else tally.true + mean


def warnings_of(
    clauses: GroundClauses, asked: Asked, found: QueryEstimates, *, single_changes: bool = True
) -> tuple[str, ...]:
    """Return sentences on why these probabilities may be wrong."""
    sentences = []
    if clauses.may_be_cut and single_changes:
        sentences.append(
            "Hard formulas are left open: changing one atom at a time may not lead from every possible world "
            "to every other, and then the samples come from a part of them only, which no diagnostic need "
            'show. method="mc-sat" leaps between such parts; method="junction-tree" is exact where small.'
        )
    stuck = _held_still(clauses, asked, found)
    if len(stuck):
        sentences.append(
            f"In no sample did {_list_names(asked, stuck)} change, and strong formulas tie "
            f"{'it' if len(stuck) == 1 else 'them'} to other atoms: either a change is that improbable, "
            "or the chains cannot leave where they began, which no diagnostic need show."
        )
    apart = np.flatnonzero(found.r_hats > LARGE_R_HAT)
    if len(apart):
        sentences.append(
            f"The chains disagree (R-hat above {LARGE_R_HAT}) on {_list_names(asked, apart)}: they have not "
            "forgotten where they began. Sample longer, with a longer burn-in, or choose another method."
        )
    few = np.flatnonzero(found.effective_sizes < FEW_SAMPLES)
    if len(few):
        sentences.append(
            f"Fewer than {FEW_SAMPLES:.0f} effective samples for {_list_names(asked, few)}: their standard "
            "errors are large, and not reliable themselves. Sample longer."
        )
    return tuple(sentences)


def _held_still(clauses: GroundClauses, asked: Asked, found: QueryEstimates) -> NDArray[np.intp]:
    """Return the queried atoms that never changed although, or because, soft formulas tie them to others."""
    atoms = (asked.columns >= 0) & (asked.columns < clauses.number_of_atoms)
    still = np.flatnonzero(
        atoms & np.isin(found.probabilities, (0.0, 1.0)) & (found.effective_sizes > FEW_SAMPLES)
    )
    return still[_ties(clauses)[asked.columns[still]] >= STRONG_TIE] if len(still) else still


def _ties(clauses: GroundClauses) -> NDArray[np.float64]:
    """Return for each open atom the sum of the absolute weights that tie it to other atoms."""
    sizes = _lengths(clauses.starts)
    strengths = np.where((sizes > 1) & ~clauses.hard, np.abs(clauses.weights), 0.0)
    number = clauses.number_of_atoms
    of_clauses = np.bincount(clauses.literals >> 1, np.repeat(strengths, sizes), number).astype(np.float64)
    sizes = _lengths(clauses.scope_starts)
    strengths = np.where((sizes > 1) & ~clauses.table_hard, np.abs(clauses.table_weights), 0.0)
    choices = len(clauses.options)
    of_choices = np.bincount(clauses.scope, np.repeat(strengths, sizes), choices).astype(np.float64)
    return of_clauses + np.repeat(of_choices, _lengths(clauses.first_atoms))


def _lengths(starts: NDArray[np.uint32]) -> NDArray[np.int64]:
    wide = starts.astype(np.int64)
    return wide[1:] - wide[:-1]


def _list_names(asked: Asked, places: NDArray[np.intp]) -> str:
    more = len(places) - _SHOWN
    shown = ", ".join(asked.names[place] for place in places[:_SHOWN].tolist())
    return shown + (f" and {more:,} more" if more > 0 else "")
