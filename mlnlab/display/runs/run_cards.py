"""Show runs in cells: before they start, while they run, and one step of them, with ways to watch them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import Element, count_of, element, shorten_text
from mlnlab.display.chart.axes import value_words

if TYPE_CHECKING:
    from mlnlab.inference.ask.sampler import Sampler
    from mlnlab.steps.runs.live import Live
    from mlnlab.steps.step import Step

_MOST_SHOWN = 8  # numbers of an array
_LONGEST = 200

# --- a step ---------------------------------------------------------------------------------------


def step_card(step: Step[Any]) -> Card:
    """Return the card of a step: its metrics, and the parts of its state."""
    parts = list(_parts(step.state))
    rows = ((shorten_text(name), part_in_words(value)) for name, value in parts)
    metrics = _metrics_table(step.state.metrics())
    return Card(
        f"Step {step.index:,}",
        f"after {step.seconds:.3g} s",
        table=metrics,
        remarks=() if metrics.rows else ("Its state has no metrics.",),
        folds=(
            (
                f"the state, a {shorten_text(type(step.state).__name__)}",
                table_of(("part", "value"), rows, len(parts), "parts"),
            ),
        ),
    )


def _metrics_table(metrics: Mapping[str, float]) -> Table:
    rows = ((shorten_text(name), value_words(float(value))) for name, value in metrics.items())
    return table_of(("metric", "value"), rows, len(metrics), "metrics", numbers=(1,))


def _parts(state: object) -> Iterator[tuple[str, object]]:
    """Yield the fields of a state; of a state that is not a dataclass, its attributes."""
    if is_dataclass(state):
        yield from ((field.name, getattr(state, field.name)) for field in fields(state))
    else:
        yield from vars(state).items() if hasattr(state, "__dict__") else ()


def part_in_words(value: object) -> str:
    """Describe a part of a state in one line: a number, or its type with its shape or size."""
    match value:
        case np.ndarray():
            shape = " x ".join(f"{length:,}" for length in value.shape) or "single"
            shown = ", ".join(_number(item) for item in value.ravel()[:_MOST_SHOWN].tolist())
            return shorten_text(
                f"{shape} {value.dtype}: {shown}{', …' * (value.size > _MOST_SHOWN)}", _LONGEST
            )
        case bool() | int() | float() | str() | None:
            return shorten_text(_number(value), _LONGEST)
        case tuple() | list() | frozenset() | set() | dict():
            return f"{count_of(len(value), 'item')} in a {type(value).__name__}"
        case _:
            return shorten_text(type(value).__name__, _LONGEST)


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)


# --- a run ----------------------------------------------------------------------------------------


def live_card(live: Live[Any]) -> Card:
    """Return the card of a run as it is at this moment."""
    last = live.last
    where = "no step yet" if last is None else f"at step {last.index:,}"
    return Card(
        "Live run",
        f"{phase_in_words(live)}, {where}",
        lead=(shorten_text(live.reason, 400),) if live.reason else (),
        table=None if last is None else _metrics_table(last.state.metrics()),
        remarks=() if live.ended else (_steering(live),),
    )


def phase_in_words(live: Live[Any]) -> str:
    """Return the phase of a run, in a word or two."""
    if live.ended:
        return "failed" if live.error is not None else "ended"
    return "running" if live.running else "paused" if live.paused else "not started"


def _steering(live: Live[Any]) -> Element:
    """Say which calls steer the run as it is now."""
    if live.running:
        calls = (".pause()", ".stop()", ".wait()")
    else:
        calls = (".resume()" if live.paused else ".start()", ".step(5)", ".stop()")
    return calls_in_words("steer it: ", *calls)


def calls_in_words(words: str, *calls: str) -> Element:
    """Return a quiet sentence that ends in calls to be typed."""
    shown: list[Element | str] = []
    for call in calls:
        shown += [" · "] * bool(shown) + [element("code", call)]
    return element("div", words, *shown, kind="quiet")


def settings_table(params: object) -> Table:
    """Return the settings of an algorithm as a table."""
    settings = list(_parts(params))
    rows = ((name, part_in_words(value)) for name, value in settings)
    return table_of(("setting", "value"), rows, len(settings), "settings")


# --- a sampler ------------------------------------------------------------------------------------


def sampler_card(sampler: Sampler) -> Card:
    """Return the card of a sampler: its problem, its settings, and ways to watch it."""
    ways = ("next(iter(sampler))", "ml.Trace.of(sampler)", "ml.stepper(sampler)", "ml.live(sampler)")
    return Card(
        f"Sampler {sampler.method.name}",
        _question(sampler),
        table=settings_table(sampler.params),
        remarks=(
            calls_in_words("Nothing has been sampled yet. Go step by step: ", *ways),
            f"Needs: {sampler.method.needs}. From: {sampler.method.citation}.",
        ),
    )


def _question(sampler: Sampler) -> str:
    question = sampler.question
    atoms = sum(len(choice.atoms) for choice in question.choices)
    asked = count_of(len(question.query_atoms), "atom")
    formulas = f" and {count_of(len(question.query_formulas), 'formula')}" if question.query_formulas else ""
    return f"{count_of(atoms, 'open atom')}; asked: {asked}{formulas}"
