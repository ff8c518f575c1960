"""A process that asks a large question and is interrupted: its arguments are such as ``grid gibbs infer``.

It says when it has begun, and behind the interrupt the moment at which that was heard and what was known.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np

import mlnlab as ml
from tests.support.shared_data import find_folder


def smokers():
    folder = find_folder("reference") / "alchemy-inputs"
    mln = ml.load(folder / "smokers1000.mln")
    return mln, ml.load_db(folder / "smokers1000.db", mln), ["Smokes", "Cancer"]


def imdb():
    folder = find_folder("reference") / "alchemy-inputs"
    mln = ml.load(folder / "imdb1-gen-learned.mln")
    return mln, ml.load_db(folder / "imdb_fold5_noq.db", mln), ["workedUnder"]


def three_sat(variables=100_000, ratio=4.0, seed=1):
    """Random 3-SAT, hard, as one formula for each choice of signs over a relation of triples."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, variables, (int(ratio * variables), 3))
    signs = rng.integers(0, 8, len(rows))
    lines = ["A(v)", *(f"C{s}(v, v, v)" for s in range(8))]
    for s in range(8):
        literals = " v ".join(f"{'!' if s >> i & 1 else ''}A({n})" for i, n in enumerate("xyz"))
        lines.append(f"!C{s}(x, y, z) v {literals}.")
    mln = ml.MLN.from_text("\n".join([*lines, "0.1 A(x)"]))
    frames = {f"C{s}": rows[signs == s] for s in range(8)}
    return mln, ml.Database.from_frames(frames, mln), ["A"]


def grid(side=14, seed=0):
    rng = np.random.default_rng(seed)
    lines = ["On(row, column)", f"row = {{1, ..., {side}}}", f"column = {{1, ..., {side}}}"]
    lines += [f"{rng.normal():.3f} On({i}, {j})" for i in range(1, side + 1) for j in range(1, side + 1)]
    for i in range(1, side + 1):
        for j in range(1, side):
            lines.append(f"{rng.normal():.3f} On({i}, {j}) <=> On({i}, {j + 1})")
            lines.append(f"{rng.normal():.3f} On({j}, {i}) <=> On({j + 1}, {i})")
    return ml.MLN.from_text("\n".join(lines)), None, ["On"]


def wide_tree():
    """A grid nearly as wide as a junction tree takes."""
    return grid(17)


def few_worlds():
    """As many worlds as enumeration takes."""
    text = "S(e)\nF(e, e)\n1.1 S(x) ^ F(x, y) => S(y)\n0.3 F(x, y)\ne = {A, B, C, D}"
    return ml.MLN.from_text(text), None, ["S", "F"]


QUESTIONS = {
    "smokers": smokers,
    "imdb": imdb,
    "3-sat": three_sat,
    "grid": grid,
    "wide tree": wide_tree,
    "few worlds": few_worlds,
}
ENDLESS = {  # so that there is something to interrupt
    "gibbs": {"samples": 100_000_000},
    "mc-sat": {"samples": 100_000_000},
    "simulated-tempering": {"samples": 100_000_000},
    "max-walk-sat": {"flips": 10**12},
    "simulated-annealing": {"sweeps": 10**9},
    "lazy-mc-sat": {"samples": 100_000_000},
    "belief-propagation": {"tolerance": 1e-300, "sweeps": 10**9},
    "lifted-belief-propagation": {"tolerance": 1e-300, "sweeps": 10**9},
}


def compile_kernels(method, kind):
    """Ask about little first, as in a session: what is compiled is compiled once."""
    tiny = ml.MLN.from_text("S(e)\nS(A) v S(B).\n1 S(x)")
    few = {name: 10 for name in ENDLESS.get(method, ()) if name != "tolerance"}
    if method not in {"grounding", "conflict", "lazy"}:
        {"infer": ml.infer, "map": ml.map_state}[kind](tiny, method=method, **few)


def ask(question, method, kind):
    mln, db, query = QUESTIONS[question]()
    compile_kernels(method, kind)
    print("begun", flush=True)
    if method == "grounding":
        return ml.ground(mln, db, query)
    if method == "conflict":
        return ml.conflict(mln, db, query)
    if method == "lazy":
        return ml.lazy_map_state(mln, db, query)
    return {"infer": ml.infer, "map": ml.map_state}[kind](
        mln, db, query, method=method, **ENDLESS.get(method, {})
    )


def main(question, method, kind):
    warnings.simplefilter("ignore")
    try:
        ask(question, method, kind)
    except KeyboardInterrupt as stopped:
        heard = time.time()
        so_far = getattr(stopped, "so_far", None)
        known = so_far() if so_far else None
        print(json.dumps({"heard": heard, "known": known is not None}), flush=True)
        return
    print(json.dumps({"heard": None, "known": True}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
