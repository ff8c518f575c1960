"""Explain an atom's probability in words and as a table; ``effects/shares.py`` computes the shares."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isinf

ROUNDING = 1e-9  # a share below this is the rounding of sums and integrals, no influence


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
    """An atom's probability and the shares that add up to its log-odds, up to ``gap``."""

    atom: str
    probability: float
    log_odds: float
    base: float
    shares: tuple[Share, ...]
    gap: float = 0.0

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def sentences(self) -> list[str]:
        """Return the explanation in words, the strongest formula first."""
        if isinf(self.log_odds):
            outcome = "true" if self.log_odds > 0 else "false"
            decided = "facts (unlisted atoms of closed predicates are false), blocks or hard formulas"
            return [f"{self.atom} is {outcome} in every possible world: {decided} decide it."]
        start = "Without any weight, all possible worlds being equally likely, its log-odds would be"
        lines = [
            f"{self.atom} has probability {self.probability:.4g}, log-odds {self.log_odds:+.3f}.",
            f"{start} {self.base:+.3f}.",
        ]
        felt = (share for share in self.shares if abs(share.log_odds) > ROUNDING)
        strongest = sorted(felt, key=lambda share: -abs(share.log_odds))
        lines += map(_sentence, strongest)
        silent = len(self.shares) - len(strongest)
        if silent:
            lines.append(f"{silent} formula{'s have' if silent > 1 else ' has'} no influence here.")
        if abs(self.gap) > 1e-6:
            lines.append(f"The shares were integrated numerically; they miss the sum by {self.gap:.1e}.")
        return lines


def _sentence(share: Share) -> str:
    verb = "raises" if share.log_odds > 0 else "lowers"
    return (
        f"{share.formula} (weight {share.weight:g}) {verb} the log-odds by {abs(share.log_odds):.3g}; "
        f"without it the probability would be {share.without:.4g}."
    )
