"""The rules of compilation, one file each; :mod:`mlnlab.lifted.compile.rule_registry` has their order."""
