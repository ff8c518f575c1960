"""See a grounding as a whole: its size before it is built, its graph, its factors, its bindings.

Start with ``ground_model.py``; ``network_size.py`` estimates first, so that nothing explodes.
"""
