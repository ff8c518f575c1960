"""One value of every type that has a display, and values with hostile names."""

from __future__ import annotations

import tempfile
from pathlib import Path as FilePath

import mlnlab as ml
from mlnlab.errors import Diagnostic, Severity, Span
from mlnlab.experiments.studies.counting_growth import CountingGrowth, GrowthPoint
from mlnlab.experiments.studies.learning_growth import LearningGrowth, LearningPoint
from mlnlab.experiments.studies.planted_rules import PlantedPoint, PlantedRules
from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.graphs.tree_network import DecisionTree, TreeLeaf, TreeNetwork, TreeSplit
from mlnlab.learning.circuits.split_ac import SplitCircuit
from mlnlab.logic.formulas.formulas import Atom, Constant, Not
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.live import Live
from mlnlab.structure.lift.lifted_hypergraph import separate_constants
from mlnlab.structure.paths.hyperedge_paths import Path

HOSTILE = (
    "<script>alert(1)</script>",
    r"$\frac{1}{2}$",
    "\"><img src=x onerror='alert(2)'>",
    "&lt;b&gt;",
    "\u202eesrever\u2066",
    "a\x00b\x1b[31m",
    "x" * 1_000_000,
)

MODEL = """
Smokes(person)
Cancer(person)
Friends(person, person)
Likes(person, color!)
1.5 Smokes(x) => Cancer(x)
@1.1 Friends(x, y) => (Smokes(x) <=> Smokes(y))
Smokes(x) v Cancer(x)
!Friends(x, x).
"""


def model():
    return ml.MLN.from_text(MODEL)


def weighted_model():
    """The same with all weights known, and few enough worlds."""
    return ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)\n-0.2 Smokes(x)")


def hostile_model(name):
    """A model in which the name stands as a constant."""
    Smokes, Cancer = ml.predicates("Smokes(person), Cancer(person)")
    (x,) = ml.variables("x")
    return ml.MLN.from_formulas([(1.5, Smokes(x) >> Cancer(x)), (0.5, Smokes(name))])


def things(mln, db):
    """A value of every kind that a question about a small model leads to."""
    query = ["Smokes", "Cancer"]
    marginals = ml.infer(mln, db, query=query)
    open_atom = next(str(choice.atoms[0]) for choice in marginals.question.choices)
    diagnostic = Diagnostic(
        "strange", Severity.ERROR, f"about {mln.to_text()}", Span(mln.to_text(), 1, 1, 1, 3), mln.to_text(),
        mln.to_text(), mln.to_text(),
    )  # fmt: skip
    return [
        mln, mln.formulas, mln.formulas[-1], mln.formulas[-1].formula, mln.vocabulary,
        mln.vocabulary["Smokes"], db, db.world(), marginals, marginals.why(open_atom),
        marginals.sensitivities(open_atom),
        ml.map_state(mln, db, query=query), *map_things(mln, db, query), ml.log_z(mln, db),
        diagnostic, [diagnostic] * 3,
        mln.diff(mln.without(0)), ml.variables("x")[0], ml.Hypergraph.from_database(db),
        separate_constants(ml.Hypergraph.from_database(db)),
        ml.lift_graph(ml.Hypergraph.from_database(db)),
        ml.ground_network(mln, db, query), ml.network_size(mln, db, query),
        ml.ground(mln, db, query), ml.lazy_ground(mln, db, query),
        ml.calibration(marginals, db), ml.evaluate(mln, db, ["Smokes"]), validated(mln, db),
        tested(mln, db), *path_things(db), *structure_things(mln, db),
        *lifted_things(mln, db),
        *learning_things(mln, db), *count_things(mln, db), *run_things(mln, db),
        *factor_things(next(iter(mln.vocabulary.domain("person")), "thing")), *other_things(mln, db),
        *circuit_things(next(iter(mln.vocabulary.domain("person")), "thing")),
    ]  # fmt: skip


def other_things(mln, db):
    """Results that are a sentence and a table; what is in files has no strange names."""
    facts = FilePath(tempfile.mkdtemp(), "facts.csv")
    facts.write_text("a\n1\n", encoding="utf-8")
    numbered = ml.MLN.from_text("P(t)\nt = {1, 2}\n1 P(x)")
    complete = ml.Database(db.vocabulary).with_atoms({"Smokes(Bob)": True, "Cancer(Bob)": True})
    few = {"rates": [0.1], "iterations": 2, "samples": 10, "burn_in": 2}
    return [
        ml.inference_plan(mln, db, ["Smokes"]),
        ml.conditioning(mln, complete, ["Smokes"]),
        ml.tune_rate("vp", mln, complete, ["Smokes"], validation=complete, **few),
        ml.FactFiles({"P": facts}, numbered),
        ml.IncrementalCounts(mln, db),
        ml.find_paths(ml.Hypergraph.from_database(db)),
        ml.lift(numbered).compile().circuit,
        CountingGrowth((GrowthPoint("tuples", "chain", "A(x)", 10, 2, 0.1, 0.2, same=True),)),
        LearningGrowth((LearningPoint(3, 9, 2, 0.1, 0.2),)),
        PlantedRules((PlantedPoint("lhl", 0.1, 1.0, 0.1, 0.5, 0.1, 2.0),)),
    ]


def path_things(db):
    """A path of the hypergraph, where there is one, and what it looks like."""
    graph = separate_constants(ml.Hypergraph.from_database(db))
    paths = [Path(graph, (edge.number,)) for edge in graph.edges[:1]]
    return [*paths, *(path.variabilize() for path in paths)]


def validated(mln, db):
    """A cross-validation of two learners with strange names, one of which fails."""
    name = str(next(iter(mln.expand(db).vocabulary.domain("person"))))
    learners = {name: lambda given, *_: given, f"{name} (fails)": lambda *_: name}
    return ml.cross_validate(mln, {name: db, f"{name}2": db}, learners, ["Smokes"])


def tested(mln, db):
    """An evaluation of two structures with strange names, one of which fails."""
    name = str(next(iter(mln.expand(db).vocabulary.domain("person"))))
    systems = {name: mln, f"{name} (fails)": lambda *_: name}
    return ml.evaluate_structure(systems, {name: db, f"{name}2": db}, predicates=["Smokes"])


def structure_things(mln, db):
    """Learners of structure, and what they learn from facts with a strange name."""
    name = str(next(iter(mln.expand(db).vocabulary.domain("person"))))
    plain = ml.MLN.from_text("Smokes(person)\nCancer(person)\nFriends(person, person)")
    frames = {
        "Smokes": {"person": [name, "Anna", "Carl"]},
        "Cancer": {"person": [name, "Dora"]},
        "Friends": {"a": [name, "Anna", "Carl"], "b": ["Anna", "Carl", "Dora"]},
    }
    facts = ml.Database.from_frames(frames, plain)
    learner = ml.structure_learner("lhl-noheu", facts, longest=2, fraction=1.0, least_gain=0.0)
    learned = ml.learn_structure(facts, "lhl-noheu", longest=2, fraction=1.0, least_gain=0.0)
    table = ml.clause_table(learned)
    rules = ml.learn_structure(facts, "lhl-liftgraph")
    other = ml.Database.from_frames({**frames, "Cancer": {"person": [name, "Anna"]}}, plain)
    beside = ml.compare_structures({name: learned, "without": learned.without(learned.kept[0])}, other)
    return [
        learner, learned, learned.candidates, table, table.provenance(0), learned.dropped_paths(), rules,
        beside,
    ]  # fmt: skip


def lifted_things(mln, db):
    """A model that mentions a constant with a strange name, lifted and compiled."""
    name = str(next(iter(mln.expand(db).vocabulary.domain("person"))))
    (smokes,) = ml.predicates("Smokes(person)")
    x = ml.variables("x")[0]
    lifted = ml.lift(ml.MLN.from_formulas([(1.5, smokes(name) >> smokes(x))]))
    circuit = lifted.compile()
    cells = ml.lift(mln).compile(method="cells")
    (friends,) = ml.predicates("Friends(person, person)")
    y = ml.variables("y")[0]
    pairs = ml.MLN.from_formulas([(1.5, friends(x, y) >> friends(y, name))])
    classes = ml.equiprobable_classes(pairs, {"person": 10})
    return [
        lifted,
        circuit,
        cells,
        classes,
        circuit.log_z({"person": 10}),
        circuit.sweep({"person": [3, 10, 50]}),
    ]


def map_things(mln, db, query):
    """What the search for a most probable world leads to."""
    name = str(next(iter(mln.expand(db).vocabulary.domain("person"))))
    searched = ml.map_state(mln, db, query=query, method="max-walk-sat", flips=50, flips_per_state=5)
    smokes = Atom("Smokes", (Constant(name, "person"),))
    impossible = ml.conflict(mln, db, query=query, given=[smokes, Not(smokes)])
    return [searched, impossible, ml.solver("max-walk-sat", mln, db, query)]


def learning_things(mln, db):
    """A learner of weights, and what it learns from complete data."""
    complete = ml.Database(db.vocabulary).with_atoms({"Smokes(Bob)": True, "Cancer(Bob)": True})
    learner = ml.weight_learner("pll", mln, complete, prior=ml.Gaussian(0, 2))
    pair = mln.without(*range(2, len(mln.formulas))) if len(mln.formulas) > 2 else mln
    plane = ml.contours(pair, complete, prior=ml.Gaussian(0, 2), grid=7)
    posterior = ml.weight_posterior(pair, complete, prior=ml.Gaussian(0, 2), samples=8, burn_in=2)
    learned = ml.learn_weights(mln, complete, prior=ml.Gaussian(0, 2))
    errors = learned.standard_errors(samples=5)
    compared = ml.compare_gradients(pair, complete, [0.0] * len(pair.formulas))
    sizes = {type_: len(domain) for type_, domain in complete.vocabulary.types.items()}
    moved = ml.transfer(learned, {type_: size + 1 for type_, size in sizes.items()})
    wrong = ml.counting_error(pair, complete, ["Smokes"], draws=3)
    return [learner, learned, errors, learned.condition(), plane, posterior, compared, moved, wrong]


def count_things(mln, db):
    """What counting the first formula leads to."""
    found = ml.groundings(mln, db)
    every = ml.deltas(mln, db)
    changes = every["Smokes"]
    steps = ml.counting_steps(mln, db)
    flips = [next(iter(db.world().true_atoms))]
    messages = [ml.counting_steps(mln, db, method="ijgp", flips=atoms) for atoms in ([], flips)]
    return [
        ml.count(mln, db), found, found.plan, found.why, found.network, changes, changes.merged(), steps,
        every, *messages, ml.count_estimates(mln, db), ml.counting_plan(mln, db),
    ]  # fmt: skip


def factor_things(name):
    """A Bayesian network, whose variables and values have a strange name, and what it leads to."""
    child, parent = ml.RandomVariable(name, ("no", name)), ml.RandomVariable(f"{name}2", (name, "other"))
    tables = [
        ml.ConditionalTable(parent, (), [0.5, 0.5]),
        ml.ConditionalTable(child, (parent,), [[1, 0], [0.3, 0.7]]),
    ]
    network = ml.BayesianNetwork(tables, name)
    graph = network.to_factor_graph()
    tree = ml.junction_tree(graph)
    known = tree.calibrated({name: "no"})
    return [
        network, tables[1], graph, graph.factors[1], tree, tree.passing({f"{name}2": "other"}), known,
        known.marginals, known.most_probable(), ml.elimination_order(graph), ml.treewidth(graph),
        ml.variable_elimination(graph, name), graph.given({name: "no"}),
        ml.marginals(graph, {name: "no"}), ml.marginals(graph, {f"{name}2": "other"}, method="gibbs"),
        *(
            ml.marginal_steps(graph, method=word)
            for word in ("gibbs", "belief-propagation", "mean-field", "structured-mean-field")
        ),
    ]  # fmt: skip


def circuit_things(name):
    """A table of data whose variables and values have strange names, a network of trees, and circuits."""
    parent, child = ml.RandomVariable(name, ("no", name)), ml.RandomVariable(f"{name}2", (name, "other"))
    table = DataTable((parent, child), [[0, 1], [1, 0], [1, -1]])
    leaf, other = TreeLeaf((0.5, 0.5)), TreeLeaf((0.1, 0.9))
    trees = DecisionTree((leaf,)), DecisionTree((TreeSplit(0, (1, 2)), leaf, other))
    split = SplitCircuit(table.variables)
    split.split(1, 0)
    rows = DataTable(table.variables, [[0, 0], [1, 1]] * 20)
    return [
        table, TreeNetwork(table.variables, trees), split.freeze([(0.5, 0.5)] * 3),
        ml.circuit_learner(rows), ml.learn_circuit(rows, rows, progress=False), ml.network_learner(rows),
        ml.learn_network(rows, progress=False),
    ]  # fmt: skip


def run_things(mln, db):
    """Runs of a sampler, recorded, compared, live, and a step of one; their watches have strange names."""
    name = next(iter(mln.vocabulary.domain("person")), "watch")
    sampler = ml.sampler("gibbs", mln, db, ["Smokes", "Cancer"], samples=40, sweeps_per_state=20, chains=2)
    trace, other = (ml.Trace.of(sampler, watches={name: lambda state: state.sweeps}) for _ in range(2))
    live = Live(sampler, [Trace()])
    live.stop()
    curve = ml.LearningCurve.from_traces({name: trace, "other": other}, "log_weight")
    return [sampler, trace, ml.compare_traces(trace, other), curve, trace[3], live]


def hostile_things(name):
    mln = hostile_model(name)
    db = ml.Database.from_frames({"Smokes": {"person": [name, "Anna"]}, "Cancer": {"person": [name]}}, mln)
    return things(mln, db.with_atoms({"Cancer(Bob)": None, "Smokes(Bob)": 0.7}))
