"""How far SampleSAT is from uniform, and MC-SAT by SampleSAT from the truth: a seeded study.

    python -m mlnlab.experiments.studies.sample_sat_bias study.jsonl

Slices are sets of clauses that must hold, small enough to list their solutions. ``distance`` is the total
variation between the frequencies of many draws and the uniform distribution, and ``noise`` what uniform draws
would show themselves; random tries are left out, so that SampleSAT draws alone. The second part compares
marginals of MC-SAT with exact ones. Each line of the file is one row; what is there already is not measured
again.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import product
from math import pi, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.grounding.question.question import pose
from mlnlab.inference.methods import enumeration, mc_sat
from mlnlab.inference.sampling.chains import random_world
from mlnlab.inference.sampling.slices import room_for
from mlnlab.kernels.chains.sample_sat_components import Effort
from mlnlab.kernels.chains.sample_sat_slices import next_sample
from mlnlab.kernels.random_numbers import streams
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.random import Generator

    Row = Mapping[str, float | str]

ATOMS, DRAWS = 10, 6_000
# One thing is changed at a time; temperature 0 chooses by the number of members.
DEFAULT: Mapping[str, float] = {"jumps": 1.0, "walking": 0.5, "temperature": 0.0, "passes": 1}
CHANGES: tuple[Mapping[str, float], ...] = (
    {}, {"walking": 0.1}, {"walking": 0.9}, {"temperature": 0.2}, {"temperature": 0.7},
    {"passes": 3}, {"passes": 10}, {"jumps": 0.2}, {"jumps": 0.0},
)  # fmt: skip
# The sampler of the papers and ours.
SAMPLERS: Mapping[str, Mapping[str, float]] = {
    "papers": {"tries": 1, "jumps": 1.0},
    "ours": {},
}


def clause(atoms: np.ndarray, signs: np.ndarray, weight: str = "") -> str:
    """Write a clause over numbered atoms, hard where it has no weight."""
    literals = " v ".join(f"{'' if s else '!'}T(A{a})" for a, s in zip(atoms, signs, strict=True))
    return f"{weight} {literals}" if weight else f"{literals}."


def three_sat(rng: Generator, per_atom: float) -> str:
    """Random 3-SAT that a hidden world satisfies."""
    hidden, lines = rng.random(ATOMS) < 0.5, list[str]()
    while len(lines) < per_atom * ATOMS:
        atoms, signs = rng.choice(ATOMS, 3, replace=False), rng.random(3) < 0.5
        if (hidden[atoms] == signs).any():
            lines.append(clause(atoms, signs))
    return _over_atoms(lines)


def cliques(rng: Generator) -> str:
    """Atoms in two groups that are all alike within, and a clause between them."""
    lines = [f"T(A{a}) <=> T(A{a + 1})." for a in range(ATOMS - 1) if a != ATOMS // 2 - 1]
    return _over_atoms([*lines, clause(np.array([0, ATOMS - 1]), rng.random(2) < 0.5)])


def implications(rng: Generator) -> str:
    """Smokers: friends of a smoker smoke, at random pairs."""
    pairs = {tuple(rng.choice(ATOMS, 2, replace=False).tolist()) for _ in range(ATOMS)}
    return _over_atoms([f"!T(A{a}) v T(A{b})." for a, b in sorted(pairs)])


def blocks(rng: Generator) -> str:
    """People of whom each lives in exactly one of three houses, some of them not together."""
    pairs = {tuple(sorted(rng.choice(4, 2, replace=False).tolist())) for _ in range(4)}
    apart = "\n".join(f"!In(P{a}, h) v !In(P{b}, h)." for a, b in sorted(pairs))
    return f"person = {{P0, P1, P2, P3}}\nhouse = {{H, I, J}}\nIn(person, house!)\n{apart}\n"


def at_work(rng: Generator) -> str:
    """As of IMDB: a director works under nobody, an actor is not a director, one works under directors."""
    lines = [
        "!D(x) v !W(x, y).",
        "W(x, y) => D(y).",
        f"W(P{rng.integers(3)}, P0) v W(P1, P{rng.integers(3)}).",
    ]
    return "person = {P0, P1, P2}\nD(person)\nW(person, person)\n" + "\n".join(lines) + "\n"


def _over_atoms(lines: list[str]) -> str:
    names = ", ".join(f"A{a}" for a in range(ATOMS))
    return f"a = {{{names}}}\nT(a)\n" + "\n".join(lines) + "\n"


KINDS: Mapping[str, Callable[[Generator], str]] = {
    "3-SAT at 2": lambda rng: three_sat(rng, 2.0),
    "3-SAT at 4": lambda rng: three_sat(rng, 4.0),
    "cliques": cliques,
    "friends": implications,
    "one of three": blocks,
    "at work": at_work,
}


@dataclass(frozen=True, slots=True)
class Distance:
    """The total variation of draws from uniform, and the mean one of as many uniform draws."""

    solutions: int
    distance: float
    noise: float

    @property
    def excess(self) -> float:
        """The distance that is not noise."""
        return sqrt(max(0.0, self.distance**2 - self.noise**2))


def distance_from_uniform(text: str, effort: Effort, seed: int = 1, draws: int = DRAWS) -> Distance:
    """Draw worlds of a slice in turn, and compare their frequencies with equal ones."""
    question = pose(MLN.from_text(text), None, None)
    shared = mc_sat.prepare_question(question)
    chain = random_world(shared.ground, streams(seed, 1)[0])
    room, seen = room_for(shared.ground), Counter[bytes]()
    for _ in range(draws):
        next_sample(shared.ground.network, shared.constraints, chain, room, effort)
        seen[chain.chosen.tobytes()] += 1
    value, _, _ = enumeration.METHOD.log_z(enumeration.Params(), question)  # type: ignore[misc]
    number = round(float(np.exp(value)))
    short = sum(max(0.0, 1 / number - times / draws) for times in seen.values())
    return Distance(number, short + (number - len(seen)) / number, sqrt(number / (2 * pi * draws)))


def slice_rows(seeds: int) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Yield the name of each measurement of a slice with the function that performs it."""
    for kind, change, seed in product(KINDS, CHANGES, range(seeds)):
        settings = {**DEFAULT, **change}

        def row(
            kind: str = kind, settings: Mapping[str, float] = settings, seed: int = seed
        ) -> Mapping[str, float | str]:
            effort = Effort(
                0,
                settings["jumps"],
                settings["walking"],
                settings["temperature"],
                int(settings["passes"]),
                100,
            )
            found = distance_from_uniform(KINDS[kind](np.random.default_rng(seed)), effort)
            return {"kind": kind, "solutions": found.solutions, "excess": found.excess, **settings}

        yield f"slice {kind} {json.dumps(change)} {seed}", row


def mixed_model(rng: Generator, hard: float) -> str:
    """Random clauses over ten atoms that one world satisfies, of which a share must hold."""
    hidden, lines = rng.random(ATOMS) < 0.5, list[str]()
    while len(lines) < 3 * ATOMS:
        atoms, signs = rng.choice(ATOMS, 3, replace=False), rng.random(3) < 0.5
        if (hidden[atoms] == signs).any():
            weight = "" if rng.random() < hard else f"{rng.normal(0, 2):.3f}"
            lines.append(clause(atoms, signs, weight))
    return _over_atoms(lines)


def marginal_errors(
    text: str, settings: Mapping[str, float], seed: int, samples: int = 10_000
) -> list[float]:
    """Return how far each marginal of MC-SAT is from the exact one."""
    question = pose(MLN.from_text(text), None, None)
    params = mc_sat.Params(samples=samples, seed=seed, **settings)  # type: ignore[arg-type]
    found = mc_sat.marginals(params, question)
    exact = enumeration.METHOD.marginals(enumeration.Params(), question, ())  # type: ignore[misc]
    return [abs(found[query] - exact[query]) for query in exact]


def marginal_rows(models: int) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Yield the name of each comparison of marginals with the function that performs it."""
    for name, hard, seed in product(SAMPLERS, (0.0, 0.3, 0.7, 1.0), range(models)):

        def row(name: str = name, hard: float = hard, seed: int = seed) -> Mapping[str, float | str]:
            text = mixed_model(np.random.default_rng(seed), hard)
            errors = marginal_errors(text, SAMPLERS[name], seed)
            return {"sampler": name, "hard": hard, "mean": float(np.mean(errors)), "largest": max(errors)}

        yield f"marginals {name} {hard} {seed}", row


def study(file: Path, seeds: int = 3, models: int = 25) -> None:
    """Append the measurements to a file that it does not hold yet."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    done = {json.loads(line)["name"] for line in lines}
    with file.open("a", encoding="utf-8") as out:
        for name, row in (*slice_rows(seeds), *marginal_rows(models)):
            if name not in done:
                print(json.dumps({"name": name, **row()}), file=out, flush=True)


if __name__ == "__main__":
    study(Path(sys.argv[1]))
