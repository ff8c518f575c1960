"""Learning weights: objectives say what is good, optimisers how to get there, one file each."""
