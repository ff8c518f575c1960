r"""Define ``ml.transfer``: the meaning of learned weights in domains of another size.

Weights of a Markov logic network do not transfer: each constant adds groundings, so that an atom is pulled by
more formulas in a larger domain, and counts matched at one size are off at another (Jain, Barthels and Beetz
2010). With a lifted circuit the same weights are asked at any size at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.learning.ask.learned_weights import LearnedWeights
from mlnlab.learning.diagnosis.runaways import LearningWarning
from mlnlab.learning.objectives.lifted_counts import refuse_costly
from mlnlab.lifted.ask.lift import LiftedCircuit, lift
from mlnlab.lifted.circuit.equiprobable import equiprobable_classes, unknown_types
from mlnlab.logic.formulas.printing import to_text

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

    Numbers = NDArray[np.float64]

_DRIFTED = 0.01  # of the groundings: a share that one notices
_ODDS_DRIFTED = 2.0  # times as often, or as seldom: what one notices of sparse relations
_LEAST = 1e-9  # of the groundings: less is never


@dataclass(frozen=True, slots=True, eq=False)
class Transfer:
    """Shares of groundings that are true: in the data, expected at their sizes, and expected elsewhere."""

    formulas: tuple[str, ...]
    weights: Numbers
    learned_at: tuple[dict[str, int], ...]  # of each database
    sizes: dict[str, int]
    observed: Numbers
    expected: Numbers
    elsewhere: Numbers

    @property
    def is_another_size(self) -> bool:
        """Whether a type that formulas mention has another size than in any database learned from."""
        return self.sizes not in self.learned_at

    @property
    def by_drift(self) -> list[int]:
        """Formulas by how much their odds change, those that change most in the lead."""
        drift = np.nan_to_num(np.abs(_log_odds(self.elsewhere) - _log_odds(self.expected)))
        return [int(number) for number in np.argsort(-drift, kind="stable")]

    @property
    def learned_at_words(self) -> str:
        """The sizes of the databases learned from, in words."""
        return "; ".join(dict.fromkeys(map(_sizes_text, self.learned_at)))

    @property
    def sizes_words(self) -> str:
        """The sizes asked about, in words."""
        return _sizes_text(self.sizes)

    @property
    def remark(self) -> str:
        """The effect of the other size on the formula that it changes most; empty where it has none."""
        drift = np.nan_to_num(np.abs(_log_odds(self.elsewhere) - _log_odds(self.expected)))
        change = np.nan_to_num(np.abs(self.elsewhere - self.expected))
        drifted = (drift >= np.log(_ODDS_DRIFTED)) | (change >= _DRIFTED)
        if not self.is_another_size or not drifted.any():
            return ""
        worst = int(np.where(drifted, drift, -1.0).argmax())
        return (
            f"These weights were learned at {self.learned_at_words} and do not mean the same at"
            f" {self.sizes_words}:"
            f" {self.formulas[worst]} holds in {_percent(self.observed[worst])} of its groundings in the"
            f" data, in {_percent(self.expected[worst])} by the model at their size, and in"
            f" {_percent(self.elsewhere[worst])} here."
            " Learn again from data of this size, or report both sizes."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each formula."""
        import pandas as pd

        return pd.DataFrame({
            "formula": self.formulas, "weight": self.weights, "in the data": self.observed,
            "at its size": self.expected, "at this size": self.elsewhere,
        })  # fmt: skip

    def __repr__(self) -> str:
        said = "some shares drift" if self.remark else "nothing drifts"
        return f"<Transfer from {self.learned_at_words} to {self.sizes_words}: {said}>"


def transfer(found: LearnedWeights, domains: Mapping[str, int] | Database) -> Transfer:
    r"""Return the expected shares of learned weights at other domain sizes, and warn where they differ.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\nSmokes(x)\nFriends(x, y)\n"
    ...     "Smokes(x) ^ Friends(x, y) => Smokes(y)")
    >>> db = ml.Database.from_text("Smokes(A)\nSmokes(B)\nFriends(A, B)\nFriends(B, A)\nFriends(C, D)", mln)
    >>> found = ml.learn_weights(mln, db, method="lwl")
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     moved = ml.transfer(found, {"person": 100})
    >>> str(said[0].message)[:78]
    'These weights were learned at person = 4 and do not mean the same at person = '
    """
    if not isinstance(found, LearnedWeights):
        raise ArgumentError(f"What ml.learn_weights returned is needed, not {found!r:.50}.")
    data = found.data
    model = replace(found.mln, semantics="textbook")
    _refuse_unknown_sizes(model, domains)
    circuit = lift(model).compile()
    learned_at = tuple(
        {t: len(domain) for t, domain in example.vocabulary.types.items()} for example in data.examples
    )
    sizes = {t: len(domain) for t, domain in model.vocabulary_with(domains).types.items()}
    for one in (*learned_at, sizes):
        refuse_costly(circuit, one)
    here = _share(circuit, [sizes])
    moved = Transfer(
        tuple(to_text(one.formula) for one in data.formulas), found.weights, learned_at, sizes,
        _divide_shares(found.observed, _groundings(circuit, learned_at)), _share(circuit, learned_at), here,
    )  # fmt: skip
    if moved.remark:
        warnings.warn(moved.remark, LearningWarning, stacklevel=2)
    return moved


def _refuse_unknown_sizes(model: MLN, domains: object) -> None:
    """Say whose size is missing: no constants are no answer."""
    if isinstance(domains, Mapping) or domains is None:
        unknown = unknown_types(model, domains or {})
        if unknown:
            sizes = ", ".join(f'"{type_}": 1000' for type_ in unknown)
            raise ArgumentError(
                f"Give the size of {' and of '.join(unknown)} where the weights are to be used, as in"
                f" ml.transfer(found, {{{sizes}}}), or a database."
            )


def _share(circuit: LiftedCircuit, sizes: Sequence[Mapping[str, int]]) -> Numbers:
    """Return the expected share of true groundings, in all domains together."""
    expected = np.sum([circuit.expected_counts(one) for one in sizes], axis=0)
    return _divide_shares(expected, _groundings(circuit, sizes))


def _groundings(circuit: LiftedCircuit, sizes: Sequence[Mapping[str, int]]) -> Numbers:
    classes = equiprobable_classes(circuit.mln)
    hard = [n for n in range(len(circuit.mln.formulas)) if not classes.of(n)]
    found = np.zeros(len(circuit.mln.formulas))
    for one in classes:
        found[one.number] += sum(float(one.size(own)) for own in sizes)
    found[hard] = np.nan
    return found


def _divide_shares(part: Numbers, whole: Numbers) -> Numbers:
    return np.asarray(np.divide(part, whole, np.full(len(whole), np.nan), where=whole > 0))


def _log_odds(shares: Numbers) -> Numbers:
    """Return log p / (1 - p), finite also for formulas that hold always or never."""
    inner = np.clip(shares, _LEAST, 1 - _LEAST)
    return np.asarray(np.log(inner) - np.log1p(-inner))


def _percent(share: float) -> str:
    """Return a share in per cent, with enough digits to tell seldom from never and nearly from always."""
    if 0 < share < _DRIFTED:
        return f"{np.format_float_positional(100 * share, 2, fractional=False, trim='-')}%"
    return f"{100 * share:.6g}%" if 1 - _DRIFTED < share < 1 else f"{share:.1%}"


def _sizes_text(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{type_} = {size:,}" for type_, size in sizes.items())
