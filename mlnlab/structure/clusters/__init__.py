"""Predict atoms from clusters: the rules of a lifted hypergraph as a model of their own.

Start with ``cluster_rules.py``.
"""
