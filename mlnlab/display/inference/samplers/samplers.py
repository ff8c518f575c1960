"""The picture of a sampler at work: probabilities, chains, their worlds, and how far to trust them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.inference.samplers.samplers_probabilities import (
    convergence_part,
    overview_part,
    probabilities_part,
)
from mlnlab.display.inference.samplers.samplers_view import MOST_CHOSEN, MOST_ROWS, SamplerView, sampler_view
from mlnlab.display.inference.samplers.samplers_worlds import chains_part, worlds_part
from mlnlab.display.nodelink.ground_network_scenes import network_part
from mlnlab.display.runs.runs import Draw, RunPicture, Table, columns_of
from mlnlab.inference.lazy.lazy_answers import LazyReader

if TYPE_CHECKING:
    from mlnlab.inference.ask.sampler import Sampler
    from mlnlab.inference.lazy.lazy_chains import LazyState
    from mlnlab.inference.sampling.state_reading import ChainsReader
    from mlnlab.steps.step import Step

MOST_IN_TABLE = 2_000
MOST_IN_NETWORK = 150  # atoms: a live picture is drawn many times a second
_COLUMNS = columns_of(("query", "probability", "standard error", "R-hat", "effective samples"), range(1, 5))


def sampler_picture(
    sampler: Sampler,
    *,
    queries: Sequence[str] | None = None,
    compared: Sequence[str] | None = None,
    exact: Mapping[str, float] | None = None,
) -> RunPicture:
    """Return the pictures of a sampler's run; the model is grounded once, here.

    ``queries`` are drawn one by one (else the first 40), of ``compared`` (else the first 6 of these) is drawn
    what each chain alone says, and ``exact`` are known probabilities to compare with, such as marginals.
    """
    view = sampler_view(sampler, queries, compared, exact)
    name = sampler.method.name
    return _picture(view, f"{name[:1].upper()}{name[1:]} sampling")


def _picture(view: SamplerView, title: str) -> RunPicture:
    return RunPicture(
        title=title,
        parts=_parts(view),
        caption=lambda step: _caption(view, step),
        remarks=lambda step: [*view.reader.warnings(step.state), *([view.rest] if view.rest else [])],
        table=lambda step: _table(view, step),
        choose=lambda name: _choose_atom(view, title, name),
    )


def _choose_atom(view: SamplerView, title: str, name: str) -> RunPicture | None:
    """Return the pictures in which the chains are compared on an atom that was clicked, first of all."""
    word, _, number = name.rpartition("-")
    place = int(number) if word == "atom" and number.isdecimal() else -1
    if place not in view.shown or view.reader.known[place]:
        return None
    others = [other for other in view.chosen if other != place]
    return _picture(replace(view, chosen=(place, *others)[:MOST_CHOSEN]), title)


def _parts(view: SamplerView) -> dict[str, Draw]:
    parts = {"probabilities": probabilities_part(view)}
    if len(view.reader.names) > MOST_ROWS:
        parts["all probabilities"] = overview_part(view)
    if view.chains is not None:
        parts["chains"] = chains_part(view, view.chains)
        parts["worlds"] = worlds_part(view, view.chains)
        if view.chains.ground.clauses.number_of_atoms <= MOST_IN_NETWORK:
            parts["network"] = network_part(view.chains)
    return {**parts, "convergence": convergence_part(view)}


def _caption(view: SamplerView, step: Step[Any]) -> str:
    if isinstance(view.reader, LazyReader):
        return _slices_in_words(view.reader, step.state)
    if view.chains is None:
        return f"step {step.index:,}"
    return sweeps_in_words(view.chains, step.state)


def _slices_in_words(reader: LazyReader, state: LazyState) -> str:
    """Return how far lazy sampling has come, and how much it holds at a time."""
    words = f"slice {state.sweeps:,} of {reader.burn_in + reader.samples:,}"
    held = f"{count_of(state.atoms, 'atom')} and {count_of(state.clauses, 'clause')} at a time"
    if not state.samples:
        return f"{words}, burn-in; {held}"
    samples = count_of(state.samples, "sample")
    return f"{words}, {samples} from each of {count_of(len(state.chains), 'chain')}; {held}"


def sweeps_in_words(reader: ChainsReader, state: Any) -> str:  # noqa: ANN401 - any state with chains
    """Return how far a run has come: ``sweep 120 of 5,500, burn-in``."""
    words = f"sweep {state.sweeps:,} of {reader.sweeps:,}"
    if state.sweeps < reader.burn_in:
        return f"{words}, burn-in"
    samples = count_of(state.batches.samples, "sample")
    return f"{words}, {samples} from each of {count_of(state.batches.chains, 'chain')}"


def _table(view: SamplerView, step: Step[Any]) -> Table:
    """Return the numbers of all queries; those that are not known yet are empty."""
    found = view.estimates(step.state)
    names, known = view.reader.names, view.reader.known.tolist()
    columns = (found.probabilities, found.errors, found.r_hats, found.effective_sizes)
    rows = zip(*(column[:MOST_IN_TABLE].tolist() for column in columns), strict=True)
    written = tuple(
        (shorten_text(view.name(place), 200), *_cells(*row, fact=known[place]))
        for place, row in enumerate(rows)
    )
    left_out = len(names) - len(written)
    title = "Probabilities" if not left_out else f"The first {len(written):,} of {len(names):,} probabilities"
    return Table(title, _COLUMNS, written)


def _cells(
    probability: float, error: float, r_hat: float, size: float, *, fact: bool
) -> tuple[float | str, ...]:
    if fact or not isfinite(probability):
        return (probability if fact else "", "", "", "")
    if not isfinite(r_hat):
        return (round(probability, 6), "", "", "")
    return (round(probability, 6), float(f"{error:.2g}"), round(r_hat, 3), round(size))
