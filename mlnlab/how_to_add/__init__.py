"""Show how to add something: a page for each kind, with a skeleton file to copy.

Start with the page of the thing that you add, such as ``structure_learner.md``. Each skeleton is small,
complete and tested: a test copies it to a package of its own, registers it, and runs the checks that every
file of its kind has to pass. Skeletons may import anything; nothing imports them.

What always holds: a page promises only what a test does with its skeleton.
"""
