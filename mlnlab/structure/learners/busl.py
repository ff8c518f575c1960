r"""BUSL: bottom-up structure learning from template networks (Mihalkova and Mooney 2007).

    for each predicate P, the head:
        template nodes: conjunctions of true atoms beside true groundings of P, and their Boolean table
        Markov blankets by Grow-Shrink with the χ² test, and from them the links between nodes
        each clique that contains the head: its nodes' atoms, with all signs, are candidate clauses
    all candidates, by decreasing score beside the unit clauses: kept in the model if the WPLL rises

It needs databases with some true atoms, all others false, over the same predicates without functions and
blocks; it answers a Markov logic network that models all predicates jointly. It sees no more of the data than
short chains of atoms beside a head: where rules are longer, or constants fall into groups, use LHL.

In four things the paper leaves a choice. Two nodes are linked where one is in the other's blanket. All sets
of a clique's nodes give clauses, not the whole clique alone. False groundings of the head are a sample where
there are many. A clause's score is the WPLL with it beside the unit clauses, less a price for each literal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError, count_of
from mlnlab.learning.problems.priors import Gaussian
from mlnlab.logic.checked_options import above, check_options, checked_truth, one_of, real, whole
from mlnlab.steps.run_identity import OfRun
from mlnlab.steps.state_layout import (
    REPORTED,
    TEXT,
    Elsewhere,
    Part,
    Several,
    holds,
    make_damage_error,
)
from mlnlab.steps.values.encoding import storable
from mlnlab.structure.clauses.assembly import (
    ASSEMBLING,
    AssemblyState,
    RetainedClause,
    Weighing,
    flaw_of,
    greedy_steps,
    rank_clauses,
)
from mlnlab.structure.clauses.clause_making import make_clauses
from mlnlab.structure.clauses.clause_scores import DEVIATION, PathScores, ScoreParams, Scorer
from mlnlab.structure.clauses.create_mln import scored_elsewhere
from mlnlab.structure.clauses.judged_paths import (
    BLOCKS,
    RETAINED,
    JudgedBlocks,
    JudgedPath,
    append_judged_path,
    count_judged_paths,
    flaw_of_blocks,
    judged_path,
    judged_paths,
)
from mlnlab.structure.learner_record import Chosen, Learner, Origins, StructureTask
from mlnlab.structure.paths.variabilized import PathAtom, SupportedPath, VariabilizedPath
from mlnlab.structure.templates.grow_shrink import ChiSquares
from mlnlab.structure.templates.template_networks import (
    AGREEMENTS,
    EITHER,
    Clique,
    TemplateNetwork,
    clique_paths,
    head_cliques,
    network_changes,
)
from mlnlab.structure.templates.template_nodes import TemplateNode, TemplateTables, explain_drop
from mlnlab.structure.training_checks import ScoringBudget, estimated_assembly_hours

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.logic.vocabulary import Predicate, Vocabulary

TABULATING, LINKING, TAKING, JUDGING = (
    "finding template nodes", "linking template nodes", "taking cliques", "judging clauses",
)  # fmt: skip
PHASES = (TABULATING, LINKING, TAKING, JUDGING, ASSEMBLING)
_CALLED = "The template network of this state"


@dataclass(frozen=True, slots=True)
class BuslParams:
    """The parameters of BUSL, and the choices that the paper leaves open."""

    longest: int = 6  # literals of a clause
    variables: int = 6  # of a clause
    node_atoms: int = 2  # of a template node, at most
    most_false: int = 2_000  # false groundings of a head in its table
    frequency: float = 0.01  # of the groundings, for which a node holds at least
    significance: float = 0.05  # of a χ² test
    per_cell: float = 5  # rows on average for each cell of a test
    agreement: str = EITHER  # of two nodes that are linked has the other in its blanket
    dangling: bool = True  # whether a clause may have variables that occur once
    least_weight: float = 0.01  # of a clause beside the unit clauses, whatever its sign
    length_penalty: float = 0.01  # the price of a literal
    fraction: float = 0.8  # of the ground atoms, on which clauses are scored
    deviation: float = DEVIATION  # of the prior over weights
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        checked_truth("dangling", self.dangling)
        check_options(self, longest=whole(2, 8), variables=1, node_atoms=whole(1, 3))
        check_options(self, most_false=1, agreement=one_of(AGREEMENTS), seed=0)
        check_options(self, frequency=real(0, 1), significance=above(0, 1), fraction=above(0, 1))
        check_options(self, per_cell=real(0, 1_000_000), deviation=real(1e-9, 1_000_000))
        check_options(self, least_weight=real(0, 1_000_000), length_penalty=real(0, 1_000_000_000))

    def scores(self) -> ScoreParams:
        """Return the parameters of scores; there is no second heuristic."""
        return ScoreParams(self.fraction, None, self.length_penalty, deviation=self.deviation, seed=self.seed)


@storable("busl.BuslState")
@dataclass(frozen=True, slots=True, eq=False)
class BuslState(OfRun):
    """Where BUSL is: the template networks, the clauses judged, and the model so far."""

    phase: str = field(metadata=holds(TEXT))
    # Of each head that was begun; the last one may have more links and cliques to come.
    networks: tuple[TemplateNetwork, ...] = field(default=(), metadata=holds(Several(Part(TemplateNetwork))))
    candidates: JudgedBlocks = field(default=(), metadata=holds(BLOCKS))
    without: float = field(default=nan, metadata=holds(REPORTED))  # the score of unit clauses alone
    best: float = field(default=-inf, metadata=holds(REPORTED))  # score of a retained clause, so far
    assembly: AssemblyState | None = field(default=None, metadata=holds(Elsewhere()))
    ended: str = field(default="", metadata=holds(TEXT))

    @property
    def paths(self) -> tuple[VariabilizedPath, ...]:
        """The paths of candidate clauses that cliques gave so far, each once."""
        return tuple(path for network in self.networks for one in network.cliques for path in one.paths)

    @property
    def model(self) -> tuple[RetainedClause, ...]:
        """The clauses in the model so far, with their weights there."""
        if self.assembly is None:
            return ()
        pairs = zip(self.assembly.kept, self.assembly.weights.tolist(), strict=True)
        return tuple(clause._replace(weight=weight) for clause, weight in pairs)

    @property
    def score(self) -> float:
        """The best score so far: of the unit clauses, of a retained clause beside them, or of the model."""
        value = -inf if self.assembly is None else self.assembly.value
        return nan if np.isnan(self.without) else max(self.without, self.best, value)

    def metrics(self) -> Mapping[str, float]:
        """Return how far it is, and the best score."""
        found: dict[str, float] = {
            "heads": len(self.networks),
            "template nodes": sum(len(network.nodes) for network in self.networks),
            "changes of blankets": sum(len(network.changes) for network in self.networks),
            "cliques": sum(len(network.cliques) for network in self.networks),
            "paths judged": count_judged_paths(self.candidates),
        }
        if not np.isnan(self.score):
            found["best score"] = self.score
        if self.assembly is not None:
            found.update(self.assembly.metrics())
        return found


@dataclass(frozen=True, eq=False)
class Busl:
    """BUSL over databases: a source of states, to be stepped, recorded and resumed."""

    task: StructureTask
    params: BuslParams

    @cached_property
    def heads(self) -> tuple[Predicate, ...]:
        """The predicates of which clauses are to predict atoms."""
        return tuple(one for one in self._vocabulary.predicates.values() if not one.closed)

    @cached_property
    def tables(self) -> TemplateTables:
        """The true atoms, in which template nodes are looked for."""
        return TemplateTables(self.task.databases)

    @cached_property
    def scorer(self) -> Scorer:
        """The scorer of clauses; the sample of the databases is drawn here."""
        return Scorer(self.task.databases, (), self.params.scores())

    @property
    def _vocabulary(self) -> Vocabulary:
        return self.task.databases[0].vocabulary

    def resume(self, state: BuslState | None) -> Iterator[BuslState]:
        """Yield the states that follow a state; tables are made again, scores are not."""
        if state is not None and state.ended:
            return
        if state is None:
            state = BuslState(TABULATING)
        elif state.phase in {JUDGING, ASSEMBLING}:
            self._refuse_forged_scores(state)
        for reached in self._linking(state):
            state = reached
            yield state
        for reached in self._judging(state):
            state = reached
            yield state
        yield from self._assembling(state)

    # --- template networks --------------------------------------------------------------------

    def _linking(self, state: BuslState) -> Iterator[BuslState]:
        """Yield the template nodes of each head, each change of its network, and its cliques."""
        if state.phase in {JUDGING, ASSEMBLING}:
            return
        for number in range(max(0, len(state.networks) - 1), len(self.heads)):
            network, table = self.tabulate(number)
            if number == len(state.networks):
                state = replace(state, phase=TABULATING, networks=(*state.networks, network))
                yield state
            begun = state.networks[number]
            if begun.nodes != network.nodes:
                raise make_damage_error(_CALLED, "its nodes are others")
            for reached in self._network_steps(begun, table, set(state.paths)) if not network.remark else ():
                phase = TAKING if reached.cliques else LINKING
                state = replace(state, phase=phase, networks=(*state.networks[:number], reached))
                yield state

    def tabulate(self, number: int) -> tuple[TemplateNetwork, NDArray[np.bool_]]:
        """Return the template nodes of a head, and for which of its groundings each of them holds."""
        head, params = self.heads[number], self.params
        rng = np.random.default_rng([params.seed, number])
        groundings = self.tables.draw_groundings(head, params.most_false, rng)
        rows, true = len(groundings.truths), int(groundings.truths.sum())
        own = TemplateNode((PathAtom(head.name, tuple(range(head.arity))),), true)
        columns, nodes = [groundings.truths], [own]
        for atoms in self.tables.nodes(head, params.node_atoms):
            column = self.tables.find_column(atoms, groundings)
            held = int(column.sum())
            nodes.append(TemplateNode(atoms, held, explain_drop(held, rows, params.frequency)))
            columns.append(column)
        remark = _explain_no_links(head, nodes, rows)
        return TemplateNetwork(head.name, tuple(nodes), rows, remark), np.column_stack(columns)

    def _network_steps(
        self, network: TemplateNetwork, table: NDArray[np.bool_], known: set[VariabilizedPath]
    ) -> Iterator[TemplateNetwork]:
        """Yield a network with one change or clique more; paths that are known are not given again."""
        tests, params, number = ChiSquares(table, self.params.per_cell), self.params, 0
        for number, change in enumerate(
            network_changes(network.kept, tests, params.significance, params.agreement), 1
        ):
            if number > len(network.changes):
                network = replace(network, changes=(*network.changes, change))
                yield network
            elif network.changes[number - 1] != change:
                raise make_damage_error(_CALLED, "its tests are others")
        cliques = head_cliques(network.links(params.agreement))
        begun = [clique.nodes for clique in network.cliques]
        if number != len(network.changes) or begun != list(cliques[: len(begun)]):
            raise make_damage_error(_CALLED, "its tests or cliques are others")
        for nodes in cliques[len(begun) :]:
            paths = clique_paths(
                network.nodes, nodes, params.longest, params.variables, dangling=params.dangling
            )
            new = tuple(dict.fromkeys(path for path in paths if path not in known))
            known.update(new)
            network = replace(network, cliques=(*network.cliques, Clique(nodes, new)))
            yield network

    # --- clauses ------------------------------------------------------------------------------

    def _refuse_forged_scores(self, state: BuslState) -> None:
        """Refuse a state whose scores of unit clauses, its model's or its best clause are others here."""
        judged = list(judged_paths(state.candidates))
        model = {clause.number for clause in state.model}
        if not np.isclose(state.without, self.scorer.without):
            raise make_damage_error("This state", "its score of the unit clauses is another")
        for one in judged:
            if one.number in model or state.best in one.scores.scores.tolist():
                again = self.scorer.score_path(SupportedPath(one.scores.path, (), 0))
                pairs = (again.scores, one.scores.scores), (again.weights, one.scores.weights)
                if not all(np.allclose(*pair, rtol=1e-6, atol=1e-9) for pair in pairs):
                    raise make_damage_error("This state", "its scores are not those of its clauses")

    def _judging(self, state: BuslState) -> Iterator[BuslState]:
        """Yield the verdicts on the clauses of one path after the other."""
        if state.phase == ASSEMBLING:
            return
        paths, done = state.paths, count_judged_paths(state.candidates)
        self._refuse_long_scoring(paths[done:])
        if state.phase != JUDGING:
            state = replace(state, phase=JUDGING, without=self.scorer.without)
            yield state
        for number, scores in enumerate(self._score_paths(paths[done:]), done):
            judged = judge_path(number, scores, self.scorer.without, self.params)
            kept = scores.scores[judged.verdicts == RETAINED]
            blocks = append_judged_path(state.candidates, judged)
            state = replace(state, candidates=blocks, best=float(max(state.best, *kept, -inf)))
            yield state

    def _score_paths(self, paths: tuple[VariabilizedPath, ...]) -> Iterator[PathScores]:
        """Yield the scores of each path's clauses, by other processes where there is an executor."""
        task = self.task
        supported = [SupportedPath(path, (), 0) for path in paths]
        if task.executor is None:
            return map(self.scorer.score_path, supported)
        return scored_elsewhere(task.executor, task.databases, (), self.params.scores(), supported)

    def _refuse_long_scoring(self, paths: tuple[VariabilizedPath, ...]) -> None:
        conjunctions = sum(1 << len(path.atoms) for path in paths)
        hours = ScoringBudget.of(self.task.databases, self.task.most_hours).hours(conjunctions)
        surer = f"ask for surer links: significance={self.params.significance / 10:g}"
        self._refuse_hours(hours, f"Scoring the clauses of {count_of(len(paths), 'path')}", surer)

    def _refuse_long_assembly(self, clauses: int) -> None:
        hours = estimated_assembly_hours(self.task.databases, clauses, self.params.fraction)
        price = max(0.01, 2 * self.params.length_penalty)
        fewer = f"retain fewer clauses, by a higher price: length_penalty={price:g}"
        self._refuse_hours(hours, f"Trying {count_of(clauses, 'retained clause')} in the model", fewer)

    def _refuse_hours(self, hours: float, work: str, way_out: str) -> None:
        most = self.task.most_hours
        if hours > most:
            raise TooLargeError(
                f"{work} takes some {hours:.2g} hours (the limit is {most:g}).",
                hours,
                [
                    f"take shorter clauses: longest={max(2, self.params.longest - 1)}",
                    way_out,
                    f"allow it: most_hours={np.ceil(2 * hours):g}",
                ],
            )

    def _assembling(self, state: BuslState) -> Iterator[BuslState]:
        """Yield the model with one retained clause after the other, best first."""
        clauses = rank_clauses(judged_paths(state.candidates))
        if state.assembly is not None:
            found = flaw_of(state.assembly, clauses, len(self.heads))
            if found:
                raise make_damage_error("The model of this state", found)
        self._refuse_long_assembly(len(clauses) - (0 if state.assembly is None else state.assembly.tried))
        for assembly in greedy_steps(self.scorer, clauses, None, state.assembly):
            ended = explain_end(state) if assembly.ended else ""
            yield replace(state, phase=ASSEMBLING, assembly=assembly, ended=ended)


def _explain_no_links(head: Predicate, nodes: list[TemplateNode], rows: int) -> str:
    """Return why no node can be linked to a head; empty if one may be."""
    if not nodes[0].held:
        return f"{head} has no true atom with different constants"
    if nodes[0].held == rows:
        return f"{head} is true for all of its groundings with different constants"
    if len(nodes) == 1:
        return f"no other true atom shares a constant with a true atom of {head}"
    if all(node.dropped for node in nodes[1:]):
        return f"all template nodes of {head} are dropped"
    return ""


def judge_path(number: int, scores: PathScores, without: float, params: BuslParams) -> JudgedPath:
    """Judge the clauses of a path: a clause is retained that is worth its price and has enough weight."""
    price = params.length_penalty * scores.length
    retained, reasons = [], []
    for score, weight in zip(scores.scores.tolist(), scores.weights.tolist(), strict=True):
        gain = score + price - without
        retained.append(gain > price and abs(weight) >= params.least_weight)
        if gain <= price:
            reasons.append(f"it adds {gain:.4g} to the unit clauses, and costs {price:.4g}")
        elif not retained[-1]:
            reasons.append(f"its weight {weight:.4g} is smaller than {params.least_weight:g}")
        else:
            reasons.append(f"it adds {gain:.4g} to the unit clauses, for a price of {price:.4g}")
    columns = scores.clauses.tolist(), scores.scores.tolist(), scores.weights.tolist()
    return judged_path(number, scores.path, *columns, retained, reasons)


def explain_end(state: BuslState) -> str:
    """Return how a run ended: also why it found no clauses but the unit clauses."""
    alone = "the model is the unit clauses"
    if all(len(network.nodes) == 1 for network in state.networks):
        return f"no two true atoms share a constant as a template node needs it: {alone}"
    if not any(network.cliques for network in state.networks):
        return f"no template node is linked to its head: {alone}"
    if not state.paths:
        return f"no clique gives a clause of so few literals and variables: {alone}"
    return "all retained clauses were tried"


# --- the record -----------------------------------------------------------------------------------


def _steps(task: StructureTask, params: BuslParams, start: BuslState | None) -> Iterator[BuslState]:
    return Busl(task, params).resume(start)


def _flaw(task: StructureTask, params: BuslParams, state: BuslState) -> str:
    """Return how a state from outside contradicts the data, as far as it is not compared when it goes on."""
    vocabulary, heads = task.databases[0].vocabulary, Busl(task, params).heads
    judged, paths = tuple(judged_paths(state.candidates)), state.paths
    later = state.phase in {JUDGING, ASSEMBLING}
    if state.phase not in PHASES or (later and len(state.networks) < len(heads)):
        return "its phase is unknown, or comes later"
    if [one.head for one in state.networks] != [one.name for one in heads[: len(state.networks)]]:
        return "its heads are others"
    nodes = [node.atoms for network in state.networks for node in network.nodes]
    if not all(_is_of(vocabulary, atoms) for atoms in (*nodes, *(path.atoms for path in paths))):
        return "its atoms are of other predicates"
    if any(len(p.atoms) > params.longest or p.number_of_variables > params.variables for p in paths):
        return "its clauses are too long"
    if later == bool(np.isnan(state.without)) or (judged and not later):
        return "its clauses do not belong to its phase"
    if flaw_of_blocks(state.candidates) or [one.scores.path for one in judged] != list(paths[: len(judged)]):
        return "its paths are others"
    if any(one.scores.clauses.tolist() != list(make_clauses(one.scores.path)) for one in judged):
        return "its clauses are others"
    assembling = state.phase == ASSEMBLING
    if assembling != (state.assembly is not None) or (assembling and len(judged) < len(paths)):
        return "its model does not belong to its phase"
    if any(_judge_anew(one, state, params) != one.verdicts.tolist() for one in judged):
        return "its verdicts are not those of its scores"
    retained = [one.scores.scores[one.verdicts == RETAINED] for one in judged]
    if state.best != max([-inf, *np.concatenate([np.zeros(0), *retained])]):
        return "its best score is of no clause"
    return ""


def _judge_anew(judged: JudgedPath, state: BuslState, params: BuslParams) -> list[int]:
    again: list[int] = judge_path(judged.number, judged.scores, state.without, params).verdicts.tolist()
    return again


def _is_of(vocabulary: Vocabulary, atoms: tuple[PathAtom, ...]) -> bool:
    known = vocabulary.predicates
    return all(one.predicate in known and known[one.predicate].arity == len(one.variables) for one in atoms)


def _choose(task: StructureTask, params: BuslParams, state: BuslState, origins: Origins) -> Chosen:  # noqa: ARG001 - asked with all
    """Return the clauses of the model; where the run was stopped, it is assembled of those retained."""
    last = state.assembly
    if last is None or not last.ended:
        clauses = rank_clauses(judged_paths(state.candidates))
        *_, last = greedy_steps(Busl(task, params).scorer, clauses, None, state.assembly)
    return Chosen(last.kept, last.gains)


def _remarks(state: BuslState) -> tuple[str, ...]:
    """Return why a model has no clauses but the unit clauses, where that is so."""
    return () if state.paths or not state.ended else (f"{state.ended[0].upper()}{state.ended[1:]}.",)


def _weigh(params: BuslParams) -> Weighing:
    return Weighing(True, params.deviation, Gaussian(0.0, params.deviation))


LEARNER = Learner(
    "busl", "clauses from template networks, bottom up", "Mihalkova and Mooney 2007",
    "some true atoms, all others false; no functions and blocks", BuslParams, BuslState, PHASES, _steps,
    flaw=_flaw, choose=_choose, weigh=_weigh, remarks=_remarks,
)  # fmt: skip
