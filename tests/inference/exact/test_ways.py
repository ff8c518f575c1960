"""Lifting is tried before anything is refused, and refusals name the methods that answer, and no others."""

from __future__ import annotations

import random
import re
import warnings

import pytest

import mlnlab as ml
from mlnlab.grounding.question.question import opening
from mlnlab.inference.ask.answering_methods import ways_to_answer
from mlnlab.inference.exact import lifted_trials
from mlnlab.inference.exact.lifted_trials import trial_of
from mlnlab.inference.method import LOG_Z, MARGINALS, MOST_PROBABLE
from mlnlab.inference.method_registry import methods
from mlnlab.inference.methods import lifted
from mlnlab.lifted.ask.cell_theory import CellTheory
from mlnlab.lifted.cells import cell_sums
from mlnlab.lifted.cells.cell_problems import Problem
from mlnlab.lifted.cells.cell_sums import MOST_CLIMBING
from mlnlab.lifted.compile.compiling import Compilation, work_of
from mlnlab.steps import budget

PEOPLE = "Friends(person, person)\nSmokes(person)\n1 Friends(x, y) ^ Smokes(x) => Smokes(y)\n-0.5 Smokes(x)"
TRANSITIVE = "F(e, e)\nS(e)\n1 F(x, y) ^ F(y, z) => F(x, z)\n0.5 S(x)"
IMPLICATION = "S(e)\nC(e)\n1.2 S(x) => C(x)\nS(x) ^ C(y) => C(x)."
EXISTS = "F(e, e)\nS(e)\n1 S(x) => EXIST y F(x, y)\n0.3 F(x, y) ^ S(x) => S(y)\n0.2 F(x, y) ^ F(y, x)"
QUICK = {"samples": 40, "burn_in": 5, "chains": 2, "flips": 500, "sweeps": 50}


def two_variable_model(seed, clauses=50):
    """Many clauses over at most two variables, whose circuit would take minutes to compile."""
    draw = random.Random(seed)
    atoms = ["U(x)", "U(y)", "V(x)", "V(y)", "B(x, y)", "B(y, x)"]
    lines = []
    for _ in range(clauses):
        literals = (draw.choice(["", "!"]) + atom for atom in draw.sample(atoms, draw.randint(2, 3)))
        lines.append(f"{draw.uniform(-1, 1):.2f} " + " v ".join(literals))
    return ml.MLN.from_text("\n".join(["U(e)", "V(e)", "B(e, e)", *lines]))


def answer_alike(first, second):
    assert dict(first) == pytest.approx(dict(second), abs=1e-8)
    assert first.log_z == pytest.approx(second.log_z, rel=1e-9)
    assert first.expected_counts == pytest.approx(second.expected_counts, rel=1e-7, abs=1e-7)


def test_what_lifting_answers_at_once_is_not_refused():
    mln = ml.MLN.from_text(PEOPLE)
    assert ml.inference_plan(mln, {"person": 1_000}, query=["Smokes"]).method == "lifted"
    found = ml.infer(mln, {"person": 1_000}, query=["Smokes"])
    assert found.method == "lifted"
    assert len(found) == 1_000
    assert found["Smokes(Person7)"] == ml.lift(mln).compile().marginal("Smokes(x)", {"person": 1_000})
    for size in (8, 20, 60):
        known = ml.lift(ml.MLN.from_text(EXISTS)).compile(method="cells").log_z({"e": min(size, 8)})
        log_z = ml.log_z(ml.MLN.from_text(EXISTS), {"e": size})
        assert size > 8 or log_z.value == pytest.approx(known.value, rel=1e-9)
        assert log_z.method in {"lifted", "junction-tree"}


@pytest.mark.parametrize("seed", range(3))
def test_theories_of_many_clauses_are_counted_by_cells(seed):
    mln = two_variable_model(seed)
    assert ml.log_z(mln, {"e": 2}).value == pytest.approx(ml.log_z(mln, {"e": 2}, method="lifted").value)
    found = ml.log_z(mln, {"e": 58})
    assert found.method == "lifted"
    assert isinstance(trial_of(mln.with_domains({"e": 58})).compiled, CellTheory)
    assert ml.infer(mln, {"e": 58}, ["U", "B(E1, E2)"]).log_z == pytest.approx(found.value)


def test_cells_are_taken_where_sums_are_long():
    mln = ml.MLN.from_text("R(e, e)\nS(e)\nT(e)\n1 R(x, y) ^ S(x) => S(y)\n0.4 R(x, y) ^ T(x) => T(y)")
    trials = {size: trial_of(mln.with_domains({"e": size})) for size in (10, 30_000)}
    assert not isinstance(trials[10].compiled, CellTheory)
    assert isinstance(trials[30_000].compiled, CellTheory)
    assert trials[30_000].seconds < 60
    both = [ml.lift(mln).compile(method=method).log_z({"e": 40}).value for method in ("rules", "cells")]
    assert both[0] == pytest.approx(both[1])


@pytest.mark.parametrize("by", ["circuit", "cells"])
@pytest.mark.parametrize("text", [PEOPLE, EXISTS, IMPLICATION, "*S(e)\nP(e, e!)\n0.5 S(x)\n1 P(x, y) ^ S(y)"])
@pytest.mark.parametrize("listing", [20_000, 0])
def test_lifted_answers_are_those_of_enumeration(by, text, listing, monkeypatch):
    """By circuits and by cells; with all open atoms listed, or none of predicates that no fact needs."""
    monkeypatch.setattr(lifted, "MOST_LISTED", listing)
    if by == "cells":
        monkeypatch.setattr(lifted_trials, "_circuit", lambda _: None)
    mln = ml.MLN.from_text(text)
    (type_,) = mln.vocabulary.types
    last = [*mln.vocabulary.predicates][-1]
    for domains in ({type_: 2}, {type_: 3}):
        exact, found = (ml.infer(mln, domains, method=name) for name in ("enumeration", "lifted"))
        answer_alike(found, exact)
        assert found.number_of_worlds == pytest.approx(exact.number_of_worlds)
    names = {p.name: p for p in mln.vocabulary.predicates.values() if not p.exclusive}
    facts = [
        f"{sign}{name}({', '.join('AB'[: p.arity])})"
        for (name, p), sign in zip(names.items(), "! ", strict=False)
    ]
    db = ml.Database.from_text(f"{type_} = {{A, B, C}}\n" + "\n".join(facts), mln)
    for opened in ((), (last,)) if last in names else ((last,),):
        asked = {"query": [*mln.vocabulary.predicates][:1], "open": opened, "given": ()}
        answer_alike(*(ml.infer(mln, db, **asked, method=name) for name in ("lifted", "enumeration")))


def test_a_trial_is_bounded_by_its_work(monkeypatch):
    """However large a theory is, no more of it is compiled than the budget allows."""
    work = []
    defined = Compilation.define_theory

    def watched(compilation, theory, *rest):
        work.append(work_of(theory))
        return defined(compilation, theory, *rest)

    monkeypatch.setattr(Compilation, "define_theory", watched)
    assert trial_of(two_variable_model(1, 20).with_domains({"e": 50}), by_cells=False) is None
    assert 0 < sum(work) <= budget.MOST_TRIED_CLAUSES


def cyclic_model(number):
    """Predicates of one argument, each tied to the next one: 2 to their number kinds of elements."""
    declared = "".join(f"U{n}(e)\n" for n in range(number))
    rules = (f"{0.02 * (n + 1):.2f} U{n}(x) ^ U{(n + 1) % number}(y)" for n in range(number))
    return ml.MLN.from_text(declared + "\n".join(rules))


@pytest.mark.parametrize(("kinds", "size"), [(64, 100), (64, 30_000), (32, 1_000), (16, 100)])
def test_the_estimate_of_a_sum_over_cells_is_bounded_by_its_work(kinds, size, monkeypatch):
    """Neither climbing nor bounding goes on for longer where there are more kinds, or more elements."""
    spent = []
    terms, bounds = Problem.terms, cell_sums.bounds_of

    def counted(problem, e):
        spent.append(len(e) * problem.work_of_a_term)
        return terms(problem, e)

    def bounded(problem, boxes):
        spent.append(len(boxes.corners) * problem.work_of_a_box)
        return bounds(problem, boxes)

    mln = cyclic_model(kinds.bit_length() - 1).with_domains({"e": size})
    monkeypatch.setattr(lifted_trials, "_circuit", lambda _: None)
    monkeypatch.setattr(Problem, "terms", counted)
    monkeypatch.setattr(cell_sums, "bounds_of", bounded)
    trial = trial_of(mln)
    assert 0 < sum(spent) < 1.5 * budget.MOST_BOUNDING
    if trial is not None:  # what is foretold is what is added
        spent.clear()
        trial.compiled.sum_cells(None, expectations=False)
        told = (trial.seconds - budget.LIFTING.cells) / budget.LIFTING.product
        assert sum(spent) < told + 2 * MOST_CLIMBING


def named_in(refusal):
    """The methods that a refusal says would answer, in its order."""
    found = [re.match(r'method="([\w-]+)" would answer, in about ', way) for way in refusal.remedies]
    return [match.group(1) for match in found if match is not None]


def quick(name):
    method = next(one for one in methods() if one.name == name)
    return {option: value for option, value in QUICK.items() if method.knows(option)}


@pytest.mark.parametrize(("text", "size"), [(TRANSITIVE, 10), (IMPLICATION, 30), (EXISTS, 6), (PEOPLE, 9)])
def test_all_that_a_refusal_names_answers_and_nothing_else_is_named(text, size):
    mln = ml.MLN.from_text(text)
    (type_,) = mln.vocabulary.types
    sizes, query = {type_: size}, [[*mln.vocabulary.predicates][1]]
    asks = {
        MARGINALS: lambda method, **options: ml.infer(mln, sizes, query, method=method, **options),
        LOG_Z: lambda method: ml.log_z(mln, sizes, method=method),
        MOST_PROBABLE: lambda method, **options: ml.map_state(mln, sizes, query, method=method, **options),
    }
    for kind, ask in asks.items():
        with pytest.raises(ml.TooLargeError) as refusal:
            ask("enumeration")
        names = named_in(refusal.value)
        asked = opening(mln, sizes, query)
        costs = [way.seconds for way in ways_to_answer(asked, kind)]
        assert costs == sorted(costs)
        assert names or kind == LOG_Z
        assert "enumeration" not in names
        others = "|".join(one.name for one in methods())
        assert not [
            way for way in refusal.value.remedies if "would answer" not in way and re.search(others, way)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in names:
                ask(name, **({} if kind == LOG_Z else quick(name)))
        if kind == LOG_Z and "junction-tree" not in names:
            with pytest.raises(ml.TooLargeError):
                ask("junction-tree")


def test_no_method_is_named_whose_floats_cannot_hold_the_weights():
    mln = ml.MLN.from_text("S(e)\nF(e, e)\n1e16 S(x)\n1 S(x) ^ F(x, y) => S(y)")
    for ask in (ml.infer, ml.log_z, ml.map_state):
        with pytest.raises(ml.TooLargeError) as refusal:
            ask(mln, {"e": 12}, method="enumeration")
        names = named_in(refusal.value)
        assert not {"junction-tree", "belief-propagation", "lifted-belief-propagation", "icm"} & set(names)
        assert ("lifted" in names) == (ask is not ml.map_state)


def test_lifted_is_among_the_methods_that_there_are():
    mln = ml.MLN.from_text(PEOPLE)
    for ask in (ml.infer, ml.log_z):
        with pytest.raises(ml.ArgumentError, match=r"did you mean lifted\?") as misspelt:
            ask(mln, {"person": 2}, method="liftd")
        assert "junction-tree, " in str(misspelt.value)
    with pytest.raises(ml.ArgumentError, match=r"for marginals there is: .*lifted, "):
        ml.infer(mln, {"person": 2}, method="rc2")
    view = ml.explore(mln, {"person": 30}, query=["Smokes"])
    try:
        assert view.wait()
        assert view.marginals.method == "lifted"
        assert "lifted" in str(view.scene)
        assert "enumeration" not in view._methods
    finally:
        view.close()
