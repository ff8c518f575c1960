"""Circuits: sums and products over flat arrays, one fold over many semirings."""
