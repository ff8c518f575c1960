"""The rules of compilation, one file each; :mod:`mlnlab.lifted.registry` has their order."""
