"""Run, watch, record, replay, stop and resume iterative algorithms: streams of frozen states.

Start with ``step.py``, the protocols and ``run``. ``values`` takes states apart and writes them,
``recordings`` keeps them, ``runs`` drives them, ``files`` makes checkpoints of them.

It may import ``errors`` alone.

What always holds:

- A state that can be resumed carries the identity of its run (``run_identity.py``): method, data, model,
  weights, question, settings, prior and seed. ``resume_run`` and ``check_state`` are the one door: they
  compare identities, then hold each part against the shape, type and range that its class declares
  (``state_layout.py``), so that kernels trust what they get. Parameters that only say how long a run goes on
  are no part of it. States of older versions can be looked at, not resumed. A forged world that is possible
  cannot be told from a true one.
- A progress line is an observer like any other (``runs/run_line.py``); work without steps reports its parts
  (``runs/working.py``) and does not know who listens. ``ml.so_far()`` asks ``runs/interrupted.py`` for the
  results of an interrupted run. Work beyond the free memory is refused first (``free_memory.py``).
- Every file is written whole or not at all (``safe_files.py``); a checkpointer never gives up.
"""
