"""Show lifted models: compilation step by step, cells, sweeps over domain sizes.

Start with ``compile_pictures.py``.
"""
