"""Answers to questions about a model; one method in one file."""
