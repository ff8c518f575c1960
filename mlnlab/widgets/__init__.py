"""Views that answer: runs that are steered, and models that are edited while their answers follow."""
