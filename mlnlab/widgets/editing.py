"""``ml.editor`` and ``ml.compare``: a model as text, as table, as what follows; two side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.model.database import Database
from mlnlab.model.mln import MLN
from mlnlab.syntax.sources import decoded, read_bytes
from mlnlab.widgets.compare import Compare
from mlnlab.widgets.draft import Draft
from mlnlab.widgets.editor import FormulaEditor
from mlnlab.widgets.editor_document import Document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.model.mln import Semantics


def editor(
    mln: MLN | str | Path,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str] | str | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the name that `infer` has
    folder: str | Path | None = None,
    semantics: Semantics | None = None,
) -> FormulaEditor:
    r"""Edit a model: its text, the table of its formulas with sliders, probabilities that follow every edit.

    ``mln`` is a model, the text of one, or the path of a file; a text and a file keep their comments.
    ``db`` and ``open`` mean what they mean in ``infer``; ``query`` too, and without one the predicates of
    which no fact is known are asked for. The result has ``model``, ``text``, ``marginals`` and methods for
    every edit that the page offers.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> editor = ml.editor(mln, ml.Database.from_text("Smokes(Anna)", mln))
    >>> round(editor.marginals["Cancer(Anna)"], 4)
    0.8176
    >>> editor.set_weight(0, 0)
    >>> editor.marginals["Cancer(Anna)"], editor.model.weights
    (0.5, [0.0])
    >>> editor.undo()
    >>> editor.model.weights
    [1.5]
    >>> editor.close()
    """
    if db is not None and not isinstance(db, Database | Mapping):
        raise ArgumentError(f"A database or sizes like {{'person': 3}} are needed, not {db!r:.50}.")
    asked = None if query is None else (query,) if isinstance(query, str) else tuple(map(str, query))
    opened = (open,) if isinstance(open, str) else tuple(open)
    facts = tuple(db.items()) if isinstance(db, Mapping) else db
    return FormulaEditor(Document(_draft(mln, folder, semantics), facts, asked, opened))


def compare(
    left: MLN | FormulaEditor | str | Path,
    right: MLN | FormulaEditor | str | Path,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str] | str | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the name that `infer` has
    names: Sequence[str] = ("A", "B"),
) -> Compare:
    r"""Show two models side by side: formulas added, removed and weighed otherwise, probabilities in pairs.

    The models can be given as for :func:`editor`, or as editors, which then keep their own facts and
    questions. ``left`` and ``right`` of the result are editors; ``take`` makes one like the other.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)", mln)
    >>> compare = ml.compare(mln, mln.with_weights([0.5]), db)
    >>> print(compare.difference)
    ~ Smokes(x) => Cancer(x): 1.5 -> 0.5
    >>> round(compare.contrasts[0].difference, 4)
    -0.1951
    >>> compare.take(0, into="left")
    >>> compare.left.model.weights
    [0.5]
    >>> compare.close()
    """
    if len(names) != 2:
        raise ArgumentError(
            f"names holds a name for the left and one for the right model, not {names!r:.50}."
        )
    sides = [
        given if isinstance(given, FormulaEditor) else editor(given, db, query, open=open)
        for given in (left, right)
    ]
    return Compare(sides[0], sides[1], names)


def _draft(mln: object, folder: str | Path | None, semantics: Semantics | None) -> Draft:
    match mln:
        case MLN():
            return Draft.read(
                mln.to_text(), folder=folder or "", semantics=semantics or mln.semantics, name=mln.name
            )
        case Path():
            text, problems = decoded(read_bytes(mln), str(mln))
            if problems:
                raise ArgumentError(f"{mln} cannot be edited here: {problems[0].message}.")
            place = folder or mln.parent
            return Draft.read(text, folder=place, semantics=semantics or "textbook", name=mln.name)
        case str():
            return Draft.read(mln, folder=folder or "", semantics=semantics or "textbook")
    raise ArgumentError(f"A model, its text or the path of a file is needed, not {mln!r:.50}.")
