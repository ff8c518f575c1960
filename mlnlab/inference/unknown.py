"""What is known of a question before anything was computed: what evidence decides, and nothing else."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

from mlnlab.grounding.lazy_priors import is_small
from mlnlab.grounding.question import listed
from mlnlab.inference.marginals import Estimate, Marginals

if TYPE_CHECKING:
    from mlnlab.grounding.question import Question
    from mlnlab.steps.step import State
    from mlnlab.steps.trace import Trace

UNKNOWN = Estimate(nan, nan, nan, nan)


def unknown_marginals(method: str, question: Question, trace: Trace[State]) -> Marginals:
    """Return marginals in which every probability that evidence leaves open is no number, and say so."""
    if not question.choices and question.asked is not None and is_small(question.asked):
        question = listed(question.asked)  # the method goes by what was asked, and did not list it
    unknown = {atom for choice in question.choices for atom in choice.atoms}
    lists_all = bool(question.choices)  # else they are too many, and nobody knows yet which are open
    estimates = {
        str(atom): UNKNOWN
        if atom in unknown or not (lists_all or question.holds(*atom))
        else Estimate(float(question.holds(*atom)), 0.0, nan, nan)
        for atom in question.query_atoms
    }
    estimates |= {text: UNKNOWN for text, _ in question.query_formulas}
    seconds = trace[-1].seconds if len(trace) else 0.0
    return Marginals(
        probabilities={name: estimate.probability for name, estimate in estimates.items()},
        method=method, log_z=nan, number_of_worlds=0, seconds=seconds, rounding=0.0, question=question,
        expected_counts=(), estimates=estimates, trace=trace,
        reason=f"{method} was stopped before its first sample: only what evidence decides is known",
        warnings=("No sample was drawn, so what is open has no probability yet: let it run longer.",),
    )  # fmt: skip
