"""The short ways in: files by path, predicates by declaration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, overload

from mlnlab.errors import ArgumentError, require
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN, Semantics

if TYPE_CHECKING:
    from mlnlab.logic.vocabulary import Predicate, Vocabulary
    from mlnlab.syntax.formulas.analysis import Includes


def load(path: str | Path, *, semantics: Semantics = "textbook", includes: Includes = "below") -> MLN:
    """Read a ``.mln`` file; the files that it includes are read with it.

    These lie below its folder; with ``includes="anywhere"`` they may lie elsewhere, too.

    >>> import mlnlab as ml
    >>> ml.load(ml.sample("karate_club").mln_path)
    <MLN karate_club.mln: 2 formulas over 2 predicates>
    """
    return MLN.load(path, semantics=semantics, includes=includes)


@overload
def load_db(path: str | Path, mln: MLN | Vocabulary, *, functions: str | Path | None = None) -> Database: ...
@overload
def load_db(path: list[str | Path], mln: MLN | Vocabulary) -> list[Database]: ...
def load_db(
    path: str | Path | list[str | Path], mln: MLN | Vocabulary, *, functions: str | Path | None = None
) -> Database | list[Database]:
    """Read a ``.db`` file; of a list of files each is a database of its own.

    ``functions`` names the ``.func`` file of a single database, where Alchemy keeps values of functions.

    >>> import mlnlab as ml
    >>> university = ml.sample("university")
    >>> paths = sorted(university.folder.glob("*.db"))
    >>> len(ml.load_db(paths, university.mln))
    5
    """
    if isinstance(path, str | Path):
        return Database.load(path, mln, functions=functions)
    return [Database.load(one, mln) for one in path]


def predicates(declarations: str) -> tuple[Predicate, ...]:
    """Return the predicates of some declarations, to build formulas with.

    >>> import mlnlab as ml
    >>> Smokes, Friends = ml.predicates("Smokes(person), Friends(person, person)")
    >>> x, y = ml.variables("x y")
    >>> mln = ml.MLN.from_formulas([(1.5, (Smokes(x) & Friends(x, y)) >> Smokes(y))])
    >>> print(mln.to_text().splitlines()[-1])
    1.5 Smokes(x) ^ Friends(x, y) => Smokes(y)
    """
    require(declarations, str, "Declarations are a text, such as 'Smokes(person), Friends(person, person)'")
    lines = declarations.replace(";", "\n").replace("),", ")\n")
    vocabulary = MLN.from_text(lines).vocabulary
    if not vocabulary.predicates:
        raise ArgumentError("Declarations look like: Smokes(person), Friends(person, person).")
    return tuple(vocabulary.predicates.values())
