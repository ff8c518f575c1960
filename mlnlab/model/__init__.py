"""Hold models and data as frozen values: Markov logic networks, databases, worlds.

Start with ``mln/mln.py`` and ``database/database.py``. ``tables`` reads data from frames, files and SQLite;
``loading.py`` reads models and facts from files, with what they include.

It may import ``syntax`` and what lies below, and is the only layer of the engine that reads text.
What always holds: a database numbers the constants of each type, and holds the true tuples of each
predicate as sorted rows; what is not listed is false unless it is marked unknown; every change is another
value.
"""
