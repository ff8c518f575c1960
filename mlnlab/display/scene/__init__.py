"""Drawings as data: a small tree of few primitives, and what writes it as SVG, HTML, PNG or JSON.

:mod:`~mlnlab.display.scene.items` says what a drawing consists of, :mod:`~mlnlab.display.scene.look` what the
words of its classes look like. ``mlnlab/display/static/scene.js`` draws the same tree in a browser.
"""
