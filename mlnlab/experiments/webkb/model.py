"""The model for WebKB: words tell the classes of pages, and classes those of the pages they link to.

The three templates of the thesis (section 4.3.1), each with a weight for every word and class, or every pair
of classes: 2 W C + C² weights. With C = 7 that is 14 W + 49, which is 10,891 for no number of words; 774
words and the priors of six of the classes make it.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlnlab.model.mln.mln import MLN

CATEGORIES = ("Person", "Student", "Faculty", "Professor", "Department", "Project", "Course")


def webkb_model(*, links: bool = True, absent_words: bool = True, priors: Sequence[str] = ()) -> MLN:
    """Return the model; its weights are to be learned.

    ``links=False`` leaves out the classes of linked pages, ``absent_words=False`` the rules about words that
    a page lacks; ``priors`` are classes that get a weight of their own, whatever stands on a page.
    """
    lines = ["Has(page, word)", "LinksTo(page, page)", "Class(page, class)", "", "Has(p, +w) => Class(p, +c)"]
    lines += ["!Has(p, +w) => Class(p, +c)"] if absent_words else []
    lines += ["Class(p1, +c1) ^ LinksTo(p1, p2) => Class(p2, +c2)"] if links else []
    model = MLN.from_text("\n".join(lines) + "\n", name="webkb.mln")
    for name in priors:
        model = model.add(
            model.parse(f'Class(p, "{name}")')
            if not name.isidentifier()
            else model.parse(f"Class(p, {name})")
        )
    return model
