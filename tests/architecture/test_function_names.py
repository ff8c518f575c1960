"""Functions are verbs with their objects: `join_tables`, never `joined`."""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "mlnlab"

# Functions that are still named by a bare participle. This number may only fall.
BUDGET = 0

# Past participles that do not end in -ed.
IRREGULAR = re.compile(
    "begun|born|bought|broken|brought|built|caught|chosen|dealt|done|drawn|driven|eaten|fallen|felt|"
    "forbidden|forgotten|found|given|gone|gotten|grown|heard|held|hidden|hung|kept|known|laid|led|"
    "lent|lit|lost|made|meant|met|outgrown|overridden|overwritten|paid|proven|rebuilt|redrawn|"
    "rewritten|risen|said|seen|sent|shown|shrunk|slept|sold|sought|spent|spun|stood|stuck|sworn|"
    "swept|taken|taught|thought|thrown|told|torn|unbound|understood|undone|unknown|unread|unseen|"
    "unsent|unwritten|upheld|withdrawn|withheld|woken|won|worn|wound|woven|written"
)
NO_PARTICIPLES = {
    "embed",
    "exceed",
    "feed",
    "hundred",
    "indeed",
    "need",
    "proceed",
    "seed",
    "shed",
    "speed",
    "succeed",
}

# A name that begins with one of these is a verb, or says yes or no: `read_quoted`, `is_settled`.
BEGINNINGS = re.compile(
    "add|are|can|close|cycle|drop|has|find|hear|is|keep|load|mark|may|must|note|on|pick|press|read|"
    "refuse|remove|report|require|run|say|take|walk|write"
)

# Nouns in the documented interface: they return a part or a version of a value, as a property would.
DOCUMENTED = {
    "AtomDeltas.merged",
    "BayesianNetwork.d_separated",
    "CircuitLearner.learned",
    "CrossValidation.pooled",
    "Deltas.merged",
    "Exploration.given",
    "FactorGraph.given",
    "JunctionTree.calibrated",
    "LazyGround.activated",
    "LearnedStructure.edited",
    "LearningDashboard.learned",
    "LiftGraph.lifted",
    "NetworkLearner.learned",
    "Race.learned",
    "RaceView.learned",
    "RandomVariable.numbered",
    "StructureBreaks.dropped",
    "StructureBreaks.judged",
    "StructureBreaks.kept",
    "StructureBreaks.next_retained",
    "StructureBreaks.retained",
    "StructureEvaluation.pooled",
    "StructureLearner.learned",
    "StructureStepper.learned",
    "WeightLearner.learned",
    "World.flipped",
    # Decorators, which describe the function below them.
    "compiled",
    "inlined",
}


def is_participle(word):
    regular = len(word) > 3 and word.endswith("ed") and word not in NO_PARTICIPLES
    return regular or IRREGULAR.fullmatch(word) is not None


def is_named_by_participle(name):
    words = [word for word in name.split("_") if word]
    return (
        bool(words)
        and not name.endswith("__")
        and is_participle(words[-1])
        and not BEGINNINGS.fullmatch(words[0])
    )


def is_property(function):
    """Tell whether a function is read as an attribute: such names are nouns."""
    decorators = (part.func if isinstance(part, ast.Call) else part for part in function.decorator_list)
    names = {getattr(part, "attr", getattr(part, "id", "")) for part in decorators}
    return any("property" in name for name in names) or bool(names & {"setter", "overload"})


def functions_in(node, owner=""):
    """Yield each function below a node with the name by which its class or function knows it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield owner + child.name, child
            yield from functions_in(child, child.name + ".")
        elif isinstance(child, ast.ClassDef):
            yield from functions_in(child, child.name + ".")
        else:
            yield from functions_in(child, owner)


def named_by_participles():
    return [
        f"{path.relative_to(PACKAGE)}:{function.lineno} {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for name, function in functions_in(ast.parse(path.read_text(encoding="utf-8")))
        if is_named_by_participle(function.name) and not is_property(function) and name not in DOCUMENTED
    ]


def test_a_participle_is_told_from_a_verb():
    assert all(map(is_named_by_participle, ("_joined", "told", "made", "known", "clause_drawn")))
    verbs = ("join_tables", "read_quoted", "is_settled", "embed", "draw_seed")
    assert not any(map(is_named_by_participle, verbs))


def test_functions_are_verbs():
    found = named_by_participles()
    assert len(found) <= BUDGET, "name these by a verb and its object:\n" + "\n".join(found)
    assert len(found) == BUDGET, f"fewer than allowed: lower BUDGET to {len(found)}"
