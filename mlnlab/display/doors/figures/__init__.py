"""Make plotly figures for analysis: ``ml.plot(x)``.

Start with ``plotting.py``, the dispatch.
"""
