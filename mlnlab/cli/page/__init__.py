"""A notebook as one HTML page that needs nothing else: read, execute, render, write."""
