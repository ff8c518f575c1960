"""Compile first-order models without grounding them, and ask for any weights and sizes.

``theory`` translates a model until no two constants of a subdomain differ; ``compile`` takes the first of
the ``rules`` that applies; ``circuit`` evaluates; ``cells`` does without rules where formulas relate at
most two constants; ``sampling`` draws worlds. Start with ``ask/lift.py``.

It may import ``grounding`` and what lies below.
What always holds: every number carries a bound of its error; where signs cancel, balls or exact numbers are
taken; what no rule lifts is named in the user's own formulas; costs are estimated before they are paid.
"""
