"""From a model and evidence to what is open: questions, choices, ground features."""
