"""From sums over samples to probabilities, with their errors, and with warnings in words."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

from mlnlab.inference.marginals import Estimate, Marginals
from mlnlab.model.writing import numbered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mlnlab.grounding.clauses import GroundClauses
    from mlnlab.inference.batches import Batches
    from mlnlab.inference.chains import Ground

LARGE_R_HAT = 1.05
FEW_SAMPLES = 100.0  # effective ones: the error is then a tenth of the spread
_SHOWN = 3


def estimated(method: str, ground: Ground, batches: Batches, seconds: float) -> Marginals:
    """Return the fractions of samples in which the queried atoms and formulas hold."""
    found = dict(_estimates(ground, batches))
    largest = max((estimate.error for estimate in found.values()), default=0.0)
    return Marginals(
        probabilities={name: estimate.probability for name, estimate in found.items()},
        method=method,
        log_z=nan,
        number_of_worlds=batches.samples * batches.chains,
        seconds=seconds,
        rounding=0.0,
        question=ground.clauses.question,
        expected_counts=tuple(_expected_counts(ground.clauses, batches)),
        reason=(
            f"{method}: {numbered(batches.chains, 'chain')} of {numbered(batches.samples, 'sample')} each, "
            f"standard errors up to {largest:.2g}"
        ),
        estimates=found,
        warnings=tuple(_warnings(ground.clauses, found)),
    )


def _estimates(ground: Ground, batches: Batches) -> Iterator[tuple[str, Estimate]]:
    """Yield the queries in the order asked: atoms, then formulas."""
    clauses = ground.clauses
    columns = _columns(batches)
    atoms = (atom for choice in clauses.question.choices for atom in choice.atoms)
    places = {atom: place for place, atom in enumerate(atoms)}
    for atom in clauses.question.query_atoms:
        known = clauses.question.holds(*atom)
        yield str(atom), columns[places[atom]] if atom in places else _certain(known)
    for place, (source, tally) in enumerate(zip(clauses.sources, clauses.tallies, strict=True)):
        if source.kind == "query":
            decided = tally.true + tally.false
            yield source.text, _certain(bool(tally.true)) if decided else columns[len(places) + place]


def _certain(truth: bool) -> Estimate:
    """Return what evidence says: nothing was sampled."""
    return Estimate(float(truth), 0.0, nan, nan)


def _columns(batches: Batches) -> list[Estimate]:
    """Return the estimate of each binary column; before there are batches its error is unknown."""
    means = batches.means()[: batches.binary]
    if not batches.can_tell():
        return [Estimate(mean, 0.5, nan, 1.0) for mean in means.tolist()]
    parts = (batches.errors(), batches.r_hats(), batches.effective_sizes())
    return [Estimate(*row) for row in zip(means.tolist(), *(part.tolist() for part in parts), strict=True)]


def _expected_counts(clauses: GroundClauses, batches: Batches) -> Iterator[float]:
    """Yield E[n_i] of the model's formulas; hard ones hold in every grounding."""
    means = batches.means()[clauses.number_of_atoms :]
    for source, tally, mean in zip(clauses.sources, clauses.tallies, means.tolist(), strict=True):
        if source.kind == "formula":
            yield float(tally.groundings) if source.hard else tally.true + mean


def _warnings(clauses: GroundClauses, found: Mapping[str, Estimate]) -> Iterator[str]:
    """Yield sentences on why these probabilities may be wrong."""
    if clauses.may_be_cut:
        yield (
            "Hard formulas are left open: changing one atom at a time may not lead from every possible world "
            "to every other, and then the samples come from a part of them only, which no diagnostic need "
            "show."
        )
    apart = [name for name, e in found.items() if e.r_hat > LARGE_R_HAT]
    if apart:
        yield (
            f"The chains disagree (R-hat above {LARGE_R_HAT}) on {_listed(apart)}: they have not forgotten "
            "where they began. Sample longer, with a longer burn-in, or choose another method."
        )
    few = [name for name, e in found.items() if e.effective_size < FEW_SAMPLES]
    if few:
        yield (
            f"Fewer than {FEW_SAMPLES:.0f} effective samples for {_listed(few)}: their standard errors are "
            "large, and not reliable themselves. Sample longer."
        )


def _listed(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
