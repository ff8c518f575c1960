"""``ml.learn_structure`` from databases to a model: variants, resumption, interruption, what is refused."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.printing import to_text
from mlnlab.steps.files.checkpoint import Checkpointer, load_checkpoint
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.structure.clauses.judged_paths import VERDICTS
from mlnlab.structure.watching.lhl_line import lhl_line
from mlnlab.structure.watching.structure_line import PhaseBegun
from tests.structure.small_databases import random_databases

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mlnlab.structure.learners.lhl import LhlState
    from mlnlab.structure.results.learned_structure import LearnedStructure

_PREDICATES = "Smokes(person)\nFriends(person, person)\nCancer(person)"
_OPTIONS: dict[str, Any] = {
    "longest": 2,
    "fraction": 1.0,
    "length_penalty": 0.001,
    "fewest": 0,
    "sampled": None,
}


def _database(seed: int = 0, people: int = 12) -> ml.Database:
    """Return a database in which most smokers, and few others, have cancer."""
    rng = np.random.default_rng(seed)
    names = [f"P{number}" for number in range(people)]
    facts = [f"Friends({a}, {b})" for a in names for b in names if rng.random() < 0.15]
    for name in names:
        smokes = rng.random() < 0.5
        facts += [f"Smokes({name})"] if smokes else []
        facts += [f"Cancer({name})"] if rng.random() < (0.9 if smokes else 0.05) else []
    return ml.Database.from_text("\n".join(facts), ml.MLN.from_text(_PREDICATES))


@pytest.fixture(scope="module")
def learned() -> LearnedStructure:
    return ml.learn_structure(_database(), **_OPTIONS)


def test_a_planted_rule_is_found_and_every_clause_has_its_provenance(learned: LearnedStructure) -> None:
    texts = [to_text(clause.formula) for clause in learned.clauses]
    assert "!Smokes(p) v Cancer(p)" in texts or "!Cancer(p) v Smokes(p)" in texts
    assert [weighted.formula for weighted in learned.mln.formulas] == [c.formula for c in learned.clauses]
    database = _database()
    for number, clause in enumerate(learned.clauses):
        if clause.candidate is None:
            assert number < 3
            continue
        assert clause.candidate.retained
        assert clause.gain > 0.001 * clause.candidate.length
        assert clause.support is not None
        assert clause.support.path == clause.candidate.path
        (atoms,) = learned.supporting_atoms(number)
        assert len(atoms) == clause.candidate.true_atoms
        assert all(str(atom) in database.to_text() for atom in atoms)
    assert len(learned.to_frame()) == len(learned.clauses)
    assert len(learned.candidates_frame()) == len(learned.candidates) == len(list(learned.candidates))
    assert learned.candidates[-1].verdict in VERDICTS
    assert learned.to_networkx().number_of_nodes() > 3


def test_weights_are_those_of_the_weight_learner_and_unit_clauses_are_an_option(
    learned: LearnedStructure,
) -> None:
    again = ml.learn_weights(learned.mln, _database(), "wpll", prior=ml.Gaussian(0, 100))
    assert learned.mln.weights == pytest.approx(again.weights.tolist(), abs=1e-4)
    bare = ml.learn_structure(_database(), **_OPTIONS, units=False)
    assert all(clause.candidate is not None for clause in bare.clauses)
    assert bare.state.assembly is not None
    assert len(bare.state.assembly.units) == 0
    value = ml.pseudo_log_likelihood(bare.mln, _database(), weighted=True)
    assert bare.state.assembly.value == pytest.approx(value, abs=1e-5)
    # On all atoms, the greedy assembly's own value is that of the model.
    value = ml.pseudo_log_likelihood(learned.mln, _database(), weighted=True)
    assert learned.state.assembly is not None
    assert learned.state.assembly.value == pytest.approx(value, abs=1e-5)


def test_what_was_learned_can_be_copied_with_its_trace(learned: LearnedStructure) -> None:
    copied = copy.deepcopy(learned)
    assert copied.mln.weights == learned.mln.weights
    assert copied.trace.indices == learned.trace.indices
    assert copied.trace is not learned.trace


def test_a_run_goes_on_from_a_checkpoint_and_scores_nothing_twice(
    learned: LearnedStructure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = ml.structure_learner("lhl", _database(), **_OPTIONS)
    states = list(learner)
    middle = next(s for s in states if s.create is not None and s.create.done == s.create.paths // 2)
    path = tmp_path / "run.npz"
    steps = [
        step
        for step in learner.steps()
        if step.state.create is None or step.state.create.done <= middle.create.done
    ]
    writer = Checkpointer(path, steps=1)
    for step in steps:
        writer.on_step(step)
    found = load_checkpoint(path).state
    scored: list[object] = []
    again = ml.structure_learner("lhl", _database(), **_OPTIONS)
    from mlnlab.structure.clauses.clause_scores import Scorer

    real = Scorer.score_path
    monkeypatch.setattr(Scorer, "score_path", lambda self, path: scored.append(path) or real(self, path))
    resumed = ml.learn_structure(_database(), start=found, **_OPTIONS)
    assert len(scored) == middle.create.paths - middle.create.done
    assert [to_text(c.formula) for c in resumed.clauses] == [to_text(c.formula) for c in learned.clauses]
    assert resumed.mln.weights == learned.mln.weights
    assert again.resume(states[-1]).__next__.__name__ == "__next__"
    assert list(again.resume(states[-1])) == []
    with pytest.raises(ArgumentError, match="from other data"):
        list(ml.structure_learner("lhl", _database(people=9), **_OPTIONS).resume(states[-1]))


class _Elsewhere:
    """An executor whose work travels as that of another process does."""

    def submit(self, function: Callable[..., Any], /, *arguments: object) -> Future[Any]:
        done: Future[Any] = Future()
        function, arguments = pickle.loads(pickle.dumps((function, arguments)))
        done.set_result(pickle.loads(pickle.dumps(function(*arguments))))
        return done


def test_an_executor_changes_nothing(learned: LearnedStructure) -> None:
    found = ml.learn_structure(_database(), executor=_Elsewhere(), **_OPTIONS)  # type: ignore[arg-type]
    assert found.mln == learned.mln
    assert [one.score for one in found.candidates] == [one.score for one in learned.candidates]
    with pytest.raises(ArgumentError, match="submit"):
        ml.learn_structure(_database(), executor=4, **_OPTIONS)  # type: ignore[arg-type]


def test_an_interrupt_keeps_the_best_model_so_far(learned: LearnedStructure) -> None:
    class Impatient:
        def on_step(self, step: Any) -> None:
            state: LhlState = step.state
            if state.create is not None and state.create.done == state.create.paths - 1:
                raise KeyboardInterrupt

        def on_end(self, last: Any) -> None:
            pass

    with pytest.raises(Interrupted, match="so_far") as stopped:
        ml.learn_structure(_database(), observers=[Impatient()], **_OPTIONS)
    so_far = stopped.value.so_far()
    assert len(so_far.candidates) < len(learned.candidates)
    assert len(so_far.clauses) >= 3
    assert stopped.value.state.create is not None


@pytest.mark.parametrize("assembly", ["l1", "l2"])
def test_assembly_of_all_clauses_at_once(assembly: str, learned: LearnedStructure) -> None:
    found = ml.learn_structure(_database(), assembly=assembly, **_OPTIONS)
    retained = [one for one in learned.candidates.retained if not one.dangling]
    if assembly == "l2":
        assert len(found.clauses) == len(retained) + 3
    else:
        assert 3 < len(found.clauses) < len(retained) + 3
    assert all(clause.weight for clause in found.clauses)


def test_dangling_variables_are_left_out_unless_wanted(learned: LearnedStructure) -> None:
    assert not any(c.candidate.dangling for c in learned.clauses if c.candidate is not None)
    found = ml.learn_structure(_database(), dangling=True, least_gain=0.0, **_OPTIONS)
    assert any(c.candidate.dangling for c in found.clauses if c.candidate is not None)


def test_variants() -> None:
    with pytest.raises(ArgumentError, match="did you mean lhl-noheu"):
        ml.learn_structure(_database(), "lhl-nohue")
    with pytest.raises(ArgumentError, match="did you mean longest"):
        ml.structure_learner("lhl", _database(), longst=3)
    with pytest.raises(ArgumentError, match="without the two heuristics"):
        ml.structure_learner("lhl-noheu", _database(), sampled=3)
    for method, option in (
        ("lhl", {"smoothing": (1, 1)}), ("lhl-findpaths", {"penalty": 2}), ("lhl-liftgraph", {"longest": 3}),
        ("lhl-liftgraph", {"signs": 3}), ("lhl-liftgraph", {"sampled": 7}),
    ):  # fmt: skip
        (word,) = option
        with pytest.raises(ArgumentError, match=f"{method} has no option {word}: .*It has: "):
            ml.structure_learner(method, _database(), **option)
    options = {name: value for name, value in _OPTIONS.items() if name not in {"fewest", "sampled"}}
    assert not np.isfinite(
        [c.near for c in ml.learn_structure(_database(), "lhl-noheu", **options).candidates]
    ).any()
    unlifted = ml.learn_structure(_database(), "lhl-findpaths", **_OPTIONS)
    assert len(unlifted.graphs[0].clusters) == len(unlifted.graphs[0].labels) > 9
    rules = ml.learn_structure([_database(), _database(1)], "lhl-liftgraph")
    assert rules.state.ended == "the databases are lifted"
    assert rules.probabilities(_database(2), ["Cancer"]) is not None  # type: ignore[attr-defined]
    assert repr(rules).startswith("<LearnedClusterRules")
    options = {"smoothing": (1.0, 2.0), "likelihood": "joint", "membership_prior": "sizes"}
    found = ml.learn_structure(_database(), "lhl-liftgraph", penalty=2, **options)
    assert vars(found.rules).items() >= options.items()  # type: ignore[attr-defined]
    with pytest.raises(ArgumentError, match="smoothing must be two numbers"):
        ml.structure_learner("lhl-liftgraph", _database(), smoothing=3)


def test_predicates_are_clustered_too_where_that_is_asked_for() -> None:
    text = "P(person)\nQ(person)\nR(person)"
    alike = _of(text, "\n".join(f"{name}(A{n})" for name in "PQ" for n in range(6)) + "\nR(B)")
    options = {name: value for name, value in _OPTIONS.items() if name != "longest"}
    for method, more in (("lhl", options), ("lhl-liftgraph", {})):
        learner = ml.structure_learner(method, alike, cluster_predicates=True, **more)
        merged = [state.lift for state in learner if state.lift is not None]
        assert len(np.unique(merged[-1].predicates)) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"longest": 0}, "longest"), ({"fraction": 0.0}, "fraction"), ({"fraction": 2}, "fraction"),
        ({"fewest": -1}, "fewest"), ({"sampled": 0}, "sampled"), ({"assembly": "all"}, "greedy, l1, l2"),
        ({"deviation": 0}, "deviation"), ({"signs": "some"}, "signs"),
    ],
)  # fmt: skip
def test_options_that_make_no_sense(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        ml.structure_learner("lhl", _database(), **options)


def _of(text: str, facts: str) -> ml.Database:
    return ml.Database.from_text(facts, ml.MLN.from_text(text))


def test_databases_that_structure_cannot_be_learned_from() -> None:
    for given, words in (
        ([], "Structure is learned from data"),
        ("smokes.db", "Structure is learned from data"),
        (_of(_PREDICATES, ""), "has a true atom"),
        (_of(_PREDICATES, "?Smokes(Anna)\nCancer(Bob)"), "as unknown"),
        (_of("In(person, room!)", "In(Anna, Kitchen)"), "In\\(person, room\\)"),
        ([_database(), _of("Smokes(person)", "Smokes(Anna)")], "declares no predicate"),
        ([_of("Smokes(person)", "Smokes(Anna)"), _of("Smokes(cat)", "Smokes(Tom)")], "over the same"),
    ):
        with pytest.raises(ArgumentError, match=words):
            ml.structure_learner("lhl", given)


def test_odd_data_are_learned_from() -> None:
    one = _of("Smokes(person)\nLikes(person, thing)", "Smokes(Anna)\nLikes(Anna, Tea)")
    always = _of(_PREDICATES, "Smokes(A)\nSmokes(B)\nFriends(A, B)")  # and nobody has Cancer
    lacking = _of(_PREDICATES, "Friends(A, B)\nCancer(A)")
    for given in (one, [always, lacking]):
        found = ml.learn_structure(given, **_OPTIONS)
        assert np.isfinite([clause.weight for clause in found.clauses]).all()


def test_the_line_of_a_terminal_says_how_far_it_is(learned: LearnedStructure) -> None:
    states = list(ml.structure_learner("lhl", random_databases(1, 1), **_OPTIONS))
    creating = next(state for state in states if state.create is not None and state.create.done == 2)
    line = lhl_line("lhl", 6.0, creating, PhaseBegun(4.0, 0, 0))
    assert "creating clauses" in line
    assert f"{creating.create.candidates} candidates" in line  # type: ignore[union-attr]
    assert f"{creating.create.candidates / 2:,.0f}/s" in line  # type: ignore[union-attr]
    assert f"{creating.create.paths - 2} s left" in line  # type: ignore[union-attr]
    assert "WPLL" in lhl_line("lhl", 6.0, states[-1], PhaseBegun(4.0, 0, 0))
    assert "lifted" in lhl_line("lhl", 6.0, states[0], PhaseBegun(0.0, 0, 0))
