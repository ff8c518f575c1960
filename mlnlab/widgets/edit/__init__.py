"""Edit models: text and table side by side, undo, probabilities that follow.

Start with ``editing.py``; ``edited_model.py`` is the model without its page.
"""
