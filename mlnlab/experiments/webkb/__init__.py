"""Classify the pages of WebKB: the thesis's model, the data at hand, and synthetic data of its size."""

from mlnlab.experiments.webkb.model import CATEGORIES, webkb_model
from mlnlab.experiments.webkb.reading import mihalkova_mooney_databases, page_class_databases
from mlnlab.experiments.webkb.synthetic import SyntheticWeb, synthetic_web

__all__ = [
    "CATEGORIES",
    "SyntheticWeb",
    "mihalkova_mooney_databases",
    "page_class_databases",
    "synthetic_web",
    "webkb_model",
]
