"""Learn which formulas a model has: hypergraph lifting (LHL) and its parts.

    Database --LiftGraph--> LiftedHypergraph --FindPaths--> SupportedPath --CreateMLN--> candidates --> MLN

Start with ``learners/lhl.py``, one stream of states through all phases. Another learner is one file beside
it: ``learner_record.py`` says what it tells of itself, ``watching/structure_state.py`` what its states tell,
and ``how_to_add/structure_learner.md`` how to begin. ``clauses/whole_model.py`` scores clauses for all.

From low to high: lift, paths, templates, clauses, clusters, results, watching, beam, learners, ask; learners
do not import each other. LiftGraph's two searches are equal in every number, one to be read and one compiled;
paths are found in three ways that are held to each other; clauses are linear in the Δn of their path's
conjunctions.

It may import ``learning`` and what lies below.
What always holds: the same seed gives the same model in every process and with any executor; a stopped run
loses no score; what was changed by hand is another value, with weights learned anew.
"""
