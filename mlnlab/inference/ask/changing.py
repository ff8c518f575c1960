"""Compute ``ml.sensitivities``: the weights and facts that a probability depends on most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.inference.ask.asking import infer
from mlnlab.inference.methods.enumeration import MOST_WORLDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.inference.answers.sensitivity import Sensitivities
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN


def sensitivities(
    mln: MLN,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    of: str | Formula | GroundAtom | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the public name of infer's argument
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
    method: str = "auto",
    limit: int = MOST_WORLDS,
    seed: int = 0,
    facts: int | None = None,
    unlisted: bool = False,
    **options: object,
) -> Sensitivities:
    r"""Return how much the probability of a query changes with each weight, and with each fact.

    The arguments are those of :func:`ml.infer`; ``of`` names the atom or formula that is meant, where there
    is more than one. A weight's change is a derivative, exact where the method is, with a standard error
    where it samples; a fact's is what the probability becomes when the fact is true, false or unknown.
    ``facts`` bounds how many facts are tried, the nearest in the ground network first (40, or 8 where the
    method samples); ``unlisted`` tries also what is false because no fact lists it.

    >>> import mlnlab as ml
    >>> text = "Smokes(person)\nFriends(person, person)\n2 Friends(x, y) ^ Smokes(x) => Smokes(y)"
    >>> mln = ml.MLN.from_text(text)
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nSmokes(Anna)\nFriends(Carl, Anna)", mln)
    >>> found = ml.sensitivities(mln, db, "Smokes", "Smokes(Bob)")
    >>> print(found)
    Smokes(Bob) has probability 0.8808 by enumeration.
    If Friends(Anna, Bob) were false (it is true), it would be 0.5 (-0.381).
    If Smokes(Anna) were false (it is true), it would be 0.5 (-0.381).
    More weight of Friends(x, y) ^ Smokes(x) => Smokes(y) (now 2) raises it, by 0.105 for each unit of
    weight, at first.
    1 fact has no influence: no ground formulas over open atoms lead from there to the query.
    """
    known = {"open": open, "closed": closed, "given": given, "method": method, "limit": limit, "seed": seed}
    answer = infer(mln, db, query, **known, **options)  # type: ignore[arg-type]
    return answer.sensitivities(of, facts=facts, unlisted=unlisted)
