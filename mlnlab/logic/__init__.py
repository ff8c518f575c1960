"""Define formulas of first-order logic, their vocabulary and weights, and functions over them.

Start with ``formulas/formulas.py`` and ``vocabulary.py``. ``forms`` has the normal forms, ``evaluation.py``
the meaning in a world. Beside them stands what every layer above shares: ``suggestions.py`` repairs names,
``checked_options.py`` checks options, ``record_registry.py`` finds methods and learners by their names.

It may import ``algebra``, ``kernels``, ``steps`` and ``errors``.
What always holds: formulas are frozen values and hash by content; a hard formula is its own kind of weight,
never infinity; a formula has no truth value of its own; printing and reading are inverse.
"""

from mlnlab.logic.formulas import printing as printing  # so that print(formula) works wherever formulas do
