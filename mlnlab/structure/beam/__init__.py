"""Search clauses by edits: which clauses there are around a clause, and by how much each improves a model.

Start with ``clause_edits.py``; ``edited_clauses.py`` keeps what was tried, ``candidate_gains.py`` scores it.
"""
