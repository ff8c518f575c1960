"""``mlnlab infer`` for factor graphs and Bayesian networks: UAI and BIF files, evidence, distributions."""

from __future__ import annotations

import csv
import io
import json
import sys
import warnings
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mlnlab.cli.output.result_files import write_result
from mlnlab.errors import InputError, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
    from mlnlab.factors.graphs.factor_graph import FactorGraph
    from mlnlab.factors.graphs.random_variables import Assignment
    from mlnlab.inference.networks.factor_answers import NetworkMarginals

NETWORKS = (".uai", ".bif")
_ENDINGS = (".csv", ".json", ".mar")
_EVERY = "*"


class _Tree(NamedTuple):
    name: str
    params: Callable[..., Any]


def answer_network(arguments: argparse.Namespace, asked: Sequence[str]) -> int:
    """Read a network and its evidence, and print or write the distributions of the variables asked for."""
    from mlnlab.inference.networks.factor_answers import NetworkMarginals
    from mlnlab.steps.runs.interrupted import Interrupted

    _refuse_formulas(arguments)
    model = _model(arguments.model)
    evidence = _evidence(arguments.databases)
    names = _names(model, asked)
    code = 0
    try:
        found = _ask(model, evidence, arguments)
    except Interrupted as stopped:
        known = stopped.results(NetworkMarginals)
        if known is None:
            raise
        found, code = known, 130
    _say(arguments.model, found)
    _show(model, found, names, arguments.output)
    if code:
        print("stopped", file=sys.stderr)
    return code


def _refuse_formulas(arguments: argparse.Namespace) -> None:
    if arguments.open or arguments.given:
        raise InputError(
            "--open and --given are about predicates and formulas; a network has evidence files."
        )
    if arguments.output is not None and arguments.output.suffix.lower() not in _ENDINGS:
        raise InputError(f"{arguments.output}: the ending must be {', '.join(_ENDINGS[:-1])} or .MAR.")


def _model(path: Path) -> FactorGraph | BayesianNetwork:
    from mlnlab.factors.files.bif_reading import load_bif
    from mlnlab.factors.files.uai_reading import load_uai

    return load_bif(path) if path.suffix.lower() == ".bif" else load_uai(path)


def _evidence(paths: Sequence[Path]) -> Assignment:
    from mlnlab.factors.files.uai_reading import load_uai_evidence

    if len(paths) > 1:
        raise InputError(f"A network takes one evidence file at most, not {len(paths)}.")
    return load_uai_evidence(paths[0]) if paths else {}


def _names(model: FactorGraph | BayesianNetwork, asked: Sequence[str]) -> list[str]:
    """Return the variables that are asked for; a name with a comma in it can be asked for by ``*`` only."""
    if _EVERY in asked:
        return [variable.name for variable in model.variables]
    for name in asked:
        model.number(name)  # raises a sentence where there is none
    return list(dict.fromkeys(asked))


def _ask(
    model: FactorGraph | BayesianNetwork, evidence: Assignment, arguments: argparse.Namespace
) -> NetworkMarginals:
    from mlnlab.cli.output.progress_bar import progress_bars
    from mlnlab.inference.ask.asking import SamplingWarning
    from mlnlab.inference.networks.factor_asking import marginals

    options = _options(arguments)
    samples = options.get("samples", 5_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)  # they are said below, in a line of their own
        return marginals(
            model, _told_by_number(model, evidence), method=arguments.method,
            observers=progress_bars(arguments.model.name, samples), most_hours=arguments.most_hours,
            **options,
        )  # fmt: skip


def _told_by_number(model: FactorGraph | BayesianNetwork, evidence: Assignment) -> Assignment:
    """Return evidence by the model's own names; a file has the numbers of variables and values."""
    variables = model.variables
    found: dict[str, object] = {}
    for name, value in evidence.items():
        number, place = int(name.removeprefix("x")), int(str(value))
        if number >= len(variables) or place >= variables[number].size:
            raise InputError(
                f"The evidence gives variable {number} the value {place}, which it does not have."
            )
        found[variables[number].name] = variables[number].values[place]
    return found


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    from mlnlab.cli.arguments.method_options import typed_options
    from mlnlab.inference.networks.factor_gibbs import NAME as SAMPLING
    from mlnlab.inference.networks.factor_methods import JUNCTION_TREE, TreeParams, find_method

    name = SAMPLING if arguments.method == "auto" else arguments.method
    method = _Tree(name, TreeParams) if name == JUNCTION_TREE else find_method(name)
    given = [(name, getattr(arguments, name)) for name in ("seed", "samples", "burn_in", "chains")]
    texts = [f"{name}={value}" for name, value in given if value is not None]
    return typed_options([*texts, *arguments.option], [method])


# --- what is said ---------------------------------------------------------------------------------


def _say(path: Path, found: NetworkMarginals) -> None:
    from mlnlab.display.card.markup import cost_in_words

    log_z = f" · log Z = {found.log_z:.6g}" if isfinite(found.log_z) else ""
    lines = [f"{path}: {found.reason}{log_z} · {cost_in_words(found.seconds, found.memory)}"]
    lines += [f"warning: {warning}" for warning in found.warnings]
    print("\n".join(map(printable, lines)), file=sys.stderr)


def _show(
    model: FactorGraph | BayesianNetwork, found: NetworkMarginals, names: Sequence[str], output: Path | None
) -> None:
    from mlnlab.factors.files.uai_writing import uai_marginals_text

    if output is None:
        print("\n".join(map(printable, _lines(found, names))))
        return
    match output.suffix.lower():
        case ".mar":
            text = uai_marginals_text(model, found)  # the format has all variables or none
        case ".csv":
            text = _csv(found, names)
        case _:
            text = _json(found, names)
    write_result(output, text)


def _lines(found: NetworkMarginals, names: Sequence[str]) -> Iterator[str]:
    from mlnlab.display.inference.probabilities import probability_in_words

    for name in names:
        for value, p in found[name].items():
            error = found.error(name, value)
            off = f" ± {max(error, 0.0001):.4f}" if error > 0 else " " * 9 if found.estimates else ""
            known = "  (evidence)" if name in found.evidence else ""
            yield f"{probability_in_words(p):>8}{off}  {name} = {value}{known}"


def _rows(found: NetworkMarginals, names: Sequence[str]) -> Iterator[tuple[str, str, float, float | None]]:
    for name in names:
        for value, p in found[name].items():
            error = found.error(name, value)
            yield name, value, p, error if isfinite(error) else None


def _csv(found: NetworkMarginals, names: Sequence[str]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["variable", "value", "probability", "error"])
    writer.writerows(_rows(found, names))
    return stream.getvalue()


def _json(found: NetworkMarginals, names: Sequence[str]) -> str:
    keys = ("variable", "value", "probability", "error")
    content = {
        "method": found.method,
        "reason": found.reason,
        "seconds": found.seconds,
        "memory": found.memory,
        "warnings": list(found.warnings),
        "log_z": found.log_z if isfinite(found.log_z) else None,
        "evidence": dict(found.evidence),
        "marginals": [dict(zip(keys, row, strict=True)) for row in _rows(found, names)],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
