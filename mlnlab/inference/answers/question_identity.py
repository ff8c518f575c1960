"""Which run of inference a state belongs to: its question and parameters as short texts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from operator import attrgetter

import numpy as np

from mlnlab.grounding.question.question import Opening, Question
from mlnlab.logic.formulas.weights import Fixed, Soft
from mlnlab.model.database.fingerprints import constants_of, fingerprint, model_identity
from mlnlab.steps.run_identity import RunIdentity, digest, settings_text


def run_of(method: str, params: object, question: Question, goes_on: Iterable[str]) -> RunIdentity:
    """Return whose states a method's are; ``goes_on`` names the parameters that only say how long it does."""
    return RunIdentity(
        method,
        data=_data(question),
        model=model_identity(question.mln),
        weights=digest(*(_weight(weighted.weight) for weighted in question.mln.formulas)),
        question=_digest_question(question),
        settings=settings_text(params, goes_on),
        seed=str(getattr(params, "seed", "")),
    )


def run_of_opening(method: str, params: object, asked: Opening, goes_on: Iterable[str]) -> RunIdentity:
    """Return whose states those of a method are that lists no atoms."""
    question = Question(asked.mln, frozenset(), (), (), (), (), asked.given, asked)
    return run_of(method, params, question, goes_on)


def _weight(weight: object) -> str:
    return repr(float(weight.value)) if isinstance(weight, Soft | Fixed) else type(weight).__name__


def _data(question: Question) -> str:
    """Return a digest that is equal for equal constants and facts.

    Facts are read from the database's arrays, which takes no time even where they are millions; changes
    after it was asked are among the choices, or change their number.
    """
    asked = question.asked
    known: object = sorted(question.true)
    if asked is not None:
        known = "" if asked.data is None else fingerprint(asked.data)
    return digest(*constants_of(question.vocabulary), known, len(question.true), question.soft)


def _digest_question(question: Question) -> str:
    """Return a digest that is equal for equal queries, conditions and open atoms."""
    # Joined by iterators: there may be a million atoms, and this takes a tenth of what listing them does.
    options = list(map(attrgetter("atoms"), question.choices))
    atoms = list(chain.from_iterable(options))
    arguments = chain.from_iterable(map(attrgetter("arguments"), atoms))
    queries = (len(question.query_atoms), question.query_formulas, question.given)
    asked = question.asked
    whole = question.query_atoms if asked is None else (sorted(asked.opened), asked.queries)
    return digest(
        "\0".join(arguments), "\0".join(map(attrgetter("predicate"), atoms)),
        np.fromiter(map(len, options), np.int64, len(options)), queries, whole,
    )  # fmt: skip
