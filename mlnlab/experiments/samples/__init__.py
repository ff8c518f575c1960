"""Sample data, all our own: seeded simulators, two graphs of networkx, and exact answers beside them.

``ml.sample("friends_smokers")`` loads a data set as it lies in the folder ``sample_data``; the functions
here make the same data in any size and with any seed.
"""

from mlnlab.experiments.samples.citations import citations
from mlnlab.experiments.samples.department import department
from mlnlab.experiments.samples.florentine_families import florentine_families
from mlnlab.experiments.samples.friends_smokers import friends_smokers
from mlnlab.experiments.samples.karate_club import karate_club
from mlnlab.experiments.samples.loading import Sample, sample
from mlnlab.experiments.samples.movies import movies
from mlnlab.experiments.samples.texts import SampleTexts
from mlnlab.experiments.samples.university import university
from mlnlab.experiments.samples.web_pages import web_pages

__all__ = [
    "Sample",
    "SampleTexts",
    "citations",
    "department",
    "florentine_families",
    "friends_smokers",
    "karate_club",
    "movies",
    "sample",
    "university",
    "web_pages",
]
