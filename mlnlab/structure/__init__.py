"""Learning which formulas a model has: hypergraph lifting (LHL), its parts and its rivals."""
