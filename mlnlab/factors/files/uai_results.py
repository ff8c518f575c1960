"""Reads results in the UAI competition's format: distributions of variables, in a .MAR file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import nan
from pathlib import Path

from mlnlab.factors.files.network_texts import Source, load_with, read_with
from mlnlab.factors.files.uai_reading import MOST_VALUES
from mlnlab.factors.files.uai_words import words_of
from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
from mlnlab.factors.graphs.factor_graph import FactorGraph
from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.factors.trees.network_answers import Distribution, VariableMarginals
from mlnlab.logic.vocabulary import FrozenMapping

_OFF = 1e-3  # by which probabilities with few digits may miss 1


def load_uai_marginals(
    path: str | Path, model: FactorGraph | BayesianNetwork | None = None
) -> VariableMarginals:
    """Read a UAI result file of distributions (.MAR); a model gives the names of variables and values.

    What stands before the word MAR, such as a line with log Z, is left out: its base differs among programs.

    >>> import mlnlab as ml
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> network = ml.sample_network("greenhouse")
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "greenhouse.uai.MAR"
    ...     ml.save_uai_marginals(network, ml.marginals(network), path)
    ...     round(ml.load_uai_marginals(path, network)["Pump"]["works"], 3)
    0.97
    """
    variables = None if model is None else model.variables
    return load_with(partial(_marginals, variables=variables), path)


def uai_marginals(text: str | bytes, name: str = "text") -> VariableMarginals:
    """Return the distributions that a text in UAI's format lists."""
    return read_with(partial(_marginals, variables=None), text, name)


def _marginals(source: Source, variables: Sequence[RandomVariable] | None) -> VariableMarginals:
    words = words_of(source)
    if "MAR" not in words.words:
        raise words.problem("no-kind", "there is no word MAR", 0, "MAR, and then the distributions")
    words.next = words.words.index("MAR") + 1
    number = words.count("the number of variables", 0, words.left)
    if variables is not None and len(variables) != number:
        message = f"{number:,} distributions are announced, but the model has {len(variables):,} variables"
        raise words.problem("other-model", message, words.next - 1)
    found: dict[str, Distribution] = {}
    for place in range(number):
        variable = None if variables is None else variables[place]
        size = words.count(f"the number of values of x{place}", 1, MOST_VALUES)
        if variable is not None and variable.size != size:
            message = f"x{place} has {size:,} values here, and {variable.size:,} in the model"
            raise words.problem("other-model", message, words.next - 1)
        shares = words.reals(min(size, words.left + 1), f"the probabilities of x{place}")
        if len(shares) < size:
            raise words.problem("unfinished-file", "the file ends too early", words.next, "a probability")
        if abs(float(shares.sum()) - 1.0) > _OFF:
            message = f"the probabilities of x{place} add up to {float(shares.sum()):.6g}"
            raise words.problem("no-distribution", message, words.next - 1)
        known = variable or RandomVariable.numbered(f"x{place}", size)
        found[known.name] = FrozenMapping(dict(zip(known.values, shares.tolist(), strict=True)))
    if words.left:
        message = f"{number:,} distributions are announced, but more follows"
        raise words.problem("too-long", message, words.next, "the end of the file")
    return VariableMarginals(FrozenMapping(found), FrozenMapping(), nan, "a file")
