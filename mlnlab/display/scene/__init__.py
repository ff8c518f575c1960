"""Define drawings as data: a small tree of few primitives, and its writers for SVG, HTML, PNG and JSON.

:mod:`~mlnlab.display.scene.items` defines the parts of a drawing, :mod:`~mlnlab.display.scene.look` the looks
of its classes. ``mlnlab/display/static/scene.js`` draws the same tree in a browser.
"""
