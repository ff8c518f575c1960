"""Hard formulas, blocks, marks and false facts at once, against definitions; ties, bounds and kinks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.learning.descent.optimizer_registry import optimizers
from tests.support import oracles
from tests.support.thoroughness import sample

# A hard formula over a block and an atom, one over two blocks, and a predicate that no formula mentions.
MODEL = ml.MLN.from_text(
    """In(person, room!)
    Owns(person, pet?)
    Tall(person)
    Odd(person)
    In(x, +r) ^ Tall(x)
    Owns(x, p) => Tall(x)
    In(x, r) ^ In(y, r) ^ Owns(x, p) => Owns(y, p)
    In(x, Attic) => Tall(x).
    Owns(x, Dog) => In(x, Hall).
    """
)
PEOPLE = ("Anna", "Bob")
DOMAINS = "person = {Anna, Bob}\nroom = {Hall, Attic}\npet = {Cat, Dog}\n"
TEXTS = (
    "In(Anna, Hall) In(Bob, Attic) Owns(Anna, Dog) Tall(Bob) Odd(Anna) !Tall(Anna) !Odd(Bob) !Owns(Bob, Cat)",
    "In(Anna, Hall) In(Bob, Hall) Owns(Anna, Cat) Owns(Bob, Dog) Tall(Anna) !Owns(Anna, Dog) !In(Bob, Attic)",
    "In(Anna, Attic) In(Bob, Attic) Tall(Anna) Tall(Bob) !Owns(Bob, Dog)",
    "In(Anna, Hall) In(Bob, Hall) Tall(Bob) Owns(Bob, Cat) !Tall(Anna)",
)
DATABASES = tuple(ml.Database.from_text(DOMAINS + text.replace(") ", ")\n"), MODEL) for text in TEXTS)
WEIGHTS = (np.array([0.7, -1.2, 0.4, 1.5, 0.0, 0.0]), np.array([-0.3, 0.2, -2.0, 0.6, 0.0, 0.0]))

True_ = frozenset[tuple[str, tuple[str, ...]]]


@dataclass(frozen=True)
class Worlds:
    """The worlds that are possible beside a database, and their counts; hard formulas count nothing."""

    data: True_
    counts: dict[True_, np.ndarray]
    known: True_

    def log_share(self, kept: list[True_], weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return log P(data) among some worlds, and its derivative."""
        rows = np.array([self.counts[world] for world in kept])
        scores = rows @ weights
        shares = np.exp(scores - np.logaddexp.reduce(scores))
        own = self.counts[self.data]
        return float(own @ weights - np.logaddexp.reduce(scores)), own - shares @ rows


@cache
def worlds_of(number: int, *, evidence: bool) -> Worlds:
    """List all worlds over the constants of a database."""
    db = DATABASES[number]
    mln = MODEL.expand(db)
    known = frozenset((a.predicate, a.arguments) for a in db.atoms("false")) if evidence else frozenset()
    found = {}
    for world in oracles.all_worlds(mln.vocabulary):
        true = world.true_atoms
        keeps_rules = all(
            (("In", (p, "Attic")) not in true or ("Tall", (p,)) in true)
            and (("Owns", (p, "Dog")) not in true or ("In", (p, "Hall")) in true)
            for p in PEOPLE
        )
        if keeps_rules and not known & true:
            found[true] = np.array([*oracles.counts(mln, world)[:-2], 0.0, 0.0], float)
    return Worlds(db.world().true_atoms, found, known)


def varying(worlds: Worlds, *, weighted: bool, query: set[str]) -> list[tuple[float, list[True_]]]:
    """Return what varies alone: the share of each atom or block, and the worlds that differ in it only."""
    found = []
    for name in sorted(query):
        owners = [p for p in PEOPLE if (name, (p,)) not in worlds.known]
        for person in owners:
            rest = {atom for atom in worlds.data if (atom[0], atom[1][0]) != (name, person)}
            kept = [w for w in worlds.counts if {a for a in w if (a[0], a[1][0]) != (name, person)} == rest]
            found.append((1 / len(owners) if weighted else 1.0, kept))
    return found


EVERY = {"In", "Owns", "Tall", "Odd"}


QUERIES = [None, ["In"], ["Owns", "Tall"], ["Odd", "In"]]
CASES = [*product(["pll", "wpll", "ll"], QUERIES, [False, True])]


# Each of the values is among each fifth case.
@pytest.mark.parametrize("case", sample(CASES, 5), ids=range(len(CASES)))
def test_values_and_slopes(case: tuple[str, list[str] | None, bool]) -> None:
    method, query, evidence = case
    false_facts = "evidence" if evidence else "data"
    learner = ml.weight_learner(method, MODEL, DATABASES, query, false_facts=false_facts, prior=None)
    names = set(query or EVERY)
    for weights in WEIGHTS:
        value, slope = 0.0, np.zeros(6)
        for number in range(len(DATABASES)):
            worlds = worlds_of(number, evidence=evidence)
            if method == "ll":
                rest = {atom for atom in worlds.data if atom[0] not in names}
                shares = [(1.0, [w for w in worlds.counts if {a for a in w if a[0] not in names} == rest])]
            else:
                shares = varying(worlds, weighted=method == "wpll", query=names)
            for share, kept in shares:
                log, up = worlds.log_share(kept, weights)
                value, slope = value + share * log, slope + share * up
        moments = learner.problem.objective.moments(weights)[0]
        assert moments.value == pytest.approx(value, abs=1e-9)
        assert moments.gradient == pytest.approx(slope, abs=1e-9)
        direction = np.array([1.0, -2.0, 0.5, 1.0, 0.0, 0.0])
        up, down = (learner.problem.objective.moments(weights + s * 1e-5 * direction)[0] for s in (1, -1))
        bent = -(up.gradient - down.gradient) / 2e-5
        assert moments.curvature.times(direction) == pytest.approx(bent, abs=1e-5)
        assert moments.curvature.quadratic(direction) == pytest.approx(direction @ bent, abs=1e-5)


@pytest.mark.parametrize("method", ["pll", "ll"])
def test_blocks_run_away_too(method: str) -> None:
    """Everybody is in the hall, whatever else: no weight is large enough."""
    mln = ml.MLN.from_text("In(person, room!)\nTall(person)\nIn(x, Hall)\nTall(x)")
    db = ml.Database.from_text(
        "In(A, Hall)\nIn(B, Hall)\nTall(A)\nroom = {Attic}\nperson = {C}\nIn(C, Hall)", mln
    )
    (said,) = ml.weight_learner(method, mln, db, prior=None).remarks
    assert said.startswith("The weight of In(x, Hall) grows without end")


def test_false_facts_keep_their_constants_where_marks_bring_others_before_them() -> None:
    mln = ml.MLN.from_text("Good(page, word)\nGood(p, +w)")
    one = ml.Database.from_text("Good(P, Red)\nGood(P, Blue)", mln)
    two = ml.Database.from_text("Good(Q, Green)\n!Good(Q, Red)\n!Good(R, Green)", mln)
    for method in ("pll", "ll"):
        learner = ml.weight_learner(method, mln, [one, two], ["Good"], false_facts="evidence")
        words = [str(weighted.formula).split(", ")[1][:-1] for weighted in learner.data.formulas]
        weights = dict(zip(["Red", "Blue", "Green"], [0.3, -1.1, 2.0], strict=True))
        true = {("P", "Red"), ("P", "Blue"), ("Q", "Green")}
        asked = {(page, word) for page in "PQR" for word in weights} - {("Q", "Red"), ("R", "Green")}
        signs = [(weights[word], (page, word) in true) for page, word in asked]
        expected = -sum(np.logaddexp(0.0, -weight if holds else weight) for weight, holds in signs)
        moments, _ = learner.problem.objective.moments(np.array([weights[word] for word in words]))
        assert moments.value == pytest.approx(expected)


def test_units_are_added_for_what_is_predicted() -> None:
    mln = ml.MLN.from_text("A(t)\nB(t)\nC(t)\nA(x) => B(x)\nB(x)")
    db = ml.Database.from_text("A(1)\nB(1)\nC(2)", mln)
    for query, added in ((["A"], ["A(x1)"]), (["B"], []), (None, ["A(x1)", "C(x1)"])):
        formulas = ml.weight_learner("pll", mln, db, query, units=True).data.formulas
        assert [str(weighted.formula) for weighted in formulas[2:]] == added


# --- ties, bounds and kinks ---------------------------------------------------------------------------

PLAIN = ml.MLN.from_text("A(t)\nB(t)\nA(x)\nB(x)\nA(x) => B(x)\nA(x) ^ B(x)")
FACTS = ml.Database.from_text("A(1)\nA(2)\nB(2)\nB(3)\nB(4)\nt = {5, 6, 7}", PLAIN)


def test_ties_are_joined_to_each_other() -> None:
    for tied in ([(0, 1), (1, 2)], [(1, 2), (0, 2)], [(0, 1, 2)]):
        learner = ml.weight_learner("ll", PLAIN, FACTS, tied=tied)
        assert learner.problem.free.number == 2
        weights = ml.learn_weights(PLAIN, FACTS, "ll", tied=tied).weights
        assert weights[0] == weights[1] == weights[2] != weights[3]
    pairs = ml.weight_learner("ll", PLAIN, FACTS, tied=[(0, 1), (2, 3), (1, 3)])
    assert pairs.problem.free.number == 1


def test_tied_weights_share_their_prior_and_all_of_their_bounds() -> None:
    with pytest.raises(ArgumentError, match="tied to each other have one prior"):
        ml.weight_learner(
            "ll", PLAIN, FACTS, tied=[(0, 1)], prior=[ml.Gaussian(0, 1), ml.Gaussian(0, 2), None, None]
        )
    free = ml.weight_learner(
        "ll", PLAIN, FACTS, tied=[(0, 1)], bounds={0: (-1, 2), 1: (-3, 0.5)}
    ).problem.free
    assert (free.lower[0], free.upper[0]) == (-1.0, 0.5)
    one_number = ml.weight_learner("ll", PLAIN, FACTS, tied=[(0, 1)], bounds={0: (-1, 2), 1: (2, 3)})
    assert one_number.problem.free.upper[0] == one_number.problem.free.lower[0] == 2.0
    with pytest.raises(ArgumentError, match="leave no number for them"):
        ml.weight_learner("ll", PLAIN, FACTS, tied=[(0, 1)], bounds={0: (1, 2), 1: (-3, 0.5)})


@pytest.mark.parametrize("optimizer", [one.name for one in optimizers() if one.takes_bounds])
def test_a_bound_that_holds_a_weight_back_leaves_no_gap(optimizer: str) -> None:
    found = ml.learn_weights(
        PLAIN, FACTS, "ll", optimizer=optimizer, prior=ml.Gaussian(0, 1), bounds={1: (-0.1, 0.1)},
        iterations=600, **({"averaged": "none"} if optimizer == "gradient-descent" else {}),
    )  # fmt: skip
    assert abs(found.weights[1]) == pytest.approx(0.1)
    assert found.gap[1] == 0.0
    slope = found.observed - found.expected - found.weights
    assert abs(slope[1]) > 0.05
    assert slope[[0, 2, 3]] == pytest.approx(np.zeros(3), abs=5e-3)


@pytest.mark.parametrize("optimizer", [one.name for one in optimizers() if one.takes_kinks])
@pytest.mark.parametrize("mean", [0.0, 0.3])
def test_weights_leave_the_mean_of_a_laplace_prior_where_data_pull_harder(
    optimizer: str, mean: float
) -> None:
    """Learning begins at the kink itself."""
    prior = ml.Laplace(mean, 1.0)
    found = ml.learn_weights(
        PLAIN, FACTS, "ll", optimizer=optimizer, prior=prior, start=[mean] * 4, iterations=600,
        **({"averaged": "none"} if optimizer == "gradient-descent" else {}),
    )  # fmt: skip
    slope = found.observed - found.expected
    rests = found.weights == mean
    assert rests.any()
    assert not rests.all()
    assert (np.abs(slope[rests]) <= 1.0).all()
    assert slope[~rests] == pytest.approx(np.sign(found.weights - mean)[~rests], abs=5e-3)


def test_bounds_hold_where_they_leave_the_mean_of_a_laplace_prior_out() -> None:
    bounds = {0: (0.5, 2.0), 1: (-2.0, -0.5), 2: (-1.0, 1.0)}
    learner = ml.weight_learner(
        "ll", PLAIN, FACTS, optimizer="l-bfgs", prior=ml.Laplace(0, 1), bounds=bounds, start=[2, -2, 1, 1]
    )
    states = list(learner)
    for state in states:
        assert all(low <= state.weights[place] <= high for place, (low, high) in bounds.items())
    assert states[-1].weights[:2].tolist() == [0.5, -0.5]  # as near to the mean as they may come
