"""Hold the methods of inference: one file each, which ends in its ``METHOD`` record.

A method is found by its name, ``mc-sat`` in ``mc_sat.py``; nothing else may stand here. Start with
``enumeration.py``, the definition itself, or ``gibbs.py``, the shortest sampler. Methods never import each
other: whatever two of them share lives in the rooms beside this one. The conformance suite tests a new file
from the moment it exists.
"""
