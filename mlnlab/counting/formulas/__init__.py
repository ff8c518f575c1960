"""Turn formulas into the normal forms of counting: conjunctions, polynomials, networks of constraints.

Start with ``conjunctions.py``. A form keeps every variable of its formula: a variable that only equalities
mention still multiplies the count.
"""
