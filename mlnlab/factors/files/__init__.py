"""Read and write networks: UAI and BIF files, each mistake with its place.

Start with ``uai_reading.py``.
"""
