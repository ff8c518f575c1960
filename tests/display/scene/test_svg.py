"""SVG files: they need nothing else, hold no markup of anybody else's, and fit into a notebook."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from mlnlab.display.card.cards import scene_picture
from mlnlab.display.card.markup import render
from mlnlab.display.scene.pixels import png_address, png_bytes, rgba
from mlnlab.display.scene.svg import svg_text
from tests.display.scene.gallery import GALLERY, dots

TAGS = {"svg", "title", "desc", "style", "g", "path", "circle", "rect", "text", "image"}


@pytest.mark.parametrize("name", GALLERY)
def test_files_are_sound_and_need_nothing(name):
    text = svg_text(GALLERY[name]())
    drawing = ElementTree.fromstring(text)
    elements = list(drawing.iter())
    assert {element.tag.rpartition("}")[2] for element in elements} <= TAGS
    names = {name for element in elements for name in element.attrib}
    assert not any(name.startswith("on") or name in {"id", "style"} for name in names)
    addresses = [element.get("href") for element in elements if element.get("href")]
    assert all(address.startswith("data:image/png;base64,") for address in addresses)
    assert not re.search(r"url\(|@import|@font-face", text)
    words = {word for element in elements for word in element.get("class", "").split()}
    assert all(word.startswith("mlnlab-") for word in words)


def test_a_picture_has_words_a_table_and_no_room_for_data():
    shown = render(scene_picture(GALLERY["hulls"](), "Alternative"))
    assert 'alt="Alternative"' in shown
    assert "<details>" not in shown
    with_table = render(scene_picture(GALLERY["hulls"](), "Alternative", "a table"))
    assert "<details><summary>as a table</summary>a table</details>" in with_table


def test_five_hundred_things_fit_into_a_notebook():
    shown = render(scene_picture(dots(500), "Dots"))
    assert len(shown) < 200_000


def test_pixels_are_what_a_browser_reads(browser):
    cells = np.array([[0, 1, 2], [2, 1, 0]], np.uint8)
    palette = [rgba("#ff0000"), rgba("#00ff00"), rgba("#0000ff", 128)]
    context = browser.new_context()
    read = context.new_page().evaluate(
        """async (source) => {
          const image = new Image();
          image.src = source;
          await image.decode();
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [image.width, image.height];
          canvas.getContext("2d").drawImage(image, 0, 0);
          return [image.width, image.height, ...canvas.getContext("2d").getImageData(0, 0, 3, 2).data];
        }""",
        png_address(cells, palette),
    )
    context.close()
    assert read[:2] == [3, 2]
    pixels = np.array(read[2:]).reshape(2, 3, 4)
    assert pixels[0, 0].tolist() == [255, 0, 0, 255]
    assert pixels[1, 1].tolist() == [0, 255, 0, 255]
    assert pixels[1, 0, 3] == 128


@pytest.mark.parametrize(
    ("cells", "palette"),
    [(np.zeros((0, 3), np.uint8), 1), (np.zeros((1, 1), np.uint8), 0), (np.full((1, 1), 2, np.uint8), 2)],
)
def test_pictures_that_cannot_be_are_refused(cells, palette):
    with pytest.raises(ValueError, match="colour"):
        png_bytes(cells, [rgba("#000000")] * palette)
