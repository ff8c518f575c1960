"""Keep the harmless markup of a notebook: nothing that runs, fetches or leads away by itself.

Both lists name what may stay. Comments go, text and attributes are escaped, style sheets lose their ``<``:
then every ``<`` that is left begins a tag of the list, and no browser can read the markup as anything else.
"""

from __future__ import annotations

import re
from collections import Counter

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PreformattedString, Tag

from mlnlab.errors import count_of

_TEXT_TAGS = """a abbr address article aside audio b bdi bdo big blockquote br caption center cite code
    col colgroup dd del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i
    img input ins kbd label li main mark meter nav ol p picture pre progress q rp rt ruby s samp section
    small source span strike strong style sub summary sup table tbody td tfoot th thead time tr tt u ul var
    video wbr"""
_MATHEMATICS_TAGS = """annotation math menclose merror mfrac mi mlabeledtr mmultiscripts mn mo mover
    mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr
    munder munderover none semantics"""
# Without what animates: an animation can change an address.
_DRAWING_TAGS = """circle clippath defs desc ellipse feblend fecolormatrix fecomposite feflood
    fegaussianblur femerge femergenode feoffset filter foreignobject g image line lineargradient marker mask
    path pattern polygon polyline radialgradient rect stop svg symbol text textpath title tspan use"""
# What stands inside these was not meant to be read; other tags that are not on the list leave their text.
_WHOLE_TAGS = """annotation-xml applet base embed frame frameset iframe link meta metadata noembed
    noframes noscript object plaintext script select template textarea xmp"""
_TEXT_ATTRIBUTES = """align alt autoplay border cellpadding cellspacing checked class cols colspan color
    controls datetime dir disabled height high hidden id kind label lang loop low max min muted open optimum
    reversed role rows rowspan scope span start style tabindex title type valign value width"""
_MATHEMATICS_ATTRIBUTES = """accent accentunder columnalign columnlines columnspacing columnspan
    denomalign depth display displaystyle encoding fence linethickness lspace mathbackground mathcolor
    mathsize mathvariant maxsize minsize movablelimits notation numalign rowalign rowlines rowspacing rspace
    scriptlevel separator stretchy symmetric voffset"""
_DRAWING_ATTRIBUTES = """clip-path clip-rule clippathunits cx cy d dominant-baseline dx dy fill
    fill-opacity fill-rule filter filterunits font-family font-size font-style font-weight fx fy
    gradienttransform gradientunits in in2 k1 k2 k3 k4 letter-spacing marker-end marker-mid marker-start
    markerheight markerunits markerwidth mask maskcontentunits maskunits mode offset opacity operator orient
    overflow pathlength patterncontentunits patterntransform patternunits points preserveaspectratio r refx
    refy result rotate rx ry shape-rendering startoffset stddeviation stop-color stop-opacity stroke
    stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity
    stroke-width text-anchor text-decoration text-rendering textlength transform values vector-effect
    version viewbox visibility word-spacing x x1 x2 xml:space xmlns xmlns:xlink y y1 y2"""
_TAGS = frozenset(f"{_TEXT_TAGS} {_MATHEMATICS_TAGS} {_DRAWING_TAGS}".split())
_WHOLE = frozenset(_WHOLE_TAGS.split())
_ATTRIBUTES = frozenset(f"{_TEXT_ATTRIBUTES} {_MATHEMATICS_ATTRIBUTES} {_DRAWING_ATTRIBUTES}".split())
_ADDRESSES = ("href", "src", "xlink:href")
_SHOWING = frozenset({"audio", "image", "img", "source", "video"})
# What a reader may click; an address without a scheme is one beside the page.
_CLICKED = re.compile(r"(https?|mailto):|[^:]*$|[^:]*[/?#]", re.IGNORECASE)
_INSIDE = re.compile(r"data:(image|audio|video)/", re.IGNORECASE)
_NOT_READ = re.compile(r"[\x00-\x20]+")  # browsers skip such characters in an address
_SCRIPT = re.compile(
    r"|module|speculationrules|importmap|(text|application)/(x-)?(java|ecma|j)script", re.IGNORECASE
)


def keep_what_shows(body: str) -> str:
    """Return a page's body with harmless markup only, after a remark on the removed parts."""
    page = BeautifulSoup(body, "html.parser")
    left_out: Counter[str] = Counter()
    for text in page.find_all(string=lambda text: isinstance(text, PreformattedString)):
        text.extract()  # comments, and what a parser may take for one
    for tag in page.find_all(True):
        if not tag.decomposed:
            _keep(tag, left_out)
    return _remark(left_out) + page.decode(formatter="minimal")


def _keep(tag: Tag, left_out: Counter[str]) -> None:
    """Keep a tag with the attributes that may stay, or its content, or nothing of it."""
    kind = _kind_of(tag)
    if kind:
        left_out[kind] += 1
    if tag.name in _WHOLE:
        if kind in {"script", "frame"}:
            tag.insert_before(_note(f"{kind} left out"))
        tag.decompose()
    elif tag.name not in _TAGS or (tag.name == "input" and str(tag.get("type")).lower() != "checkbox"):
        tag.unwrap()
    else:
        _keep_attributes(tag, left_out)
        if tag.name == "style":
            # In a drawing a browser reads tags within a style sheet.
            tag.string = tag.get_text().replace("<", "\\3c ")


def _kind_of(tag: Tag) -> str:
    """Return the ordinary name of a tag that acts; empty for one that merely shows."""
    match tag.name:
        case "script":
            return "script" if _SCRIPT.fullmatch(str(tag.get("type") or "").partition(";")[0].strip()) else ""
        case "iframe" | "frame" | "object" | "embed" | "applet":
            return "frame"
        case "form":
            return "form"
        case "meta" | "link" | "base":
            return "instruction to the browser"
        case _:
            return ""


def _keep_attributes(tag: Tag, left_out: Counter[str]) -> None:
    for name in list(tag.attrs):
        address = str(tag[name])
        if name in _ADDRESSES and _may_lead(tag.name, address):
            continue
        if name == "name" and tag.name == "a":
            continue
        if name not in _ATTRIBUTES and not name.startswith("aria-"):
            del tag[name]
            if name in _ADDRESSES:
                word, said = ("picture or sound", "shown") if tag.name in _SHOWING else ("link", "followed")
                left_out[word] += 1
                tag["title"] = f"not {said}: {address}"
            elif name.startswith("on"):
                left_out["event handler"] += 1
    if tag.name == "input":
        tag["disabled"] = ""


def _may_lead(tag: str, address: str) -> bool:
    """Return whether an address is one to click, one that embeds its content, or one within the page."""
    address = _NOT_READ.sub("", address)
    if tag == "a":
        return _CLICKED.match(address) is not None
    return _INSIDE.match(address) is not None if tag in _SHOWING else address.startswith("#")


def _note(words: str) -> Tag:
    note = BeautifulSoup("", "html.parser").new_tag("small", attrs={"class": "left-out"})
    note.append(NavigableString(f"[{words}]"))
    return note


def _remark(left_out: Counter[str]) -> str:
    """Return one paragraph on the removed parts."""
    if not left_out:
        return ""
    plurals = {
        "instruction to the browser": "instructions to the browser",
        "picture or sound": "pictures or sounds",
    }
    words = ", ".join(count_of(number, kind, plurals.get(kind, "")) for kind, number in left_out.items())
    return (
        '<p class="left-out">This page runs only its own scripts, and loads nothing by itself. '
        f"Left out of the notebook: {words}.</p>\n"
    )
