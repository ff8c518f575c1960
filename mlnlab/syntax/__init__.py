"""Read and write formulas, models and facts; every problem of a text is a diagnostic with its place.

Start with ``formulas/analysis.py`` for models and ``facts/fact_text.py`` for facts. A text is split into
statements, each is parsed by itself, and types and weights are found afterwards.

It may import ``logic`` and what lies below; above ``model`` only display, widgets, jupyter and cli import
it.
What always holds: all problems are found in one pass, each with a place and where possible a repair; no
text is run as code; a text of any kind ends in a value or in diagnostics, never in a crash.
"""
