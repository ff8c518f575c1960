"""Show views that answer: runs that are steered, and models that are edited while answers follow.

Start with ``running.py``, ``ml.live`` and ``ml.stepper``, and with ``view/view.py``, the base of all views.
``run`` drives algorithms, ``learn`` steers learners, ``edit`` and ``explore`` follow what somebody types.

It may import ``display`` and what lies below, and not ``jupyter``.
What always holds: every click is a method, too; a message from a page may be anything, and one that makes
no sense is left alone; a cell never blocks; what is drawn is the recorded step, and a closed view ends its
work.
"""
