"""Sample data, all our own: seeded simulators, two graphs of networkx, and exact answers beside them.

``ml.sample("friends_smokers")`` loads a data set as it lies in the folder ``sample_data``; the functions
here make the same data in any size and with any seed.
"""

from .citations.citations import citations
from .department.department import department
from .florentine_families.florentine_families import florentine_families
from .friends_smokers.friends_smokers import friends_smokers
from .karate_club.karate_club import karate_club
from .movies.movies import movies
from .texts import SampleTexts
from .university.university import university
from .web_pages.web_pages import web_pages

__all__ = [
    "SampleTexts",
    "citations",
    "department",
    "florentine_families",
    "friends_smokers",
    "karate_club",
    "movies",
    "university",
    "web_pages",
]
