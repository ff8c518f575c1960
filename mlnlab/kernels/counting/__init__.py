"""Count over tables of true tuples: join, group, sum, and follow flips."""
