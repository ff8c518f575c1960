"""Turn a notebook into one HTML page that needs nothing else: read, execute, render, write.

The page loads nothing by itself and leads nowhere unless its reader clicks. ``safe_markup.py`` keeps of the
notebook's markup only tags and attributes that show something, since a content security policy covers neither
navigation (``<meta refresh>``) nor early connections; the policy in ``render.py`` lets the browser run two
scripts, by their hashes, which draw figures from data. ``tests/cli/page/test_run_hostile.py`` opens
some fifty tricks in Chromium beside a server that nobody may ask.
"""
