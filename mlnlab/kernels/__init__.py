"""Hot loops, compiled by numba, over plain arrays. Importing this package does not import numba.

Every kernel module has a ``warm_up()`` that calls each of its kernels once with the types used in earnest.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from types import ModuleType


def warm_up_all(*, backwards: bool = False) -> Iterator[tuple[str, float]]:
    """Compile every kernel, or load it from the cache; yield each module's name and its seconds.

    ``backwards``: the last first; two processes that begin at both ends meet, and are done in half the time.
    """
    start = perf_counter()
    for module in reversed(_modules()) if backwards else _modules():
        module.warm_up()
        yield module.__name__.rpartition(".")[2], perf_counter() - start
        start = perf_counter()


def load_cached() -> Iterator[tuple[str, bool]]:
    """Load what is in the cache and compile nothing; yield each module's name and whether it was there."""
    from mlnlab.kernels.compiled import is_cached, kernels_of

    for module in _modules():
        ready = all(map(is_cached, kernels_of(module)))
        if ready:
            module.warm_up()
        yield module.__name__.rpartition(".")[2], ready


def _modules() -> tuple[ModuleType, ...]:
    """Return the kernel modules: first what the first sampler needs, last what learns structure."""
    from mlnlab.kernels import fact_scan

    return (
        *_samplers(),
        *_searches(),
        *_messages(),
        *_counters(),
        fact_scan,
        *_structures(),
        *_paths(),
        *_lifts(),
    )


def _samplers() -> tuple[ModuleType, ...]:
    from mlnlab.kernels import (
        gibbs,
        ground_network,
        hard_worlds,
        lazy_slices,
        random_numbers,
        sample_sat,
        sample_sat_components,
        sample_sat_constraints,
        sample_sat_listing,
        sample_sat_slices,
        simulated_tempering,
    )

    sampling = random_numbers, ground_network, gibbs, hard_worlds, simulated_tempering
    slices = sample_sat_constraints, sample_sat, sample_sat_listing, sample_sat_components, sample_sat_slices
    return *sampling, *slices, lazy_slices


def _searches() -> tuple[ModuleType, ...]:
    from mlnlab.kernels import modes, walk_blocks, walk_sat, walk_steps

    return modes, walk_steps, walk_blocks, walk_sat


def _messages() -> tuple[ModuleType, ...]:
    from mlnlab.kernels import (
        belief_propagation,
        belief_propagation_graph,
        belief_propagation_logs,
        belief_propagation_order,
        factor_gibbs,
        factor_mean_field,
        factor_messages,
        factor_tables,
        mean_field,
        structured_mean_field,
    )

    graph = belief_propagation_graph, belief_propagation_logs
    beliefs = *graph, belief_propagation, belief_propagation_order
    tables = factor_tables, factor_gibbs, factor_messages
    return *beliefs, *tables, mean_field, factor_mean_field, structured_mean_field


def _counters() -> tuple[ModuleType, ...]:
    from mlnlab.kernels import (
        changing_relations,
        count_tables,
        counting,
        counting_cycles,
        counting_flips,
        counting_groups,
        flip_lookups,
    )

    counts = counting, counting_cycles, counting_groups, count_tables
    return *counts, changing_relations, flip_lookups, counting_flips


def _paths() -> tuple[ModuleType, ...]:
    from mlnlab.kernels import path_embeddings, path_growing, path_patterns, path_support

    return path_patterns, path_growing, path_embeddings, path_support


def _lifts() -> tuple[ModuleType, ...]:
    from mlnlab.kernels import lift_combinations, lift_gains, lift_graph, lift_pairs

    return lift_combinations, lift_pairs, lift_gains, lift_graph


def _structures() -> tuple[ModuleType, ...]:
    from mlnlab.kernels import clause_scores

    return (clause_scores,)
