"""The parameters of LHL, by their names in the paper where they have one there."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.learning.priors import Gaussian, Laplace
from mlnlab.structure.checked_options import checked_seed, checked_truth, is_number, is_whole
from mlnlab.structure.clause_making import most_flipped
from mlnlab.structure.clause_scores import DEVIATION, ScoreParams
from mlnlab.structure.cluster_scores import SMOOTHING, refuse_odd_rules

if TYPE_CHECKING:
    from mlnlab.learning.priors import Prior
    from mlnlab.structure.clause_making import Signs
    from mlnlab.structure.cluster_scores import Likelihood, MembershipPrior
    from mlnlab.structure.clustering_posterior import Smoothing

ASSEMBLIES = ("greedy", "l1", "l2")
_TRUTHS = ("singles", "together", "dangling", "units", "pooled", "pure_paths", "cluster_predicates", "lifted")


@dataclass(frozen=True, slots=True)
class LhlParams:
    """The parameters of algorithm 1 by their names there, and the choices that the paper leaves open."""

    longest: int = 5  # ω
    penalty: float = 1.0  # λ
    fewest: float = 50  # μ; 0: without heuristic 1
    sampled: int | None = 500  # ν; None: without heuristic 2
    fraction: float = 0.5  # σ
    length_penalty: float = 0.01  # π
    path_length_penalty: float = 0.001  # π'
    signs: Signs = "all"
    singles: bool = False  # whether a single hyperedge is a path
    together: bool = False  # compare a clause with its sub-clauses together
    dangling: bool = False  # whether clauses with dangling variables come into the model
    assembly: str = "greedy"
    least_gain: float | None = None  # of the overall WPLL by a clause that is kept; None: its length penalty
    prior_scale: float | None = None  # of the Laplace (l1, 100) or Gaussian (l2, 10) prior of assembly
    units: bool = True  # a unit clause for each predicate in the model
    pooled: bool = False  # c_r over all databases together
    # Heuristic 2 drops every clause of a path whose ground atoms are all true, for nothing can predict them
    # better than unit clauses; whether such paths are spared its judgement.
    pure_paths: bool = False
    deviation: float = DEVIATION
    cluster_predicates: bool = False  # whether LiftGraph clusters predicates, too
    smoothing: Smoothing = SMOOTHING  # of LHL-LiftGraph's rules, as the next two
    likelihood: Likelihood = "conditional"
    membership_prior: MembershipPrior = "uniform"
    lifted: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no parameter."""
        checked_seed(self.seed)
        for name in _TRUTHS:
            checked_truth(name, getattr(self, name))
        most_flipped(self.signs, 1)
        refuse_odd_rules(self.smoothing, self.likelihood, self.membership_prior)
        if not is_whole(self.longest) or not 1 <= self.longest <= 8:
            raise ArgumentError(f"longest (ω) is a whole number from 1 to 8, not {self.longest!r:.60}.")
        if not is_number(self.fraction) or not 0 < self.fraction <= 1:
            raise ArgumentError(f"fraction (σ) is a number above 0 and up to 1, not {self.fraction!r:.60}.")
        for name in ("penalty", "fewest", "length_penalty", "path_length_penalty"):
            value = getattr(self, name)
            if not is_number(value) or not 0 <= value <= 1e9:
                raise ArgumentError(f"{name} is a number from 0 on, not {value!r:.60}.")
        if self.sampled is not None and (not is_whole(self.sampled) or self.sampled < 1):
            raise ArgumentError(
                f"sampled (ν) is the most ground atoms of a path that are looked at, from 1 on, or None for "
                f"no such look, not {self.sampled!r:.60}."
            )
        if self.assembly not in ASSEMBLIES:
            raise ArgumentError(f"assembly is one of {', '.join(ASSEMBLIES)}, not {self.assembly!r:.60}.")
        for name in ("prior_scale", "deviation", "least_gain"):
            value = getattr(self, name)
            if value is None and name != "deviation":
                continue
            if not is_number(value) or not (0 if name == "least_gain" else 1e-9) <= value <= 1e6:
                least = "from 0" if name == "least_gain" else "above 0"
                raise ArgumentError(f"{name} is a number {least} to a million, not {value!r:.60}.")

    @property
    def assembly_prior(self) -> Prior:
        """The prior over the weights of clauses in the model."""
        if self.assembly == "l1":
            return Laplace(0.0, 100.0 if self.prior_scale is None else self.prior_scale)
        if self.assembly == "l2":
            return Gaussian(0.0, 10.0 if self.prior_scale is None else self.prior_scale)
        return Gaussian(0.0, self.deviation)

    def scores(self) -> ScoreParams:
        """Return what scores depend on."""
        return ScoreParams(self.fraction, self.sampled, self.length_penalty, self.path_length_penalty,
                           self.signs, self.pooled, self.deviation, self.seed, self.pure_paths)  # fmt: skip

    def text(self) -> str:
        """Return all parameters; 1 and 1.0 are the same."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        texts = ((name, repr(float(one) if is_number(one) else one)) for name, one in values)
        return ", ".join(f"{name}={text.removesuffix('.0')}" for name, text in texts)
