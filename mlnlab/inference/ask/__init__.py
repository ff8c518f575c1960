"""Answer the questions of the public face: ``ml.infer``, ``ml.log_z``, ``ml.map_state`` and their kin.

Start with ``asking.py``; ``choosing.py`` is ``method="auto"``. This room is above
all methods: no method imports it.
"""
