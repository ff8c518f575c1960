"""Which picture a run of an inference method gets: its own, or that of samplers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mlnlab.display.belief_pictures import belief_picture
from mlnlab.display.samplers import sampler_picture
from mlnlab.display.slice_pictures import slices_picture
from mlnlab.display.tree_pictures import structured_picture

if TYPE_CHECKING:
    from mlnlab.display.runs import RunPicture
    from mlnlab.inference.sampling import Sampler

OF_METHODS: Mapping[str, Callable[[Sampler], RunPicture]] = {
    "belief-propagation": belief_picture,
    "lifted-belief-propagation": belief_picture,
    "mc-sat": slices_picture,
    "mean-field": belief_picture,
    "structured-mean-field": structured_picture,
}


def method_picture(sampler: Sampler) -> RunPicture:
    """Return the pictures of a run of an inference method."""
    return OF_METHODS.get(sampler.method.name, sampler_picture)(sampler)
