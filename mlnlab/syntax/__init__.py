"""Text to formulas, models and facts, and back; every problem of a text is a diagnostic with its place."""
