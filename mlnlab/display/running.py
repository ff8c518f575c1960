"""What is about to run, what runs, and one step of it: how a cell shows them, and how to watch them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.axes import value_words
from mlnlab.display.markup import Element, count_of, element, shortened
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import bounded_table

if TYPE_CHECKING:
    from mlnlab.inference.sampling import Sampler
    from mlnlab.steps.live import Live
    from mlnlab.steps.step import Step

_MOST_SHOWN = 8  # numbers of an array
_LONGEST = 200

# --- a step ---------------------------------------------------------------------------------------


def step_display(step: Step[Any]) -> Element:
    """Return the display of a step: its metrics, and the parts of its state."""
    return card(
        title(f"Step {step.index:,}", f"after {step.seconds:.3g} s"),
        _metrics_table(step.state.metrics()),
        folded(f"the state, a {shortened(type(step.state).__name__)}", _parts_table(step.state)),
    )


def _metrics_table(metrics: Mapping[str, float]) -> Element:
    if not metrics:
        return quiet("Its state has no metrics.")
    rows = ((shortened(name), value_words(float(value))) for name, value in metrics.items())
    return bounded_table(("metric", "value"), rows, len(metrics), "metrics", numbers=(1,))


def _parts_table(state: object) -> Element:
    parts = list(_parts(state))
    rows = ((shortened(name), part_in_words(value)) for name, value in parts)
    return bounded_table(("part", "value"), rows, len(parts), "parts")


def _parts(state: object) -> Iterator[tuple[str, object]]:
    """Yield the fields of a state; of one that is no dataclass, what it stores."""
    if is_dataclass(state):
        yield from ((field.name, getattr(state, field.name)) for field in fields(state))
    else:
        yield from vars(state).items() if hasattr(state, "__dict__") else ()


def part_in_words(value: object) -> str:
    """Return a part of a state in one line: a number, or what kind of thing it is and how it begins."""
    match value:
        case np.ndarray():
            shape = " x ".join(f"{length:,}" for length in value.shape) or "single"
            shown = ", ".join(_number(item) for item in value.ravel()[:_MOST_SHOWN].tolist())
            return shortened(f"{shape} {value.dtype}: {shown}{', …' * (value.size > _MOST_SHOWN)}", _LONGEST)
        case bool() | int() | float() | str() | None:
            return shortened(_number(value), _LONGEST)
        case tuple() | list() | frozenset() | set() | dict():
            return f"{count_of(len(value), 'item')} in a {type(value).__name__}"
        case _:
            return shortened(type(value).__name__, _LONGEST)


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)


def step_text(step: Step[Any]) -> str:
    """Return a step as text."""
    lines = [
        f"  {shortened(name)}: {value_words(float(value))}"
        for name, value in list(step.state.metrics().items())[:50]
    ]
    head = f"<Step {step.index:,} after {step.seconds:.3g} s: {shortened(type(step.state).__name__)}>"
    return "\n".join([head, *lines])


# --- a run ----------------------------------------------------------------------------------------


def live_display(live: Live[Any]) -> Element:
    """Return the display of a run as it is at this moment."""
    last = live.last
    where = "no step yet" if last is None else f"at step {last.index:,}"
    return card(
        title("Live run", f"{phase_in_words(live)}, {where}"),
        quiet(shortened(live.reason, 400)) if live.reason else None,
        None if last is None else _metrics_table(last.state.metrics()),
        None if live.ended else _steering(live),
    )


def phase_in_words(live: Live[Any]) -> str:
    """Return what a run is doing, in a word or two."""
    if live.ended:
        return "failed" if live.error is not None else "ended"
    return "running" if live.running else "paused" if live.paused else "not started"


def _steering(live: Live[Any]) -> Element:
    """Say which calls steer the run as it is now."""
    if live.running:
        calls = ("pause()", "stop()", "wait()")
    else:
        calls = ("resume()" if live.paused else "start()", "step(5)", "stop()")
    return element("div", "steer it: ", *_listed([f".{call}" for call in calls]), kind="quiet")


def _listed(calls: list[str]) -> list[Element | str]:
    shown: list[Element | str] = []
    for call in calls:
        shown += [" · "] * bool(shown) + [element("code", call)]
    return shown


def live_text(live: Live[Any]) -> str:
    """Return a run as text."""
    return shortened(repr(live), 500)


# --- a sampler ------------------------------------------------------------------------------------


def sampler_display(sampler: Sampler) -> Element:
    """Return the display of a sampler: what would be sampled, with which settings, and how to watch it."""
    settings = list(_parts(sampler.params))
    rows = ((name, part_in_words(value)) for name, value in settings)
    return card(
        title(f"Sampler {sampler.method.name}", _question(sampler)),
        bounded_table(("setting", "value"), rows, len(settings), "settings"),
        element(
            "div",
            "Nothing has been sampled yet. Go step by step: ",
            *_listed(
                ["next(iter(sampler))", "ml.Trace.of(sampler)", "ml.stepper(sampler)", "ml.live(sampler)"]
            ),
            kind="quiet",
        ),
        quiet(f"Needs: {sampler.method.needs}. From: {sampler.method.citation}."),
    )


def _question(sampler: Sampler) -> str:
    question = sampler.question
    atoms = sum(len(choice.atoms) for choice in question.choices)
    asked = count_of(len(question.query_atoms), "atom")
    formulas = f" and {count_of(len(question.query_formulas), 'formula')}" if question.query_formulas else ""
    return f"{count_of(atoms, 'open atom')}; asked: {asked}{formulas}"


def sampler_text(sampler: Sampler) -> str:
    """Return a sampler as text."""
    return f"{shortened(repr(sampler), 500)}\n  {_question(sampler)}"
