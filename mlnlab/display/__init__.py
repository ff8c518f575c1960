"""Turn objects into HTML, pictures, LaTeX and text, with pure functions only.

Start with ``doors/bundles.py``: :func:`mlnlab.display.doors.bundles.bundle` is the one door, and
``doors/display_registry.py`` names the function that shows a type. ``scene``, ``card``, ``chart`` and
``nodelink`` are what the rooms of each subject are composed of.

It may import the whole engine, and neither ``widgets`` nor ``jupyter``; types know nothing of any of this.
What always holds: drawing runs no algorithm; data is escaped, and no id comes from it; a picture has a
table and says what it left out; a display that fails leaves the text, and raises in the tests.
"""
