"""True groundings of formulas, counted by planning and aggregation instead of enumeration."""
