"""Long runs in plain Python: interrupted, the best model so far, and the same call again goes on."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError, InputError
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.structure.clauses.clause_scores import Scorer

OPTIONS = {"longest": 3, "fewest": 0, "sampled": None, "fraction": 1.0, "length_penalty": 0.001}


class Impatient:
    """Presses Ctrl-C once so many paths are judged."""

    def __init__(self, paths):
        self.paths = paths

    def on_step(self, step):
        if step.state.create is not None and step.state.create.done == self.paths:
            raise KeyboardInterrupt

    def on_end(self, last):
        pass


@pytest.fixture
def scored(monkeypatch):
    """The paths that are scored from now on."""
    found, real = [], Scorer.score_path
    monkeypatch.setattr(Scorer, "score_path", lambda self, path: found.append(path) or real(self, path))
    return found


def test_an_interrupted_call_goes_on_where_it_was_when_it_is_made_again(tmp_path, scored):
    db, path = ml.sample("department").db, tmp_path / "run.npz"
    whole = ml.learn_structure(db, **OPTIONS)
    assert len(scored) == 4
    del scored[:]
    with pytest.raises(Interrupted, match="so_far") as stopped:
        ml.learn_structure(db, checkpoint=path, observers=[Impatient(2)], **OPTIONS)
    so_far = stopped.value.so_far()
    assert 0 < len(so_far.candidates) < len(whole.candidates)
    assert ml.clause_table(so_far.with_clauses(0))[0].candidate.score  # of use like any other
    state = load_checkpoint(path).state
    del scored[:]
    resumed = ml.learn_structure(db, checkpoint=path, **OPTIONS)
    assert len(scored) == 4 - state.create.done
    assert resumed.mln.weights == pytest.approx(whole.mln.weights)
    del scored[:]
    again = ml.learn_structure(db, checkpoint=path, **OPTIONS)  # it is done already
    assert scored == []
    assert again.mln.weights == pytest.approx(whole.mln.weights)


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    db, path = ml.sample("department").db, tmp_path / "run.npz"
    ml.learn_structure(db, checkpoint=path, **OPTIONS)
    with pytest.raises(ArgumentError, match=r"other settings \(length_penalty"):
        ml.learn_structure(db, checkpoint=path, **{**OPTIONS, "length_penalty": 0.01})
    with pytest.raises(InputError, match="no folder"):
        ml.learn_structure(db, checkpoint=tmp_path / "nowhere" / "run.npz", **OPTIONS)
    state = next(s for s in ml.structure_learner("lhl", db, **OPTIONS) if s.create is not None)
    with pytest.raises(ArgumentError, match=r"other settings \(longest"):
        ml.learn_structure(db, start=state, **{**OPTIONS, "longest": 2})
    save_checkpoint(path, next(iter(ml.lift_graph(db))))
    with pytest.raises(ArgumentError, match="is not a state of lhl"):
        ml.learn_structure(db, checkpoint=path, **OPTIONS)
