"""Costs of units of work, and how much work is begun: estimates and refusals of every layer read this table.

Seconds are of one core of the machine that the benchmarks in ``tests/benchmarks`` were written on, with the
model that each was measured on; they are right within a factor of a few on others. Bytes are counted.
"""

from __future__ import annotations

from typing import NamedTuple

from mlnlab.errors import ArgumentError, count_of

# --- how much is begun ------------------------------------------------------------------------

MOST_SECONDS = 6 * 3600.0  # by ``auto`` and by learners: nobody waits longer without having said so
MOST_HOURS = 24.0  # by a method that is named
MOST_EXACT = 60.0  # seconds of exact inference that are preferred to samples
MOST_PLANNED = 50_000  # open atoms that lazy sampling lists while it is planned
BOUNDLESS = 1e18  # sweeps or chains: whole numbers may be longer than a float can be
_ETERNITY = 1e12  # hours

# Counting: seconds of all terms together and of an elimination, and rows that are made or listed.
MOST_COUNTING, MOST_ELIMINATION = 20.0, 10.0
MOST_ESTIMATED_ROWS = 1e10  # of intermediate tables: about a minute, if the estimate is right
MOST_ROWS = 40_000_000  # of one intermediate table; about 1 GB
MOST_LISTED_TUPLES = 10_000_000  # for which a quantifier's truth is looked at: about 10 seconds
MOST_ELIMINATION_CELLS = 1 << 24  # of one table: 128 MB
WORTH_COMPARING = 2e-3  # seconds from which it is asked whether elimination would be faster
MOST_JOINED_ROWS = 1e11  # that one join of DuckDB may be expected to look at: about an hour
MOST_SPREAD_ROWS = 1e9  # of DuckDB's counts after those over fewer variables were repeated for all constants
MOST_TUPLES_IN_DUCKDB = 1_000_000_000  # that it writes down for a quantifier

# Lifting: what is asked for, and what is tried though nobody asked for it by name.
MOST_LIFTED_NUMBERS, NUMBERS_PER_BALL = 5e7, 10  # in logarithms; one in balls stands for so many
MOST_EXACT_CIRCUIT, MOST_EXACT_CELLS = 1.5e13, 4e11  # terms times (bits of a number) ^ 1.35: about a minute
MOST_EXACT_CELL_TERMS = 10**7  # each takes some twenty microseconds
MOST_CELL_SUMS = 100.0  # seconds of a sum over cells, where a circuit has too many sums
MOST_NESTED = 2  # sums below each other that a circuit does as quickly as cells
MOST_TRIED_DEFINITIONS = 300  # of a circuit, after which cells are preferred
MOST_TRIED_CLAUSES = 1_000  # of all its theories, after which they are too: half a second
MOST_TRIED_FORMULAS = 60
MOST_TRIED_SYMBOLS = 6  # of one argument, whose truth values are the cells of a trial: 64 of one type
MOST_TRIED_TERMS = 300_000  # of a sum over cells whose signs cancel, so that no term is dropped
MOST_TRIED_PRODUCTS = 4e9  # of a sum over cells: some seconds
FEW_PRODUCTS, MOST_BOUNDING = 5e7, 6e8  # where bounds say that these are so few; products spent on the bounds
MOST_TRIED_BALLS = 100_000  # of a circuit that calls itself: they are counted one by one
SOON_LIFTED = 0.5  # seconds, below which cells are not tried beside a circuit

# Learning weights and structure.
MOST_LIFTED_STEP = 20.0  # seconds: some hundred steps are needed
MOST_LIKELIHOOD_CELLS = 1 << 25  # of a junction tree: a gigabyte, and a second or so at every step
MOST_PATHS = 2e9  # of hyperedges that are not lifted: some hours
MOST_SMOOTHING = 600.0  # seconds

# --- seconds ----------------------------------------------------------------------------------


class SweepSeconds(NamedTuple):
    """Seconds to begin with, of a grounding in a sweep, and of the parts of a ground model."""

    beginning: float
    grounding: float
    choice: float
    literal: float
    of_table: float  # a choice in a table's scope
    of_gate: float  # a choice that gates count


# test_plan_costs: twenty models of pairs, grids, smokers and houses.
GIBBS = SweepSeconds(2e-2, 3e-8, 2.2e-8, 1e-9, 3e-7, 1.5e-6)
MC_SAT = SweepSeconds(2e-2, 6e-8, 5e-8, 1.2e-9, 1e-8, 1e-8)
RUNGS = 6.0  # worlds of simulated tempering, for each of Gibbs sampling


class EnumerationSeconds(NamedTuple):
    """Seconds to begin with, and of each world that is visited; test_enumeration_speed."""

    beginning: float = 4e-3
    world: float = 2.5e-8


class TreeSeconds(NamedTuple):
    """Seconds of a junction tree; test_plan_costs: grids, bands, one clique of twenty, smokers, evidence."""

    beginning: float = 4e-3
    clique: float = 3e-4
    factor: float = 5e-5
    cell: float = 8e-9  # of each clique's table
    product: float = 1.2e-8  # a cell, for each factor of its clique
    passed: float = 3.5e-8  # a cell, for each neighbour below its clique but the first


class CountingSeconds(NamedTuple):
    """Seconds of a step of a plan, a row of a join, a neighbour in a kernel's loop, and a tuple listed.

    Around a cycle of plain atoms long lists are read faster than short ones: a list that is begun costs more
    than another neighbour in it.

    test_counting_speed.
    """

    node: float = 8e-6
    row: float = 4e-7
    neighbour: float = 1.5e-9
    begun: float = 6e-8
    listed_neighbour: float = 4.5e-10
    read: float = 4e-10  # a true atom
    listed: float = 4e-7  # whose quantifier's truth is looked at


class EliminationSeconds(NamedTuple):
    """Seconds of counting over full tables; test_counting_speed."""

    joint: float = 1.5e-9  # a multiplication and addition
    cell: float = 6e-9  # that is written
    step: float = 4e-5  # of any size


class LiftingSeconds(NamedTuple):
    """Seconds to compile definitions and cells, and to evaluate them; test_lifted_speed, test_cells_terms."""

    number: float = 4e-8  # in logarithms
    ball: float = 1.5e-5
    product: float = 1.5e-9  # in a sum over cells
    signed_term: float = 1e-4  # ... whose signs cancel
    definition: float = 1e-2
    cells: float = 0.1


class LearningSeconds(NamedTuple):
    """Seconds of sampled counts, and of a step beside its evaluation; test_weight_learning_speed."""

    sample: float = 3e-5  # beside its sweep
    chain: float = 2e-4  # that is taken up again
    search: float = 1e-4  # to prepare it
    step: float = 5e-4


class StructureSeconds(NamedTuple):
    """Seconds of learning structure, as measured on a fold of Cora; test_structure_speed."""

    conjunction: float = 4e-7  # for a true atom, one conjunction and one path
    path: float = 2e-4  # that is found, whether it is kept or not
    smoothed_pair: float = 8e-6  # for a merge, as pairs become fewer on the way
    clause: float = 3e-4  # that is tried beside a whole model
    atom: float = 2e-8  # of a predicate in it
    counted: float = 3.5e-3  # a clause tried in a model that is counted for it, for a database


ENUMERATION, TREE = EnumerationSeconds(), TreeSeconds()
COUNTING, ELIMINATION, LIFTING = CountingSeconds(), EliminationSeconds(), LiftingSeconds()
LEARNING, STRUCTURE = LearningSeconds(), StructureSeconds()
TALLIED = 3.0  # times as long takes a ball where theories tally their atoms
CELL_TERMS_A_SECOND, SIGNED_CELL_TERMS_A_SECOND = 5e5, 1e4  # of likelihoods by cells, with derivatives
LIFTED_TERMS_A_SECOND, SIGNED_LIFTED_TERMS_A_SECOND = 1e8, 1e5  # of likelihoods by circuits
LEAST_CLUSTERS, CLUSTER_CELL = 2e-4, 3e-9  # of counting by messages between clusters
CLUSTER_AGAIN = 0.3  # of the messages of a sweep; the others change too little to be sent
LIKELIHOOD_CELLS_A_SECOND = 4e7  # of exact likelihoods by junction trees
LIFTED_ATOM = 2e-5  # an atom that lifted inference lists and is asked about: test_lifted_speed
LAZY_BATCH, LAZY_ATOM = 4e-3, 4e-5  # grounding anew what some slices can break, for each atom that is listed
APPROXIMATION_BEGINNING, APPROXIMATION_LITERAL = 0.05, 3e-5  # over all rounds of beliefs: test_message_speed
SEARCH_BEGINNING, SEARCH_STEP = 0.05, 1.5e-6  # test_walk_sat_speed
PROOF_CONSTRAINT, PROOF_CORE, PROOF_CONFLICT = 4e-5, 1e-3, 2e-4  # of rc2: test_walk_sat_speed
LEAST_SWEEP = 1e-6  # however few atoms there are
FLIP, TRY, SWEEPS_OF_A_TRY, STATE = 4e-7, 7e-4, 5, 2e-5  # of a search, of ICM's way down, to write a state
DRAW = 1e-8  # of one random number, where MC-SAT's slices tie atoms
# Of networks, as measured on lattices and ground models: a cell that a sweep looks at, and any sweep.
NETWORK_CELL = {"gibbs": 2e-8, "mean-field": 2e-7, "belief-propagation": 1e-6}
NETWORK_TREE_CELL, LEAST_NETWORK_SWEEP = 8e-7, 5e-6

# --- bytes ------------------------------------------------------------------------------------

LEAST, ANSWER = 200_000, 400
WORLD, MOST_OF_WORLDS = 60, 27e6  # of each world of a stretch, of a stretch at most
CELL = 8
GROUND, GROUND_OF_MANY, FEW_GROUND = 1_600, 250, 20_000  # objects weigh little beside arrays where much is
OPEN_ATOM, LITERAL = 1_000, 20
SEARCHED = 2_000  # an atom or a literal of a search
CHAIN, CHAIN_OPEN, CHAIN_GROUND = 4_000, 100, 8  # a chain, for each of its atoms and clauses
NETWORK_SUMS = 360  # over a chain's samples, for each value of a variable
POSTERIOR_STATE = 1_000
LEARNING_CHAIN, LEARNING_CHOICE, LEARNING_SAMPLE = 1_000, 16, 200  # a chain, each of its choices, a sample
LEARNING_COUNT = 40  # of a formula in a sample
LIKELIHOOD_CELL = 32  # of a junction tree, with what is made of it
ROW, ELIMINATION_CELL = 25, 24  # of counting: a table's row; a cell, its product with another, and a sum
LIFTED_NUMBER = 40


def limit_seconds(most_hours: float | None, usual: float) -> float:
    """Return how many seconds of work are begun; where nobody says how many hours, as many as usual."""
    if most_hours is None:
        return usual
    given: object = most_hours
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        raise ArgumentError(f"most_hours must be a number above 0, not {most_hours!r:.60}.")
    return 3600.0 * min(most_hours, _ETERNITY)  # a whole number may be longer than a float can be


def seconds_in_words(seconds: float) -> str:
    """Return a rough duration in words."""
    if seconds < 1:
        return "a second at most"
    if seconds < 100:
        return count_of(round(seconds), "second")
    if seconds < 6_000:
        return count_of(round(seconds / 60), "minute")
    return count_of(round(seconds / 3_600), "hour")


def bytes_in_words(number: float) -> str:
    """Return a rough amount of memory in words."""
    if number < 1e9:
        return f"{max(1, round(number / 1e6)):,} MB"
    return f"{number / 1e9:,.3g} GB"
