"""Run hot loops over plain arrays, compiled by numba. Importing this package does not import numba.

Start with ``compiled.py``, the decorator, and with a short loop such as those of ``counting``. Every kernel
module has a ``warm_up()`` that calls each of its kernels once with the types used in earnest. The cache key
covers all files of this folder.

It may import ``errors`` alone.
What always holds: kernels check nothing, arrays from outside are verified at one door before they come
here; each has a plain twin that is tested flip for flip; random states are passed in, so that trajectories
are equal on every machine and thread.
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
    """Load the cached kernels and compile nothing; yield each module's name and whether it was cached."""
    from mlnlab.kernels.compiled import is_cached, kernels_of

    for module in _modules():
        ready = all(map(is_cached, kernels_of(module)))
        if ready:
            module.warm_up()
        yield module.__name__.rpartition(".")[2], ready


def _modules() -> tuple[ModuleType, ...]:
    """Return the kernel modules: those of the first sampler first, those of structure learning last."""
    from mlnlab.kernels.facts import fact_scan

    return (
        *_samplers(),
        *_searches(),
        *_messages(),
        *_counters(),
        fact_scan,
        *_structures(),
        *_paths(),
        *_lifts(),
        *_trees(),
        *_circuits(),
        *_splits(),
    )


def _samplers() -> tuple[ModuleType, ...]:
    from mlnlab.kernels import random_numbers
    from mlnlab.kernels.chains import (
        gibbs_sweeps,
        hard_worlds,
        lazy_slices,
        sample_sat,
        sample_sat_components,
        sample_sat_constraints,
        sample_sat_listing,
        sample_sat_slices,
        tempering_sweeps,
        world_arrays,
    )

    sampling = random_numbers, world_arrays, gibbs_sweeps, hard_worlds, tempering_sweeps
    slices = sample_sat_constraints, sample_sat, sample_sat_listing, sample_sat_components, sample_sat_slices
    return *sampling, *slices, lazy_slices


def _searches() -> tuple[ModuleType, ...]:
    from mlnlab.kernels.chains import modes
    from mlnlab.kernels.search import walk_blocks, walk_sat, walk_steps

    return modes, walk_steps, walk_blocks, walk_sat


def _messages() -> tuple[ModuleType, ...]:
    from mlnlab.kernels.chains import table_gibbs
    from mlnlab.kernels.messages import (
        allowed_cells,
        allowed_messages,
        cluster_messages,
        factor_tables,
        forest_ascent,
        mean_field_ascent,
        sum_product,
        sum_product_graph,
        sum_product_logs,
        sum_product_order,
        table_mean_field,
        table_messages,
    )

    graph = sum_product_graph, sum_product_logs
    beliefs = *graph, sum_product, sum_product_order
    tables = factor_tables, table_gibbs, table_messages
    clusters = cluster_messages, allowed_cells, allowed_messages
    return *beliefs, *tables, *clusters, mean_field_ascent, table_mean_field, forest_ascent


def _counters() -> tuple[ModuleType, ...]:
    from mlnlab.kernels import bit_words
    from mlnlab.kernels.counting import (
        changing_relations,
        counting_cycles,
        counting_flips,
        counting_groups,
        flip_lookups,
        true_tuples,
        world_count_tables,
    )

    counts = bit_words, true_tuples, counting_cycles, counting_groups, world_count_tables
    return *counts, changing_relations, flip_lookups, counting_flips


def _paths() -> tuple[ModuleType, ...]:
    from mlnlab.kernels.lift import (
        path_embeddings,
        path_growing,
        path_patterns,
        supported_paths,
    )

    return path_patterns, path_growing, path_embeddings, supported_paths


def _lifts() -> tuple[ModuleType, ...]:
    from mlnlab.kernels.lift import lift_combinations, lift_gains, lift_merges, lift_pairs

    return lift_combinations, lift_pairs, lift_gains, lift_merges


def _circuits() -> tuple[ModuleType, ...]:
    from mlnlab.kernels.circuits import circuit_checks, downward_passes, upward_passes

    return upward_passes, downward_passes, circuit_checks


def _structures() -> tuple[ModuleType, ...]:
    from mlnlab.kernels.lift import clause_newton, whole_model_newton

    return clause_newton, whole_model_newton


def _trees() -> tuple[ModuleType, ...]:
    from mlnlab.kernels.chains import tree_sweeps
    from mlnlab.kernels.trees import bit_columns, leaf_gains, tree_walks

    return bit_columns, leaf_gains, tree_walks, tree_sweeps


def _splits() -> tuple[ModuleType, ...]:
    from mlnlab.kernels.splits import circuit_splitting, split_regions, split_search, work_circuit

    return work_circuit, split_regions, circuit_splitting, split_search
