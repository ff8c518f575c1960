"""Lifted inference: first-order models compiled without grounding them."""
