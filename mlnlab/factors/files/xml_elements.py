"""Read XML from anybody: elements with their lines; errors and hostile documents get a sentence.

Entities are refused where they are declared, so that a small file cannot grow, and no other file is read;
elements are nested at most ``DEEPEST`` times. Nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Safe here: declarations of entities end the parsing, see above.
from xml.parsers import expat

from mlnlab.errors import InputError
from mlnlab.syntax.sources import read_bytes

DEEPEST = 50_000


@dataclass(slots=True, eq=False)
class Element:
    """An element of a document: its name, its line, its attributes, the elements in it, and its text."""

    name: str
    line: int
    attributes: dict[str, str]
    inside: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, name: str) -> Iterator[Element]:
        """Yield the elements of a name directly inside."""
        return (element for element in self.inside if element.name == name)


class Document:
    """A document that is read: its name in errors, and its outermost element."""

    def __init__(self, name: str, content: bytes) -> None:
        """Read the bytes of a document."""
        self.name = name
        self._open: list[Element] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._add_text
        self._parser.EntityDeclHandler = self._refuse_entity
        self._root: Element | None = None
        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as problem:
            raise self.error(problem.lineno, f"this is not XML: {expat.ErrorString(problem.code)}") from None

    @property
    def root(self) -> Element:
        """The outermost element."""
        assert self._root is not None  # noqa: S101 - a document without one is not XML
        return self._root

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line = self._parser.CurrentLineNumber
        if len(self._open) >= DEEPEST:
            raise self.error(line, f"elements are nested more than {DEEPEST:,} times")
        element = Element(name, line, attributes)
        if self._open:
            self._open[-1].inside.append(element)
        else:
            self._root = element
        self._open.append(element)

    def _end(self, _name: str) -> None:
        self._open.pop()

    def _add_text(self, text: str) -> None:
        if not self._open[-1].inside:
            self._open[-1].text += text

    def _refuse_entity(self, *_declaration: object) -> None:
        line = self._parser.CurrentLineNumber
        raise self.error(line, "entities are declared, and a model needs none; remove the declarations")

    def error(self, line: int, problem: str) -> InputError:
        """Return an error with the place of a problem."""
        return InputError(f"{self.name}, line {line:,}: {problem}.")

    def only(self, element: Element, name: str) -> Element:
        """Return the one element of a name directly inside another."""
        found = list(element.all(name))
        if len(found) != 1:
            raise self.error(element.line, f"<{element.name}> holds {len(found)} <{name}>, and needs one")
        return found[0]

    def attribute(self, element: Element, name: str) -> str:
        """Return an attribute of an element."""
        if name not in element.attributes:
            raise self.error(element.line, f"<{element.name}> has no attribute {name}")
        return element.attributes[name]

    def whole_numbers(self, element: Element) -> list[int]:
        """Return the whole numbers of at least 0 that an element's text lists."""
        words = element.text.split()
        if not all(word.isascii() and word.isdigit() and len(word) <= 9 for word in words):
            raise self.error(element.line, f"<{element.name}> lists whole numbers, such as 0 1")
        return [int(word) for word in words]


def load_document(path: str | Path) -> Document:
    """Read a file of XML."""
    return Document(Path(path).name, read_bytes(path))
