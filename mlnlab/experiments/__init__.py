"""Data to experiment with, and the experiments."""
