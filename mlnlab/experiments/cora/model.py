"""The model for Cora: words tell whether fields are the same, fields whether citations are.

It follows MLN(B+C+T) of Singla and Domingos ("Entity resolution with Markov logic", ICDM 2006) with the two
changes of the thesis (section 4.3.1): rules about words that hold alike for all words, and all weights free.

- B: for each word, whether two fields both have it, or one alone, tells of their identity;
- the same, once for all words (the thesis's addition);
- C: identity of fields tells of identity of citations, and the other way round; each word of a field also
  tells of identity of the citations directly;
- T: each of the four identities is transitive.

**Reflexivity** is a hard formula, ``SameBib(b, b).``: a thing is itself in every world, and no weight should
be spent on it. **Symmetry** is no formula unless asked for. Every rule stands here in both directions, so the
model treats (a, b) and (b, a) alike and their marginals are equal; a formula that ties them would let each
be read off the other, so that pseudo-likelihood would learn nothing else, and single flips would break it.
For a joint most probable world, ``symmetry=True`` adds it as a hard formula.
"""

from __future__ import annotations

from pathlib import Path

from mlnlab.errors import ArgumentError
from mlnlab.experiments.cora.identities import FIELDS, SAME
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN

# Whether the first and the second of two fields has the word; that neither has it is the case left over.
_SIGNS = {"both": (("", ""),), "each": (("", ""), ("", "!"), ("!", ""))}


def cora_model(
    *,
    signs: str = "each",
    words: str = "by field",
    per_word: bool = True,
    word_independent: bool = True,
    transitivity: bool = True,
    symmetry: bool = False,
) -> MLN:
    """Return the model; its weights are to be learned.

    ``signs="both"`` keeps of the rules about words those where both have the word; ``"each"`` also those
    where one alone has it, as Singla and Domingos do. ``words="by field"`` gives titles, authors and venues
    words of their own, so that no rule asks for a word where it never stands; ``"shared"`` gives them one
    type, as the data declare it.
    """
    if signs not in _SIGNS:
        raise ArgumentError(f'signs is "each" or "both", not {signs!r:.60}.')
    if words not in ("by field", "shared"):
        raise ArgumentError(f'words is "by field" or "shared", not {words!r:.60}.')
    lines = [*_declarations(words == "by field"), ""]
    for field in FIELDS:
        for first, second in _SIGNS[signs]:
            lines += _word_rules(field, first, second, per_word, word_independent)
        lines += _field_rules(field)
    for name in SAME:
        lines += _identity_rules(name, transitivity, symmetry)
    return MLN.from_text("\n".join(lines) + "\n", name="cora.mln")


def _declarations(by_field: bool) -> list[str]:
    types = {field: f"{field.lower()}word" if by_field else "word" for field in FIELDS}
    return [
        *(f"{field}(bib, {field.lower()})" for field in FIELDS),
        *(f"HasWord{field}({field.lower()}, {types[field]})" for field in FIELDS),
        "SameBib(bib, bib)",
        *(f"Same{field}({field.lower()}, {field.lower()})" for field in FIELDS),
    ]


def _word_rules(field: str, first: str, second: str, per_word: bool, word_independent: bool) -> list[str]:
    """Return the rules from words to identity; ``+w`` gives each word a weight of its own."""
    shared = f"{first}HasWord{field}(f1, {{w}}) ^ {second}HasWord{field}(f2, {{w}})"
    cited = f"{field}(b1, f1) ^ {field}(b2, f2) ^ {shared}"
    rules = [f"{shared} => Same{field}(f1, f2)", f"{cited} => SameBib(b1, b2)"]
    found = [rule.format(w="+w") for rule in rules] if per_word else []
    return [*found, rules[0].format(w="w")] if word_independent else found


def _field_rules(field: str) -> list[str]:
    both = f"{field}(b1, f1) ^ {field}(b2, f2)"
    return [
        f"{both} ^ Same{field}(f1, f2) => SameBib(b1, b2)",
        f"{both} ^ SameBib(b1, b2) => Same{field}(f1, f2)",
    ]


def _identity_rules(name: str, transitivity: bool, symmetry: bool) -> list[str]:
    rules = [f"{name}(x, y)", f"{name}(x, x)."]
    rules += [f"{name}(x, y) ^ {name}(y, z) => {name}(x, z)"] if transitivity else []
    return rules + ([f"{name}(x, y) => {name}(y, x)."] if symmetry else [])


def cora_databases(folder: str | Path, mln: MLN | None = None) -> dict[str, Database]:
    """Return the splits ``cora_fold1.db`` ... of a folder, by name."""
    model = cora_model() if mln is None else mln
    files = sorted(Path(folder).glob("cora_fold*.db"))
    if not files:
        raise ArgumentError(f"There are no files cora_fold1.db ... in {folder}.")
    return {file.stem: Database.load(file, model) for file in files}
