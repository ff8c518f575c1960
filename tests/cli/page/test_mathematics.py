"""LaTeX to MathML: what is drawn, what is left as text, what never becomes markup."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.cli.page.render import to_mathml, typeset, typeset_text

MATHML = "{http://www.w3.org/1998/Math/MathML}"


@pytest.mark.parametrize(
    "latex",
    [
        r"P(x)=\frac{1}{Z}\exp\left(\sum_i w_i n_i(x)\right)",
        r"\forall x\; \mathrm{Smokes}(x) \Rightarrow \lnot \mathrm{Cancer}(x)",
        r"\begin{aligned} a &= b \\ c &= d \end{aligned}",
        r"\begin{cases} 1 & x > 0 \\ 0 & \text{else} \end{cases}",
        r"\hat{w} = \operatorname*{argmax}_w \mathcal{L}(w)",
    ],
)
def test_mathematics_of_the_notebooks_is_drawn(latex):
    mathml = to_mathml(latex, block=True)
    assert mathml is not None
    ElementTree.fromstring(mathml)
    assert "\\" not in mathml


def test_a_predicate_is_one_word():
    assert ">Smokes</mi>" in to_mathml(r"\mathrm{Smokes}(x)", block=False)


@pytest.mark.parametrize("latex", [r"\foo{x}", r"\frac{1}", "x_{", r"\left( x", r"\begin{nonsense} a & b"])
def test_bad_latex_is_left_alone(latex):
    assert to_mathml(latex, block=False) is None
    assert typeset_text(f"${latex}$") is None


@given(st.text(max_size=40))
def test_any_text_gives_sound_mathml_or_nothing(latex):
    mathml = to_mathml(latex, block=False)
    if mathml is not None:
        tags = {element.tag for element in ElementTree.fromstring(mathml).iter()}
        assert all(tag.startswith(MATHML) for tag in tags)


def test_text_inside_formulas_stays_text():
    mathml = to_mathml(r"\text{<img src=x onerror=alert(1)>}", block=False)
    assert "<img" not in mathml
    assert "&lt;img" in mathml


def test_prices_are_no_formulas():
    assert typeset_text("from $5 to $6") is None


def test_code_and_marked_text_are_left_alone():
    page = BeautifulSoup(
        '<p>$x$</p><pre>$x$</pre><td class="tex2jax_ignore"><b>$x$</b></td><!-- $x$ -->', "html.parser"
    )
    typeset(page)
    assert len(page.find_all("math")) == 1
    assert page.pre.string == page.b.string == "$x$"
