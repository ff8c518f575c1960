"""Run ``mlnlab reproduce``: one file for each published table or figure.

The experiments themselves are in ``experiments/reproduce``.
"""
