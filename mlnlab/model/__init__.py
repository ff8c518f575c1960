"""Models and data as frozen values: Markov logic networks, databases, worlds."""
