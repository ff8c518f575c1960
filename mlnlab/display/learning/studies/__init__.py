"""Show studies of learning: posteriors, landscapes, condition numbers, cross-validations."""
