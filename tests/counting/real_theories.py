"""Fifty clauses about real data: what its schema suggests; and the theory that was published with UW-CSE.

A schema suggests that relations are symmetric or transitive, that what two or three linked atoms have in
common implies another atom over their variables, and that two things are not both said of one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations_with_replacement, product
from pathlib import Path

import mlnlab as ml
from mlnlab.logic.formulas.formulas import And, Atom, Implies, Not, Variable
from tests.support.patience import PATIENCE

FOLDS = range(1, 6)
NUMBER = 50
SETS = {"uw-cse": "uwcse", "imdb": "imdb", "cora": "cora"}

# Who wrote of Cora's citations links them as here: records are the same where their fields are, fields are
# the same where their words are, and sameness is transitive (Singla and Domingos, 2006).
CORA = """
SameBib(a, b) ^ SameBib(b, c) => SameBib(a, c)
SameTitle(a, b) ^ SameTitle(b, c) => SameTitle(a, c)
SameAuthor(a, b) ^ SameAuthor(b, c) => SameAuthor(a, c)
SameVenue(a, b) ^ SameVenue(b, c) => SameVenue(a, c)
Title(a, t) ^ Title(b, u) ^ SameTitle(t, u) => SameBib(a, b)
Author(a, t) ^ Author(b, u) ^ SameAuthor(t, u) => SameBib(a, b)
Venue(a, t) ^ Venue(b, u) ^ SameVenue(t, u) => SameBib(a, b)
Title(a, t) ^ Title(b, u) ^ SameBib(a, b) => SameTitle(t, u)
Author(a, t) ^ Author(b, u) ^ SameBib(a, b) => SameAuthor(t, u)
Venue(a, t) ^ Venue(b, u) ^ SameBib(a, b) => SameVenue(t, u)
HasWordTitle(t, w) ^ HasWordTitle(u, w) => SameTitle(t, u)
HasWordAuthor(t, w) ^ HasWordAuthor(u, w) => SameAuthor(t, u)
HasWordVenue(t, w) ^ HasWordVenue(u, w) => SameVenue(t, u)
!HasWordTitle(t, w) ^ HasWordTitle(u, w) => !SameTitle(t, u)
Title(a, t) ^ Title(b, u) ^ HasWordTitle(t, w) ^ HasWordTitle(u, w) => SameBib(a, b)
Author(a, t) ^ Author(b, u) ^ HasWordAuthor(t, w) ^ HasWordAuthor(u, w) => SameBib(a, b)
"""


def real_theory(data_folder, name):
    """A model with fifty clauses, and all five folds as one database."""
    declared = (data_folder / name / f"{SETS[name]}_decl.mln").read_text(encoding="utf-8")
    mln = ml.MLN.from_text(declared)
    files = [data_folder / name / f"{SETS[name]}_fold{fold}.db" for fold in FOLDS]
    db = ml.Database.from_text("\n".join(file.read_text(encoding="utf-8") for file in files), mln)
    own = [mln.parse(line) for line in CORA.split("\n") if line] if name == "cora" else []
    suggested = suggested_clauses(mln.vocabulary.predicates)
    step = len(suggested) / (NUMBER - len(own))
    chosen = [*own, *(suggested[int(step * k)] for k in range(NUMBER - len(own)))]
    weighted = [(1.0, one) for one in chosen]
    return ml.MLN.from_formulas(weighted, predicates=mln.vocabulary.predicates.values()), db


def published_theory(data_folder):
    """The 94 formulas about a computer science department, as they came with their facts."""
    folder = data_folder / "tuffy-samples" / "cse"
    mln = ml.load(folder / "prog.mln")
    return mln, ml.load_db(folder / "evidence.db", mln)


# getrusage would tell the peak of the process that starts this one, where that is larger: it is inherited.
MEASURING = """
import json, re, resource, sys, time
from pathlib import Path
from tests.counting.real_theories import published_theory, real_theory
import mlnlab as ml
def peak():
    try:
        return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
    except OSError:  # no Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
folder, name, method = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
mln, db = published_theory(folder) if name == "published" else real_theory(folder, name)
loaded = peak()
wall, own = time.perf_counter(), time.process_time()
counts = ml.count(mln, db, method=method)
print(json.dumps({
    "counts": list(counts), "wall": time.perf_counter() - wall, "own": time.process_time() - own,
    "loaded": loaded / 1024, "peak": peak() / 1024,
}))
"""


def measured(data_folder, name, method):
    """Count in a process of its own: the counts, seconds, and megabytes before and at most."""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", MEASURING, str(data_folder), name, method],
        check=True, capture_output=True, text=True, cwd=root, timeout=5 * PATIENCE,
    )  # fmt: skip
    return json.loads(done.stdout)


def suggested_clauses(predicates):
    """Clauses that the schema suggests, each once, short ones first."""
    found = {}
    for body in _bodies(list(predicates.values())):
        bound = sorted({v for atom in body for v in atom.arguments}, key=str)
        for head in predicates.values():
            for arguments in _arguments(head, bound):
                atom = Atom(head.name, arguments)
                if atom not in body:
                    found[str(Implies(And(body), atom))] = Implies(And(body), atom)
        if len(body) == 2:
            found[str(Not(And(body)))] = Not(And(body))
    return sorted(found.values(), key=lambda one: (str(one).count("^"), str(one)))


def _bodies(predicates):
    """Two atoms that share a variable, and three in a row; every other variable is its own."""
    for chain in (*combinations_with_replacement(predicates, 2), *product(predicates, repeat=3)):
        atoms, link = [], None
        for number, predicate in enumerate(chain):
            arguments = [Variable(f"{t[0]}{number}{place}", t) for place, t in enumerate(predicate.types)]
            if link is not None:
                places = [place for place, variable in enumerate(arguments) if variable.type == link.type]
                if not places:
                    break
                arguments[places[0]] = link
            atoms.append(Atom(predicate.name, tuple(arguments)))
            others = [variable for variable in arguments if variable != link]
            link = others[-1] if others else link
        else:
            if len(set(atoms)) == len(atoms):
                yield tuple(atoms)


def _arguments(head, bound):
    """All ways to fill a predicate with different variables of a body, its ends first; few of each."""
    choices = [[v for v in bound if v.type == type_] for type_ in head.types]
    fitting = [found for found in product(*choices) if len(set(found)) == len(found)]
    return fitting[:1] + fitting[-1:] if len(fitting) > 1 else fitting
