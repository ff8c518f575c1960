"""Sum over all worlds in cache-sized stretches, and answer without listing atoms.

Start with ``sweeps.py``. ``world_counts.py`` tells how many worlds there are before any is visited;
``lifted_trials.py`` tries a first-order circuit instead, within a budget of work.
"""
