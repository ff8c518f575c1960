"""From an object to what a person reads: HTML, pictures, LaTeX and text, all by pure functions.

:func:`mlnlab.display.bundles.bundle` is the one door; the files beside it hold one kind of object each.
The types themselves know nothing of any of this.
"""
