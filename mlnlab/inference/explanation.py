"""Why an atom has its probability, in words and as a table; :mod:`mlnlab.inference.shares` computes it."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Share:
    """One formula's part in an atom's log-odds."""

    formula: str
    weight: float
    log_odds: float
    without: float

    @property
    def factor(self) -> float:
        """The factor by which the formula multiplies the odds."""
        return exp(min(self.log_odds, 700.0))


@dataclass(frozen=True, slots=True)
class Explanation:
    """An atom's probability and the shares that add up to its log-odds."""

    atom: str
    probability: float
    base: float
    shares: tuple[Share, ...]

    @property
    def log_odds(self) -> float:
        """The atom's log-odds, log P / (1 - P)."""
        return log_odds(self.probability)

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def sentences(self) -> list[str]:
        """Return the explanation in words, the strongest formula first."""
        if self.probability in {0.0, 1.0}:
            outcome = "true" if self.probability else "false"
            return [f"{self.atom} is {outcome} in every possible world: evidence or hard formulas decide it."]
        begin = f"{self.atom} has probability {self.probability:.4g}, log-odds {self.log_odds:+.3f}."
        start = (
            "Without any weight, all possible worlds being equally likely, its log-odds would be "
            f"{self.base:+.3f}."
        )
        lines = [begin, start]
        for share in sorted(self.shares, key=lambda s: -abs(s.log_odds)):
            if abs(share.log_odds) >= 5e-4:
                verb = "raises" if share.log_odds > 0 else "lowers"
                lines.append(
                    f"{share.formula} (weight {share.weight:g}) {verb} the log-odds by "
                    f"{abs(share.log_odds):.3f}; without it the probability would be {share.without:.4g}."
                )
        silent = sum(abs(share.log_odds) < 5e-4 for share in self.shares)
        if silent:
            lines.append(f"{silent} formula{'s have' if silent > 1 else ' has'} no influence here.")
        return lines

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame: the base, then a row for each formula."""
        import pandas as pd

        rows = [("(no weights)", None, self.base, None), *(
            (s.formula, s.weight, s.log_odds, s.without) for s in self.shares
        )]  # fmt: skip
        return pd.DataFrame(
            rows, columns=["formula", "weight", "share of log-odds", "probability without it"]
        )


def log_odds(probability: float) -> float:
    """Return log P / (1 - P)."""
    if probability <= 0:
        return -inf
    return inf if probability >= 1 else log(probability) - log(1 - probability)
