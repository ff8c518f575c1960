"""How Alchemy's semantics divides a weight, also where parts of a formula are always true or always false."""

from __future__ import annotations

from itertools import product

import pytest
from scipy.special import logsumexp

import mlnlab as ml
from mlnlab.logic.formulas.ground_atoms import GroundAtom

HEAD = "R(t)\nS(p)\n"
SIZES = {"t": 2, "p": 2}


def clauses(formula, sizes=SIZES):
    expanded = ml.MLN.from_text(HEAD + formula, semantics="alchemy").expand(sizes)
    return [(one.weight.value, str(one.formula)) for one in expanded.formulas]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("1.1 R(y) <=> S(p)", [(0.55, "!R(y) v S(p)"), (0.55, "R(y) v !S(p)")]),
        ("3 R(y) ^ S(p)", [(1.5, "R(y)"), (1.5, "S(p)")]),
        # A part that is always true takes no share, where Alchemy gives 2.5 to R(a1) v !R(a1).
        ("5 (R(y) v !R(y)) ^ S(p)", [(5.0, "S(p)")]),
        ("5 (R(y) <=> R(y)) v S(p)", []),
        # Alchemy 2 prints 3.33 R(a1) v !R(a1) and 1.67 R(a1) v !R(a1) v !S(a2): always true; this is false.
        ("5 !((R(y) <=> R(y)) v !S(p))", [(5.0, "⊥")]),
    ],
)
def test_the_clauses_that_share_a_weight(formula, expected):
    assert clauses(formula) == expected


def test_an_exist_is_written_out_where_the_constants_are_known():
    text = "S(p)\nR(t)\n2 R(y) v EXIST x S(x)"
    with pytest.raises(ml.ArgumentError, match="EXIST over a type without constants"):
        ml.MLN.from_text(text, semantics="alchemy").expand()
    # The model lists them itself; what R ranges over is still open.
    listed = ml.MLN.from_text("p = {A, B}\n" + text, semantics="alchemy").expand()
    assert [str(one.formula) for one in listed.formulas] == ["R(y) v S(A) v S(B)"]
    # Where sizes are given, a type without constants has none, and nobody exists.
    assert clauses("2 R(y) v EXIST x S(x)", {"t": 2, "p": 0}) == [(2.0, "R(y)")]


def test_a_contradiction_changes_no_probability_as_alchemys_tautologies_do_not():
    text = HEAD + "0.7 S(p)\n"
    plain, more = (
        ml.MLN.from_text(text + line, semantics="alchemy") for line in ("", "5 !((R(y) <=> R(y)) v !S(p))")
    )
    atoms = ["S(P1)", "R(T1)"]
    found = [ml.infer(mln, SIZES, query=["R", "S"]) for mln in (plain, more)]
    assert [found[0][atom] for atom in atoms] == pytest.approx([found[1][atom] for atom in atoms])


EMPTY = [{"t": 2, "p": 0}, {"t": 0, "p": 2}, {"t": 2, "p": 1}]
OVER_EMPTY_TYPES = (
    "1 R(x) ^ S(y)",
    "1 R(x) ^ (FORALL y S(y))",
    "1 R(x) v EXIST y S(y)",
    "1 R(x) <=> EXIST y S(y)",
    "0.3 R(x)\n0.7 FORALL y (S(y) ^ R(x))",
    "1.3 EXIST x R(x)\n0.5 FORALL y S(y)",
)


@pytest.mark.parametrize("sizes", EMPTY, ids=str)
@pytest.mark.parametrize("formulas", OVER_EMPTY_TYPES)
def test_a_type_without_constants_is_empty_for_every_question(formulas, sizes):
    """Every question is about the list that ``expand`` returns; the sum over worlds is written out here."""
    mln = ml.MLN.from_text(HEAD + formulas, semantics="alchemy")
    clauses = mln.expand(sizes)
    names = ["R", "S"]
    atoms = [GroundAtom(name, (f"{type_.upper()}{n}",)) for name, type_ in zip(names, sizes, strict=True)
             for n in range(1, sizes[type_] + 1)]  # fmt: skip
    values = []
    for truths in product((False, True), repeat=len(atoms)):
        world = ml.World(
            clauses.vocabulary, frozenset(a for a, true in zip(atoms, truths, strict=True) if true)
        )
        values.append(sum(one.weight.value * world.count(one.formula) for one in clauses.formulas))
    exact = logsumexp(values)
    for method in ("auto", "enumeration", "junction-tree", "lifted"):
        for model in (mln, clauses):
            assert ml.log_z(model, sizes, method=method).value == pytest.approx(exact, abs=1e-12)
    constants = "\n".join(
        f"{t} = {{{', '.join(f'{t.upper()}{n + 1}' for n in range(k))}}}" for t, k in sizes.items()
    )
    nothing = ml.Database.from_text(constants, mln)
    assert ml.log_likelihood(mln, nothing) == pytest.approx(values[0] - exact, abs=1e-12)
