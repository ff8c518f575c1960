"""Cluster constants and lay paths: the compiled loops of structure learning."""
