"""Exact likelihoods by lifting: equal to enumeration on small models, to published numbers on IMDB."""

from __future__ import annotations

import random
import warnings
from math import comb, inf, isclose
from types import SimpleNamespace

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.lifted.equiprobable_classes import classes_card, classes_scene
from mlnlab.display.scene.items import Rectangle
from mlnlab.errors import ArgumentError
from mlnlab.lifted.ask.cell_likelihood import cell_likelihood
from mlnlab.lifted.ask.equiprobable_probabilities import class_probabilities
from mlnlab.lifted.ask.lifted_likelihood import lifted_likelihood
from mlnlab.lifted.circuit.equiprobable import bell, number_of_classes
from mlnlab.logic.formulas.formulas import Variable
from tests.lifted.compile.test_random_theories import random_model
from tests.support import oracles
from tests.support.thoroughness import examples

IMDB = """
actor(person)
director(person)
workedUnder(person, person)
male(person)
movie(film, person)
genre(person, type)
-3.4649031139821473 workedUnder(x, y)
0.23531366486665017 male(x)
-1.0104489225948443 movie(f, x)
-3.0392103251414024 genre(x, t)
0.4005203041319314 actor(x)
-2.120305331980837 director(x)
10.619803657317657 !workedUnder(x, y) v actor(x) v director(y)
"""
OF_FOLDS = (
    -547.863401737115,
    -563.430851340552,
    -1034.74243129392,
    -385.81264717229,
    -389.272488034434,
)
FRIENDS = "Smokes(person)\nFriends(person, person)\n"


@pytest.mark.data
@pytest.mark.filterwarnings("ignore:The weight of !workedUnder")  # where nothing breaks it
def test_imdb_folds_to_ten_digits(data_folder):
    mln = ml.MLN.from_text(IMDB)
    folder = data_folder / "imdb" / "forclift-original"
    databases = [ml.load_db(folder / f"imdb_fold{n}.db", mln) for n in range(1, 6)]
    for db, expected in zip(databases, OF_FOLDS, strict=True):
        assert ml.log_likelihood(mln, db, method="lifted") == pytest.approx(expected, rel=1e-12)
    assert ml.log_likelihood(mln, databases) == pytest.approx(sum(OF_FOLDS), rel=1e-12)
    for left_out in range(5):
        training = [db for number, db in enumerate(databases) if number != left_out]
        learned = ml.learn_weights(mln, training, "lwl", prior=None)
        assert learned.objective >= sum(OF_FOLDS) - OF_FOLDS[left_out]


def _random_database(draw, mln, sizes):
    sized = ml.MLN(mln.vocabulary_with(sizes), mln.formulas)
    atoms = oracles.all_atoms(sized.vocabulary)
    true = {str(atom): True for atom in atoms if draw.random() < 0.6}
    return ml.Database(sized.vocabulary).with_atoms(true)


@pytest.mark.random
@pytest.mark.filterwarnings("ignore:The log-likelihood is -inf")
def test_random_models_against_enumeration():
    draw, compared, impossible = random.Random(20130714), 0, 0
    for number in range(examples(40)):
        text, sizes = random_model(draw, number)
        mln = ml.MLN.from_text(text)
        db = _random_database(draw, mln, sizes)
        try:
            truth = ml.log_likelihood(mln, db, method="enumeration")
        except (ml.UnsatisfiableError, ml.TooLargeError):
            continue
        found = ml.log_likelihood(mln, db, method="lifted")
        assert found == truth or isclose(found, truth, rel_tol=1e-9, abs_tol=1e-9), text
        compared += truth > -inf
        impossible += truth == -inf
    assert compared > 8
    assert impossible


def test_a_domain_may_have_one_constant_or_none():
    mln = ml.MLN.from_text(FRIENDS + "0.7 Smokes(x) ^ Friends(x, y) => Smokes(y)\n-1 Friends(x, y)")
    for db in (ml.Database(mln.vocabulary), ml.Database.from_text("Smokes(Anna)", mln)):
        by_worlds = ml.log_likelihood(mln, db, method="enumeration")
        assert ml.log_likelihood(mln, db, method="lifted") == pytest.approx(by_worlds, abs=1e-12)


def test_what_breaks_a_hard_formula_or_a_block_is_impossible():
    mln = ml.MLN.from_text(FRIENDS + "Lives(person, house!)\n1 Smokes(x)\n!Friends(x, x).")
    house = "house = {H, I}\nLives(Anna, H)\n"
    for facts, possible in (
        (house, True),
        (house + "Friends(Anna, Anna)", False),
        (house + "Smokes(Bob)", False),
    ):
        db = ml.Database.from_text(facts, mln)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert (ml.log_likelihood(mln, db, method="lifted") > -inf) is possible
        assert [str(one.message)[:24] for one in said] == ["The log-likelihood is -i"] * (not possible)


def test_what_no_rule_lifts_is_refused_with_the_exact_alternative_where_it_fits(monkeypatch):
    """Transitivity; that it is too long to be taken apart is taken for granted, as it takes long to find."""
    from mlnlab.inference.ask import likelihoods

    def refused(*_):
        raise ml.TooLargeError("No rule lifts it.", 1.0, ["ask about smaller domains"])

    monkeypatch.setattr(likelihoods, "circuit_for", lambda *_: SimpleNamespace(unlifted=("it",)))
    monkeypatch.setattr(likelihoods, "lifted_log_likelihood", refused)
    mln = ml.MLN.from_text("Next(person, person)\n1 Next(x, y) ^ Next(y, z) => Next(x, z)")
    fits = r"a junction tree fits here, by cliques of at most \d+ variables, and is as exact: method="
    for people, said in ((3, fits), (14, "a junction tree would be too large here, too")):
        db = ml.Database.from_text(f"person = {{1, ..., {people}}}\nNext(1, 2)", mln)
        with pytest.raises(ml.TooLargeError, match=rf"No rule lifts it[\S\s]*{said}[\S\s]*smaller domains"):
            ml.log_likelihood(mln, db, method="lifted")


def test_what_is_evidence_is_refused_in_words():
    mln = ml.MLN.from_text("*" + FRIENDS.splitlines()[1] + "\nSmokes(person)\n1 Friends(x, y) => Smokes(y)")
    db = ml.Database.from_text("Friends(Anna, Bob)", mln)
    with pytest.raises(ArgumentError, match="Friends is declared closed"):
        ml.log_likelihood(mln, db, method="lifted")
    with pytest.raises(ArgumentError, match="leave query= out"):
        ml.log_likelihood(mln, db, ["Smokes"], method="lifted")


def test_nothing_cancels_where_there_are_a_thousand_million_atoms():
    """The derivative of log Z at c = 0.4, f = -4, s = -0.3 is known to 20 digits for 30,000 people."""
    mln = ml.MLN.from_text(
        FRIENDS + "0.4 !Friends(x, y) v !Smokes(x) v Smokes(y)\n-4 Friends(x, y)\n-0.3 Smokes(x)"
    )
    circuit = ml.lift(mln).compile()
    vocabulary = mln.vocabulary_with({"person": 30_000})
    found = lifted_likelihood(circuit, vocabulary, [900_000_000, 16_187_588, 0]).at(mln.weights)
    assert found.gap == pytest.approx([0.0, -0.965882402224, 0.0], abs=1e-7)
    log_z = 376334935.12602876632
    direct = 0.4 * 900_000_000 - 4 * 16_187_588 - log_z
    assert found.value == pytest.approx(direct, abs=1e-6)
    assert found.error < 1e-6


# --- equiprobable classes ----------------------------------------------------------------------------------


def test_classes_are_as_many_as_definition_2_and_proposition_2_say():
    assert [bell(n) for n in range(8)] == [1, 1, 2, 5, 15, 52, 203, 877]
    recursive = [1]
    for n in range(7):
        recursive.append(sum(comb(n, k) * recursive[k] for k in range(n + 1)))
    assert recursive == [bell(n) for n in range(8)]
    mln = ml.MLN.from_text("R(a, a, a, b, b)\nS(a, a)\n1 R(x, y, z, u, v)\n2 S(x, y) => S(y, x)\nS(x, x).")
    classes = ml.equiprobable_classes(mln)
    assert len(classes) == bell(3) * bell(2) + bell(2)
    assert [len(classes.of(n)) for n in range(3)] == [10, 2, 0]


def test_classes_are_polynomial_in_the_constants_that_are_mentioned():
    x, y, z = (Variable(name, "a") for name in "xyz")
    numbers = [number_of_classes([x, y, z], {"a": [str(n) for n in range(many)]}) for many in range(6)]
    assert numbers == [many**3 + 3 * many**2 * 1 + 3 * many * 2 + 5 for many in range(6)]
    mln = ml.MLN.from_text("S(a, a)\n1 S(x, y) => S(y, x)\n1 S(A, x)\n1 S(x, B)")
    assert [len(ml.equiprobable_classes(mln).of(n)) for n in range(3)] == [10, 3, 3]


@pytest.mark.parametrize("extra", ["", "0.9 P(A)\n-0.4 E(B, x)"])
def test_classes_partition_the_groundings_into_equally_probable_ones(extra):
    text = "P(a)\nE(a, a)\n0.8 P(x) ^ E(x, y) => P(y)\n-0.6 E(x, y)\n" + extra
    mln = ml.MLN.from_text(text)
    classes = ml.equiprobable_classes(mln, {"a": 3})
    names = {"a": tuple(classes.vocabulary.domain("a"))}
    found = {one: one.representative(names) for one in classes}
    chosen = [ground for ground in found.values() if ground is not None]
    probabilities = ml.infer(mln, {"a": 3}, query=chosen, method="enumeration")
    expected = np.zeros(len(mln.formulas))
    for one, ground in found.items():
        expected[one.number] += 0 if ground is None else one.size({"a": 3}) * probabilities[ground]
    by_circuit = ml.lift(mln).compile().expected_counts({"a": 3})
    assert expected == pytest.approx(by_circuit, abs=1e-9)  # eq. 4
    sizes = [sum(one.size({"a": n}) for one in classes) for n in (2, 3, 7)]
    free = [2, 2, *([0, 1] if extra else [])]
    assert sizes == [sum(n**k for k in free) for n in (2, 3, 7)]


def test_classes_have_probabilities_and_a_matrix():
    mln = ml.MLN.from_text(
        FRIENDS + "1.5 Smokes(x) ^ Friends(x, y) => Smokes(y)\n-1 Friends(x, y)\n2 Friends(A, x)"
    )
    classes = ml.equiprobable_classes(mln, {"person": 3})
    names = {"person": tuple(classes.vocabulary.domain("person"))}
    chosen = [one.representative(names) for one in classes]
    truth = ml.infer(mln, {"person": 3}, query=chosen, method="enumeration")
    assert class_probabilities(classes) == pytest.approx([truth[one] for one in chosen])
    scene = classes_scene(classes)
    cells = [item for item in scene.layers[0].children if isinstance(item, Rectangle)]
    looks = [item.look for item in cells]
    sizes = sorted(one.size(classes.sizes) for one in classes.of(0))
    assert sorted(looks.count(look) for look in set(looks)) == sizes == [1, 2, 2, 2, 2]
    assert looks[4] == looks[8] != looks[5] == looks[7]
    assert class_probabilities(ml.equiprobable_classes(ml.MLN.from_text(FRIENDS + "Smokes(x)"))) == (None,)


def test_sizes_that_nobody_gave_are_unknown_and_odd_numbers_are_refused():
    mln = ml.MLN.from_text(FRIENDS + "1 Smokes(x)\n2 Friends(A, x)")
    unknown, known = ml.equiprobable_classes(mln), ml.equiprobable_classes(mln, {"person": 3})
    assert "unknown without the size of person" in repr(unknown)
    assert repr(known) == "<4 equiprobable classes of 6 groundings>"
    assert unknown.to_frame()["groundings"].isna().tolist() == [one.types != () for one in unknown]
    assert "queries, one for each grounding" not in unknown.queries()
    assert known.queries(iterations=2)["queries, one for each grounding"] == 12
    assert known.queries()["compilations, Algorithm 1"] == 1 + 4  # of the model, and of it with each class
    for odd in ({"iterations": "x"}, {"iterations": -3}, {"databases": 1.5}):
        with pytest.raises(ArgumentError, match="must be a whole number of at least 0"):
            known.queries(**odd)
    for odd in (99, -1, "x"):
        with pytest.raises(ArgumentError, match="formula"):
            known.of(odd)
    assert "–" in classes_card(unknown).text()


def test_three_that_differ_differ_all():
    mln = ml.MLN.from_text("F(p, p)\n0.1 F(x, y)\n0.2 F(Anna, x)")
    said = classes_card(ml.equiprobable_classes(mln, {"p": 5})).text()
    assert "F(x, y), x, y, Anna all different" in said


def test_cells_with_signs_take_fewer_terms_in_the_same_time():
    """Exact numbers are some fifty times slower than floats, of which most terms are dropped, too."""
    friends = "S(p)\nT(p)\nF(p, p)\n0.6 F(x, y) ^ S(x) => S(y)\n0.2 T(x) ^ F(x, y)\n0.4 T(x) ^ T(y) ^ S(x)\n"
    plain, signed = (
        ml.lift(ml.MLN.from_text(friends + more)).compile(method="cells")
        for more in ("0.5 F(x, x)", "0.5 EXIST y F(x, y)")
    )
    counts, weights = np.ones(4), [0.6, 0.2, 0.4, 0.5]
    assert 10_000 < plain.terms({"p": 150}) < 20_000
    assert 10_000 < signed.terms({"p": 45}) < 20_000
    assert np.isfinite(cell_likelihood(plain, {"p": 150}, counts, seconds=1.0).value(weights))
    with pytest.raises(ml.TooLargeError, match=r"at most 1e\+04 are allowed"):
        cell_likelihood(signed, {"p": 45}, counts, seconds=1.0).at(weights)
