"""The picture of messages that settle: beliefs as bars, how much messages change, which ones, and colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.axes import value_words
from mlnlab.display.chart.bars import WIDTH, Bar, bar_frame
from mlnlab.display.chart.curves import LEAST, changes_scene
from mlnlab.display.inference.probabilities import probability_in_words
from mlnlab.display.inference.samplers.marked_rows import MarkedRow, marked_rows_scene
from mlnlab.display.inference.samplers.samplers_view import MOST_ROWS
from mlnlab.display.nodelink.ground_network_scenes import LitNetwork, lit_network, source_words
from mlnlab.display.runs.runs import Draw, RunPicture, Table, columns_of
from mlnlab.display.scene.building import numbered_id
from mlnlab.display.scene.items import Layer, Scene
from mlnlab.inference.messages.beliefs import BeliefsReader, atom_probabilities
from mlnlab.inference.messages.message_passing import MUCH

if TYPE_CHECKING:
    from mlnlab.inference.ask.sampler import Sampler
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

NEWS = 0.05  # a message counts as changed where it changes by such a share of the largest change
MOST_SPEAKERS = 20
_MOST_IN_TABLE = 2_000


def belief_picture(sampler: Sampler) -> RunPicture:
    """Return the pictures of belief propagation, lifted or not, and of mean field."""
    reader = sampler.reader()
    parts: dict[str, Draw] = {"beliefs": _beliefs_part(reader), "changes": _changes_part}
    if isinstance(reader, BeliefsReader):
        network = lit_network(reader.graph.clauses)
        if network is not None:
            parts["messages"] = _messages_part(reader, network)
            if getattr(sampler.params, "order", "") == "residual" and "lifted" not in sampler.method.name:
                parts["who speaks next"] = _speakers_part(network)
            if "lifted" in sampler.method.name:
                parts = {**parts, "colours": _colours_part(reader, network)}
    name = sampler.method.name.replace("-", " ")
    return RunPicture(
        title=name[:1].upper() + name[1:],
        parts=parts,
        caption=_caption,
        remarks=lambda step: reader.warnings(step.state) if _is_last(step) else (),
        table=lambda step: _table(reader, step),
    )


def _is_last(step: Step[Any]) -> bool:
    """Tell whether a run that has not settled has gone on for long; before, there is nothing to warn of."""
    return getattr(step.state, "sweeps", 0) >= 100


def _beliefs_part(reader: Any) -> Draw:  # noqa: ANN401 - any reader of states
    names = list(reader.names)[:MOST_ROWS]
    frame = bar_frame(
        [in_symbols(name) for name in names], [numbered_id("atom", n) for n in range(len(names))]
    )
    known = reader.known

    def draw(step: Step[Any], _trace: Trace[Any]) -> Scene:
        values = reader.estimates(step.state).probabilities[: len(names)].tolist()
        rows = tuple(
            frame.row(
                place,
                Bar("", value, f"{value:.0f} · fact" if fact else probability_in_words(value), known=fact),
            )
            for place, (value, fact) in enumerate(zip(values, known.tolist(), strict=False))
        )
        rest = len(reader.names) - len(names)
        words = f"{len(names)} of {len(reader.names):,} queries are drawn." if rest else ""
        return Scene(
            WIDTH, frame.height, (Layer("rows", rows), Layer("axis", frame.axis())), "Beliefs", words
        )

    return draw


def _changes_part(step: Step[Any], trace: Trace[Any]) -> Scene:
    return changes_scene(step, trace, "How much the last sweep changed, on a logarithmic scale.")


def _messages_part(reader: BeliefsReader, network: LitNetwork) -> Draw:
    links = len(network.drawing.network.links)

    def draw(step: Step[Any], _trace: Trace[Any]) -> Scene:
        ground = reader.messages(step.state)
        changes, lit = ground.changes, np.zeros(links, np.bool_)
        most = float(changes.max(initial=0.0))
        if most > LEAST:
            lit[: len(changes)] = changes >= NEWS * most
        words = f"{count_of(int(lit.sum()), 'link')} told news: at least {NEWS:.0%} of the largest change."
        shares = atom_probabilities(reader.graph, ground.options)
        return network.scene((network.light_links(lit),), (), "Messages", words, probabilities=shares)

    return draw


def _speakers_part(network: LitNetwork) -> Draw:
    """Return a function that draws the order of residuals: the link with the largest one speaks first."""
    links = network.drawing.network

    def draw(step: Step[Any], _trace: Trace[Any]) -> Scene:
        news = step.state.news
        first = np.argsort(-news, kind="stable")[:MOST_SPEAKERS].tolist()
        heard = news[news < MUCH]
        largest = max(float(heard.max(initial=0.0)), LEAST)
        rows = [
            MarkedRow(
                in_symbols(shorten_text(links.text(link), 300)),
                value_words(float(news[link])) if news[link] < MUCH else "all",
                min(float(news[link]) / largest, 1.0),
                note="has not spoken" if news[link] >= MUCH else "",
                tip=source_words(links.sources[int(links.links.sources[link])]),
            )
            for link in first
        ]
        number = len(news) - len(rows)
        lines = (
            "Residual order: the sender whose incoming messages changed most is next.",
            f"{count_of(number, 'link')} with smaller changes not drawn." if number else "",
        )
        most = min(len(news), MOST_SPEAKERS)
        names = ("Who speaks next", " ".join(filter(None, lines)))
        return marked_rows_scene(lines, rows, most, ("ground formula", "has to tell"), (), names)

    return draw


def _colours_part(reader: BeliefsReader, network: LitNetwork) -> Draw:
    firsts = reader.graph.clauses.first_atoms.astype(np.int64)
    owners = np.repeat(np.arange(len(firsts) - 1), firsts[1:] - firsts[:-1])

    def draw(step: Step[Any], _trace: Trace[Any]) -> Scene:
        state = step.state
        colours = state.colours[owners].tolist()
        shares = atom_probabilities(reader.graph, reader.messages(state).options)
        said = "no colour splits any more" if state.settled else "colours may still split"
        number = count_of(int(state.colours.max(initial=-1)) + 1, "colour")
        words = f"Round {state.rounds}: {number} of choices; {said}. Atoms of one block share a colour."
        return network.scene((), (network.colour_atoms(colours),), "Colours", words, probabilities=shares)

    return draw


def _caption(step: Step[Any]) -> str:
    state = step.state
    if getattr(state, "beliefs", None) == ():
        number = count_of(int(state.colours.max(initial=-1)) + 1, "colour")
        return f"round {state.rounds} of colours: {number}"
    inner = state.beliefs[0] if getattr(state, "beliefs", None) else state
    ended = ", settled" if inner.converged else ""
    return f"sweep {inner.sweeps:,}: changes up to {value_words(float(inner.largest_change))}{ended}"


def _table(reader: Any, step: Step[Any]) -> Table:  # noqa: ANN401 - any reader of states
    values = reader.estimates(step.state).probabilities[:_MOST_IN_TABLE].tolist()
    rows = tuple(
        (shorten_text(in_symbols(name), 200), round(value, 6))
        for name, value in zip(reader.names, values, strict=False)
    )
    return Table("Beliefs", columns_of(("query", "probability"), (1,)), rows)
