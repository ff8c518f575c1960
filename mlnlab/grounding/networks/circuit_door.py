"""``ml.compile_circuit``: one door from networks, factor graphs and Markov logic to arithmetic circuits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlnlab.circuits.propositional.circuit_compiling import MOST_EDGES, Network, compile_network
from mlnlab.errors import ArgumentError
from mlnlab.grounding.networks.ground_factors import factor_graph
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    from mlnlab.circuits.propositional.arithmetic_circuit import ArithmeticCircuit
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.model.database.database import Database


def compile_circuit(
    model: Network | MLN,
    db: Database | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    order: str | Sequence[str] = "min-fill",
    most_edges: int = MOST_EDGES,
) -> ArithmeticCircuit:
    r"""Return the arithmetic circuit of a network with trees or tables, a factor graph or a small ground MLN.

    A Markov logic network takes a database and a query as ``ml.factor_graph`` does, which has more options.
    Independence that holds in some contexts only keeps it small. ``order`` is an elimination order, by its
    rule or by the names of all variables. A circuit that passes ``most_edges`` is refused with a prediction,
    before the work begins where nothing could make it smaller.

    >>> import mlnlab as ml
    >>> ac = ml.compile_circuit(ml.sample_network("greenhouse"))
    >>> ac.edges, round(ac.query({"Soil": "dry"}, evidence={"Wilting": "yes"}), 4)
    (1139, 0.6378)
    >>> smokers = ml.MLN.from_text("person = {A, B}\nS(person)\nF(person, person)\n1.1 F(x,y) ^ S(x) => S(y)")
    >>> ac = ml.compile_circuit(smokers)
    >>> round(ac.query({"S(A)": True}, evidence={"F(B, A)": True, "S(B)": True}), 4)
    0.7503
    """
    model = getattr(model, "network", model)
    if isinstance(model, MLN):
        model = factor_graph(model, db, query)
    elif db is not None or query is not None:
        raise ArgumentError("A database and a query are for Markov logic networks; other models take none.")
    return compile_network(model, order=order, most_edges=most_edges)
