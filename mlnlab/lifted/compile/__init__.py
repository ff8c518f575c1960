"""Compile a theory to a first-order circuit, rule by rule, and say why a rule did not apply.

Start with ``compiling.py``; ``rule_registry.py`` lists the rules in the order in which they are tried.
"""
