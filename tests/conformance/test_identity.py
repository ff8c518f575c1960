"""A state belongs to one run: whatever is different gets a sentence, and nothing from outside ends a process.

What can be resumed is listed in ``resumable.py``; methods of inference and structure by their registries.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError, InputError
from mlnlab.inference.methods.gibbs import GibbsState
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.run_identity import OfRun, RunIdentity, digest
from mlnlab.steps.state_layout import list_declarations
from mlnlab.steps.values import array_text, encoding
from mlnlab.steps.values.sameness import differing_parts, same_state
from tests.conformance.resumable import RUNS, VARIANTS, facts, inference_run, model
from tests.conformance.subjects import STEPPING
from tests.support.patience import PATIENCE

each_run = pytest.mark.parametrize("name", RUNS)


@cache
def states_of(name):
    """Some states of a run."""
    return tuple(islice(RUNS[name](), 6))


def refused(source, state, words):
    """Say whether a source refuses a state in these words, before it does anything."""
    with pytest.raises(ArgumentError, match=words):
        source.resume(state)
    return True


# --- whose state it is -------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "different", "words"), VARIANTS, ids=lambda one: str(one)[:40])
def test_a_state_of_another_run_is_refused(name, different, words, tmp_path):
    state = states_of(name)[2]
    save_checkpoint(tmp_path / "state.npz", state)
    for known in (state, load_checkpoint(tmp_path / "state.npz").state):
        assert refused(RUNS[name](**different), known, words)


@each_run
def test_a_state_of_another_kind_is_refused(name):
    others = [other for other in RUNS if type(states_of(other)[0]) is not type(states_of(name)[0])]
    source = RUNS[name]()
    for other in (states_of(others[0])[0], states_of(others[-1])[0], "state", 3, (1, 2)):
        assert refused(source, other, "is not a state of")


READING = """
import sys
from mlnlab.steps.files.checkpoint import load_checkpoint
assert not any(name.startswith("mlnlab.structure") for name in sys.modules)
for path in sys.argv[1:]:
    print(type(load_checkpoint(path).state).__name__)
"""


def test_a_fresh_process_knows_the_states_of_all_runs(repository, tmp_path):
    """Nothing is imported there but what reads files."""
    states = [states_of(name)[0] for name in RUNS]
    paths = [tmp_path / f"{number}.npz" for number in range(len(states))]
    for path, state in zip(paths, states, strict=True):
        save_checkpoint(path, state)
    done = subprocess.run(
        [sys.executable, "-c", READING, *map(str, paths)], check=False, cwd=repository, capture_output=True,
        text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.stdout.split() == [type(state).__name__ for state in states], done.stderr


def test_a_state_of_another_method_is_called_so():
    with pytest.raises(ArgumentError, match=r"is not a state of lhl: it was made by gibbs\. Go on with that"):
        RUNS["lhl"]().resume(states_of("gibbs")[0])


LOOKING = [name for name in RUNS if hasattr(RUNS[name](), "marginals") or hasattr(RUNS[name](), "map_state")]


@pytest.mark.parametrize("name", LOOKING)
def test_looking_at_a_state_of_another_run_gets_a_sentence(name):
    source = RUNS[name]()
    look = getattr(source, "marginals", None) or source.map_state
    other = next(one for one in RUNS if type(states_of(one)[0]) is not type(states_of(name)[0]))
    with pytest.raises(ArgumentError, match="is not a state of"):
        look(states_of(other)[0])
    different = next(variant for run, variant, _ in VARIANTS if run == name)
    with pytest.raises(ArgumentError, match="was made"):
        look(next(iter(RUNS[name](**different))))
    assert look(replace(states_of(name)[-1], identity=None))  # it may be old, and is looked at all the same


def test_the_best_world_of_a_forged_state_never_reaches_a_kernel():
    solver = RUNS["max-walk-sat"]()
    state = states_of("max-walk-sat")[-1]
    for best in (state.best[:-1], state.best + np.uint32(2**31), state.best.astype(np.int64)):
        with pytest.raises(ArgumentError, match="its best"):
            solver.map_state(replace(state, best=best))


def test_other_places_that_take_states_refuse_other_kinds():
    foreign, mln = states_of("gibbs")[0], model()
    lifting = RUNS["LiftGraph"]()
    counting, other = (ml.counting_steps(mln, facts(mln), text) for text in ("S(x) ^ F(x, y)", "F(x, y)"))
    for ask in (
        lambda: lifting.lifted(foreign),
        lambda: lifting.cluster(foreign, "Sam"),
        lambda: lifting.gain(foreign, 0, 1),
        lambda: RUNS["learning by pll"]().model_at(foreign),
        lambda: counting.resume(foreign),
        lambda: counting.resume(next(iter(other))),
    ):
        with pytest.raises(ArgumentError):
            ask()


@each_run
def test_a_state_that_belongs_to_nobody_is_refused(name):
    assert refused(RUNS[name](), replace(states_of(name)[2], identity=None), "does not say which run")


@each_run
def test_an_equal_run_takes_the_state(name, tmp_path):
    states, run = states_of(name), RUNS[name]()
    save_checkpoint(tmp_path / "state.npz", states[1])
    later = list(islice(run.resume(load_checkpoint(tmp_path / "state.npz").state), len(states) - 2))
    for state, known in zip(later, states[2:], strict=True):
        assert state.identity == known.identity == states[0].identity
        parts = [one for one in differing_parts(state, known) if "seconds" not in one]
        assert not parts or name == "race", parts  # who is next in a race is a matter of clocks


def test_weights_that_were_turned_round_do_not_go_on_where_the_old_ones_were():
    """The run of the report: 0.029 where a fresh one gives 0.995."""
    options = {"samples": 200, "burn_in": 50, "seed": 1, "chains": 2}
    for name in ("gibbs", "mc-sat", "simulated-tempering"):
        old, new = (
            ml.sampler(name, ml.MLN.from_text(f"P(a)\na = {{A, B}}\n{weight} P(x)"), None, ["P"], **options)
            for weight in (-3, 3)
        )
        *_, state = old
        assert refused(new, state, "with other weights")


@pytest.mark.parametrize("people", [5, 7])
@pytest.mark.parametrize("method", STEPPING, ids=lambda method: method.name)
def test_a_state_of_six_people_never_reaches_a_kernel_of_five_or_seven(method, people):
    run = inference_run(method, people=6)
    state = list(islice(run, 2))[-1]
    other = inference_run(method, people=people)
    assert refused(other, state, "from other data")
    forged = replace(state, identity=next(iter(other)).identity)
    assert refused(other, forged, "is damaged, or was not made by this run")


@pytest.mark.parametrize("method", STEPPING, ids=lambda method: method.name)
def test_more_of_the_same_is_the_same_run(method):
    """To go further is what a state is for: how many samples or tries are asked for may differ."""
    known = method.params.__dataclass_fields__
    more = {name: 10_000 for name in ("samples", "tries", "flips", "cores") if name in known}
    if "tries" in more and method.name == "mc-sat":
        del more["tries"]  # of a component, not of the run
    if method.name == "lazy-mc-sat":
        del more["tries"]
    if not more:
        more = {"sweeps": 10_000}
    if method.name == "simulated-annealing":
        more = {"tries": 9}
    *_, last = inference_run(method)
    later = list(islice(inference_run(method, **more).resume(last), 2))
    assert later or not hasattr(last, "samples")
    assert all(state.identity == last.identity for state in later)


@each_run
def test_every_field_of_a_state_says_what_it_may_hold(name):
    for state in states_of(name):
        assert isinstance(state, OfRun)
        assert isinstance(state.identity, RunIdentity)
        assert list_declarations(type(state))


def test_everything_that_knows_its_run_is_tested():
    tested = {type(state).__qualname__ for name in RUNS for state in states_of(name)}
    assert tested == {kind.__qualname__ for kind in _kinds(OfRun) if kind.__module__.startswith("mlnlab.")}


def _kinds(kind):
    for one in kind.__subclasses__():
        yield one
        yield from _kinds(one)


def test_digests_tell_arrays_and_texts_apart():
    zeros = np.zeros(4, np.uint32)
    different = [
        ("a", "bc"),
        ("ab", "c"),
        (zeros,),
        (zeros.reshape(2, 2),),
        (zeros.astype(np.int32),),
        (b"",),
    ]
    assert len({digest(*parts) for parts in different}) == len(different)
    assert digest(zeros) == digest(np.zeros(8, np.uint32)[::2])


def test_a_file_of_an_older_version_can_be_looked_at_and_not_resumed():
    source = RUNS["gibbs"]()
    state = next(iter(source))
    tree = encoding.REGISTRY.encode_value(state, array_text.array_tree)
    del tree["fields"]["identity"]
    old = encoding.REGISTRY.decode_tree(tree)
    assert isinstance(old, GibbsState)
    assert same_state(old.chosen, state.chosen)
    assert refused(source, old, "by hand or by an older version")
    del tree["fields"]["chosen"]
    with pytest.raises(InputError, match="differs in chosen"):
        encoding.REGISTRY.decode_tree(tree)


# --- forged states -----------------------------------------------------------------------------------


def forged(repository, folder, seed, number, names=(), **environment):
    """Try forged states in a process of their own; return what it said, which is empty where all is well."""
    command = [sys.executable, "-m", "tests.conformance.forged_states", str(folder), str(seed), str(number)]
    done = subprocess.run(
        [*command, *names], check=False, cwd=repository, env={**os.environ, **environment},
        capture_output=True, text=True, timeout=60 * PATIENCE,
    )  # fmt: skip
    return "" if done.returncode == 0 else f"{done.returncode}: {done.stdout}\n{done.stderr[-1000:]}"


@pytest.mark.parametrize("environment", [{}, {"NUMBA_DISABLE_JIT": "1"}], ids=["compiled", "interpreted"])
def test_forged_states_get_a_sentence(repository, tmp_path, environment):
    """With a right checksum; compiled, as they would end a process, and in Python, which checks indices."""
    names = [name for name in RUNS if not name.startswith("lhl") or name == "lhl"]
    assert not forged(repository, tmp_path, 1, 12, names, **environment)


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(4))
def test_many_forged_states_get_a_sentence(repository, tmp_path, seed):
    assert not forged(repository, tmp_path, seed, 500)


@pytest.mark.proof
def test_many_forged_states_stay_within_the_bounds_of_arrays(repository, tmp_path):
    """Compiled with numba's own checks of every index; in a cache of their own, for they are other code."""
    checks = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert not forged(repository, tmp_path, 9, 200, **checks)
