"""Write networks of decision trees as .xmod files, as Libra writes and reads them.

Libra's vertices have two branches, one value against all others, so that a split on more values is a chain of
them. A leaf that several paths lead to is written for each path.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

from mlnlab.errors import TooLargeError, require
from mlnlab.factors.graphs.random_variables import RandomVariable, show_name
from mlnlab.factors.graphs.tree_network import DecisionTree, TreeLeaf, TreeNetwork
from mlnlab.steps.safe_files import write_text

MOST_NODES = 10_000_000  # of a tree that is written out path by path


def save_xmod(network: TreeNetwork, path: str | Path) -> None:
    """Write a network of decision trees to a .xmod file, which Libra reads.

    >>> import mlnlab as ml
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> net = ml.learn_network({"Rain": [0, 0, 1, 1] * 9, "Wet": [0, 0, 1, 1] * 9}).network
    >>> with TemporaryDirectory() as folder:
    ...     ml.save_xmod(net, Path(folder, "rain.xmod"))
    ...     ml.load_xmod(Path(folder, "rain.xmod"))
    <TreeNetwork of 2 variables and 3 leaves>
    """
    write_text(path, xmod_text(network))


def xmod_text(network: TreeNetwork) -> str:
    """Return a network of decision trees as the text of a .xmod file.

    >>> import mlnlab as ml
    >>> print(ml.xmod_text(ml.learn_network({"Rain": [0, 0, 1, 1]}).network).split("<LocalModels>")[0])
    <?xml version="1.0" standalone="yes"?>
    <AnalysisNotebook>
        <Variables>
            <Variable name="Rain" type="categorical">
                <State index="0" name="0"/>
                <State index="1" name="1"/>
            </Variable>
        </Variables>
        <Model name="">
    """
    require(network, TreeNetwork, "An .xmod file holds a network of decision trees")
    return "".join(f"{line}\n" for line in _lines(network))


def _lines(network: TreeNetwork) -> Iterator[str]:
    yield '<?xml version="1.0" standalone="yes"?>'
    yield "<AnalysisNotebook>"
    yield "\t<Variables>"
    for variable in network.variables:
        yield f'\t\t<Variable name={quoteattr(variable.name)} type="categorical">'
        for index, value in enumerate(variable.values):
            yield f'\t\t\t<State index="{index}" name={quoteattr(value)}/>'
        yield "\t\t</Variable>"
    yield "\t</Variables>"
    yield '\t<Model name="">'
    yield "\t\t<LocalModels>"
    for variable, tree in zip(network.variables, network.trees, strict=True):
        yield f"\t\t\t<LocalModel variable={quoteattr(variable.name)}>"
        if tree.parents():
            yield "\t\t\t\t<Inputs>"
            for parent in tree.parents():
                yield f"\t\t\t\t\t<Input variable={quoteattr(network.variables[parent].name)}/>"
            yield "\t\t\t\t</Inputs>"
        yield "\t\t\t\t<DecisionTree>"
        yield from _tree_lines(network, variable, tree)
        yield "\t\t\t\t</DecisionTree>"
        yield "\t\t\t</LocalModel>"
    yield "\t\t</LocalModels>"
    yield "\t</Model>"
    yield "</AnalysisNotebook>"


def _tree_lines(network: TreeNetwork, variable: RandomVariable, tree: DecisionTree) -> Iterator[str]:
    """Yield the lines of a tree, without recursion: lines wait, and nodes with the next of their values."""
    waiting: list[str | tuple[int, int]] = [(0, 0)]
    written = 0
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
            continue
        written += 1
        if written > MOST_NODES:
            raise TooLargeError(
                f"The tree for {show_name(variable.name)} would take more than {MOST_NODES:,} nodes, written "
                "out path by path.", float(written), ("learn without merge=True",),
            )  # fmt: skip
        place, value = item
        node = tree.nodes[place]
        if isinstance(node, TreeLeaf):
            yield "<Leaf>"
            yield "\t<Multinomial>"
            yield f"\t\t<Probs>{' '.join(repr(float(p)) for p in node.probabilities)}</Probs>"
            yield "\t</Multinomial>"
            yield "</Leaf>"
            continue
        asked = network.variables[node.variable]
        if value == asked.size - 1:
            waiting.append((node.children[value], 0))  # of a chain the last value, or a variable of one value
            continue
        rest = " ".join(str(other) for other in range(asked.size) if other != value)
        yield f"<Vertex split={quoteattr(asked.name)}>"
        yield f"<Branch><Values>{value}</Values>"
        waiting += ["</Branch></Vertex>", (place, value + 1), f"</Branch><Branch><Values>{rest}</Values>"]
        waiting.append((node.children[value], 0))
