"""Cora: which citations are of the same paper? The model of the thesis's section 4.3.1, and canopies for it.

``cora_model()`` builds the model, ``cora_databases(folder, mln)`` reads the five splits as srlearn and others
ship them, ``canopies(db)`` rules out pairs that share hardly a word, and ``canopy_sizes`` says what that
saves and what it loses.
"""

from mlnlab.experiments.cora.canopies import Canopies, Canopy, canopies
from mlnlab.experiments.cora.identities import IDENTITIES, SAME, Identity
from mlnlab.experiments.cora.model import cora_databases, cora_model
from mlnlab.experiments.cora.own_fields import with_own_fields
from mlnlab.experiments.cora.sizes import CanopySizes, ModelSize, canopy_sizes

__all__ = [
    "IDENTITIES",
    "SAME",
    "Canopies",
    "Canopy",
    "CanopySizes",
    "Identity",
    "ModelSize",
    "canopies",
    "canopy_sizes",
    "cora_databases",
    "cora_model",
    "with_own_fields",
]
