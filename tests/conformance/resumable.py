"""Everything that can be resumed, by name: small runs of each, and the same with one thing different."""

from __future__ import annotations

from itertools import islice

import numpy as np

import mlnlab as ml
from mlnlab.inference.method import MARGINALS
from mlnlab.inference.networks.factor_methods import METHODS as FACTORS
from mlnlab.inference.networks.tree_gibbs import TreeGibbs, TreeGibbsParams
from mlnlab.learning.ask.steering import Change, SteeredLearner
from mlnlab.learning.studies.posterior import Params, PosteriorSampler
from mlnlab.learning.studies.race import race_of
from mlnlab.model.database.hypergraph import Hypergraph
from mlnlab.structure.clauses.clause_scores import ScoreParams
from mlnlab.structure.clauses.create_mln import CreateMLN
from mlnlab.structure.learner_registry import find_learner, learners
from mlnlab.structure.lift.lifted_hypergraph import separate_constants
from mlnlab.structure.paths.path_support import supported_paths
from tests.conformance.subjects import STEPPING, short
from tests.support.tree_networks import random_tree_network

PEOPLE = ("Anna", "Bob", "Carl", "Dora", "Emil", "Fred", "Gina")
WEIGHTS = (1.2, -0.7, 0.8)
TEXT = """
S(person)
F(person, person)
Lives(person, house!)
house = {{Hut, Inn}}
person = {{{people}}}
{0} S(x) ^ F(x,y) => S(y)
{1} F(x,y)
{2} Lives(x, Hut) <=> S(x)
0.4 EXIST y F(x,y)
EXIST x S(x).
"""


def model(people=3, weights=WEIGHTS):
    """The model over so many people."""
    return ml.MLN.from_text(TEXT.format(*weights, people=", ".join(PEOPLE[:people])))


def facts(mln):
    """A fact about somebody who is always there."""
    return ml.Database.from_text("S(Anna)", mln)


def inference_run(method, people=3, weights=WEIGHTS, **options):
    """A sampler or solver."""
    mln = model(people, weights)
    make = ml.sampler if MARGINALS in method.answers else ml.solver
    given = {f: getattr(short(method, **options), f) for f in method.params.__dataclass_fields__}
    return make(method.name, mln, facts(mln), ["S", "F", "Lives"], **given)


def factor_run(name, value=0.3, evidence=None, **options):
    """A run over a factor graph."""
    if FACTORS[name].knows("sweeps_per_state"):
        options = {"sweeps_per_state": 1} | options
    return ml.marginal_steps(ml.sample_network("greenhouse"), evidence, method=name, **options)


RUNS = {method.name: (lambda method=method, **how: inference_run(method, **how)) for method in STEPPING}
RUNS |= {f"{name} of factors": (lambda name=name, **how: factor_run(name, **how)) for name in FACTORS}


# --- learning -------------------------------------------------------------------------------------

LEARNERS = {
    "pll": {"optimizer": "newton"},
    "wpll": {"optimizer": "l-bfgs"},
    "ll": {},
    "lwl": {},
    "vp": {"flips": 1_000},
    "cd": {"batch": 1},
    "cd-pw": {"rate": 0.1},
    "dn": {},
    "scg": {},
    "pscg": {"counts": "gibbs", "chains": 2},
    "smd": {},
}


def databases(people):
    """Two databases over so many people."""
    mln = ml.MLN.from_text("S(person)\nF(person, person)\nS(x) ^ F(x,y) => S(y)\nF(x,y)\nS(x)")
    texts = ("S(Anna)\nF(Anna, Bob)\nF(Bob, Anna)", "S(Bob)\nS(Anna)\nF(Anna, Bob)")
    names = f"\nperson = {{{', '.join(PEOPLE[:people])}}}\n"
    return mln, [ml.Database.from_text(names + text, mln) for text in texts]


def learner(method, people=3, **options):
    """A weight learner."""
    mln, dbs = databases(people)
    usual = {"iterations": 8, "prior": ml.Gaussian(0, 2), **LEARNERS[method]}
    return ml.weight_learner(method, mln, dbs, **{**usual, **options})


RUNS |= {f"learning by {name}": (lambda name=name, **how: learner(name, **how)) for name in LEARNERS}
COUNTED = {"cd": {"counter": "ijgp", "i": 2, "samples": 20}, "vp": {"counter": "planned", "flips": 20}}
RUNS |= {
    f"learning by counted {name}": (lambda name=name, **how: learner(name, **{**COUNTED[name], **how}))
    for name in COUNTED
}


def posterior(people=3, **options):
    """A sampler of weights."""
    mln, dbs = databases(people)
    learner_of_all = ml.weight_learner("ll", mln, dbs, prior=ml.Gaussian(0, 1), optimizer="l-bfgs")
    *_, best = learner_of_all
    mode = learner_of_all.problem.free.parameters_of(best.answer)
    return PosteriorSampler(learner_of_all, Params(**{"samples": 8, "burn_in": 2, **options}), mode)


def race(people=3, **options):
    """Two learners against time."""
    return race_of({name: learner(name, people, **options) for name in ("dn", "cd")})


def steered(people=3, **options):
    """A learner with a frozen weight; its states name the change."""
    source = SteeredLearner(learner("dn", people, **options))
    return _After(source, lambda state: source.apply_change(state, Change("freeze", 1, 0.5, 2, 3)))


class _After:
    """A source whose own states come after something that was done by hand."""

    def __init__(self, source, change):
        self._source, self._change = source, change
        self.resume = source.resume

    def __iter__(self):
        *_, state = islice(self._source, 3)
        return self._change(state)


RUNS |= {"posterior": posterior, "race": race, "steered": steered}


# --- structure ------------------------------------------------------------------------------------

FACTS = """
Advises(Pete, Sam)
Advises(Pete, Sue)
Advises(Pam, Saul)
TAs(Sam, Logic)
TAs(Sue, Logic)
TAs(Saul, Art)
Teaches(Pete, Logic)
Teaches(Pam, Art)
"""


def university(people=3):
    """A database of so many professors more."""
    mln = ml.MLN.from_text("Advises(prof, stud)\nTAs(stud, course)\nTeaches(prof, course)")
    return ml.Database.from_text(FACTS + "".join(f"Teaches(P{n}, Logic)\n" for n in range(people)), mln)


STRUCTURE = tuple(learner.name for learner in learners())


def structure(method, people=3, **options):
    """A structure learner."""
    usual = {name: value for name, value in {"longest": 2, "fewest": 0}.items() if takes(method, name)}
    return ml.structure_learner(method, university(people), **{**usual, **options})


def takes(method, option):
    """Say whether a structure learner takes an option."""
    return option in find_learner(method).options


def create(people=3, **options):
    """CreateMLN over the paths of a database."""
    graph = separate_constants(Hypergraph.from_database(university(people)))
    paths = tuple(sorted(supported_paths([graph], 2), key=lambda path: path.length))
    return CreateMLN((university(people),), (graph,), paths, ScoreParams(**options))


RUNS |= {name: (lambda name=name, **how: structure(name, **how)) for name in STRUCTURE}
RUNS |= {
    "LiftGraph": lambda people=3, **options: ml.lift_graph(university(people), **options),
    "FindPaths": lambda people=3, **options: ml.find_paths(university(people), **{"longest": 3, **options}),
    "CreateMLN": create,
}


# --- networks -------------------------------------------------------------------------------------


def network(people=3, **options):
    """A learner of networks over rows of which there are more with more people."""
    rows = [[n & 1, n & 1 and n % 5, (n >> 1) & 1, (n >> 1) & 1, n % 3 == 0] for n in range(20 * people)]
    return ml.network_learner(rows, **{"k_p": 0.5, **options})


def circuit(people=3, **options):
    """A learner of circuits over the same rows."""
    rows = network(people).table.rows
    return ml.circuit_learner(rows, **{"k_e": 0.01, "k_p": 0.5, **options})


def tree_samples(people=3, **options):
    """Samples from a network of as many variables."""
    trees = random_tree_network(np.random.default_rng(people), variables=people + 1)
    settings = {"samples": 900, "burn_in": 150, "chains": 5, **options}
    return TreeGibbs(trees, {0: 1}, {1: 0}, TreeGibbsParams(**settings))


RUNS |= {
    "circuit": circuit,
    "greedy circuit": lambda **how: circuit(**{"method": "greedy", **how}),
    "tree gibbs": tree_samples,
    "network": network,
    "network of tables": lambda **how: network(**{"cpds": "tables", **how}),
    "spanning tree": lambda **how: network(**{"cpds": "chow-liu", **how}),
}


# --- counting -------------------------------------------------------------------------------------


def messages(people=3, flips=(), **options):
    """A count by messages, or a world whose atoms flip."""
    mln = model(people)
    formula = "S(x) ^ F(x, y) ^ F(y, z) => F(x, z)"
    return ml.counting_steps(mln, facts(mln), formula, method="ijgp", flips=flips, **{"i": 2, **options})


FLIPS = tuple(f"F({one}, {other})" for one in PEOPLE[:2] for other in PEOPLE[:3])
RUNS |= {"messages": messages, "flips": lambda **how: messages(**{"flips": FLIPS, **how})}


# --- the same with one thing different ------------------------------------------------------------

OTHER_SETTINGS = {
    "burn_in": 5, "noise": 0.3, "hottest": 3.0, "damping": 0.4, "conflicts_per_state": 2, "hard": 20.0,
    "remembered": 7, "meta_rate": 0.02, "rate": 0.2, "tolerance": 1e-3, "chains": 3,
}  # fmt: skip


def other_settings(known, number=1):
    """Return settings of which a run knows some, as many as are wanted."""
    return dict([(name, value) for name, value in OTHER_SETTINGS.items() if name in known][:number])


def _variants():
    """Yield the name of each run, what is different, and what is said of that."""
    for method in STEPPING:
        known = method.params.__dataclass_fields__
        yield method.name, {"weights": (1.2, -0.7, -3.0)}, "with other weights"
        yield method.name, {"people": 2}, "from other data"
        yield method.name, {"people": 5}, "from other data"
        if other_settings(known):
            yield method.name, other_settings(known), "with other settings"
        if "seed" in known:
            yield method.name, {"seed": 7}, "with seed 1 instead of 7"
    for name, method in FACTORS.items():
        run = f"{name} of factors"
        yield run, {"evidence": {"Wilting": "yes"}}, "from other data"
        yield run, other_settings(method.params.__dataclass_fields__), "with other settings"
        if method.knows("seed"):
            yield run, {"seed": 7}, "with seed 0 instead of 7"
    for name, usual in LEARNERS.items():
        run = f"learning by {name}"
        yield run, {"people": 4}, "from other data"
        yield run, {"prior": ml.Gaussian(0, 3)}, "with another prior"
        yield run, {"fixed": (0,)}, "with other weights to begin at, fixed, tied or bounded"
        yield run, {"seed": 7}, "with seed 0 instead of 7"
        known = learner(name).optimizer.params.__dataclass_fields__
        yield run, other_settings([n for n in known if n not in usual]), "with other settings"
    for name in STRUCTURE:
        yield name, {"people": 4}, "from other data"
        prices = [option for option in ("length_penalty", "penalty", "price") if takes(name, option)]
        yield from ((name, {option: 2.0}, "with other settings") for option in prices[:1])
        yield name, {"seed": 7}, "with seed 0 instead of 7"
    yield from (
        ("posterior", {"people": 4}, "from other data"),
        ("posterior", {"burn_in": 3}, "other settings"),
    )
    yield from (
        ("race", {"people": 4}, "The state of dn was made from other data"),
        ("race", {"seed": 7}, "seed"),
    )
    yield from (
        ("steered", {"people": 4}, "from other data"),
        ("steered", {"seed": 7}, "seed 0 instead of 7"),
    )
    yield from (("LiftGraph", {"people": 4}, "other data"), ("LiftGraph", {"penalty": 2.0}, "other settings"))
    yield from (("FindPaths", {"people": 4}, "other data"), ("FindPaths", {"longest": 2}, "other settings"))
    yield from (
        ("CreateMLN", {"people": 4}, "other data"),
        ("CreateMLN", {"fraction": 0.9}, "other settings"),
    )
    for run in ("network", "network of tables", "spanning tree"):
        yield run, {"people": 4}, "from other data"
        yield run, {"k_p": 0.25}, "with other settings"
    for run in ("circuit", "greedy circuit"):
        yield run, {"people": 4}, "from other data"
        yield run, {"k_p": 0.25}, "with other settings"
    yield from (
        ("tree gibbs", {"seed": 7}, "with seed 0 instead of 7"),
        ("tree gibbs", {"burn_in": 5}, "with other settings"),
    )
    for run in ("messages", "flips"):
        yield run, {"people": 4}, "from other data"
        yield run, {"damping": 0.4}, "with other settings"
    yield "flips", {"flips": FLIPS[1:]}, "for another question"


VARIANTS = tuple(_variants())
