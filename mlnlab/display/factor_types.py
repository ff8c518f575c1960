"""How each type of factor graphs is shown: its card, its text (a repr is one bounded line), and its scene."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from mlnlab.display import factor_displays as cards
from mlnlab.display.factor_bars import distributions_scene
from mlnlab.display.factor_graph_scenes import bayesian_network_scene, factor_graph_scene
from mlnlab.display.junction_tree_scenes import junction_tree_scene, passing_scene
from mlnlab.display.markup import Element
from mlnlab.display.network_marginals import factor_run_display, network_marginals_display
from mlnlab.display.scene.items import Scene
from mlnlab.factors.answers import MostProbable, VariableMarginals
from mlnlab.factors.bayesian_network import BayesianNetwork
from mlnlab.factors.calibration import CalibratedTree
from mlnlab.factors.conditional_table import ConditionalTable
from mlnlab.factors.elimination_order import EliminationOrder
from mlnlab.factors.factor import Factor
from mlnlab.factors.factor_graph import FactorGraph
from mlnlab.factors.junction_tree import JunctionTree
from mlnlab.factors.message_passing import MessagePassing
from mlnlab.factors.treewidth import Treewidth
from mlnlab.factors.variable_elimination import VariableElimination
from mlnlab.inference.factor_answers import NetworkMarginals
from mlnlab.inference.factor_asking import FactorRun

_Card: TypeAlias = Callable[[Any], Element]
_Drawing: TypeAlias = Callable[[Any], Scene | None]

FACTOR_CARDS: Mapping[type, tuple[_Card, _Drawing | None]] = {
    BayesianNetwork: (cards.bayesian_network_display, bayesian_network_scene),
    CalibratedTree: (cards.calibrated_display, cards.calibrated_scene),
    ConditionalTable: (cards.conditional_table_display, None),
    EliminationOrder: (cards.order_display, cards.order_scene),
    Factor: (cards.factor_display, None),
    FactorRun: (factor_run_display, None),
    FactorGraph: (cards.factor_graph_display, factor_graph_scene),
    JunctionTree: (cards.tree_display, junction_tree_scene),
    MessagePassing: (cards.passing_display, passing_scene),
    MostProbable: (cards.most_probable_display, None),
    NetworkMarginals: (network_marginals_display, distributions_scene),
    Treewidth: (cards.treewidth_display, None),
    VariableElimination: (cards.elimination_display, None),
    VariableMarginals: (cards.distributions_display, distributions_scene),
}
