"""The content tree as plain text and as safe HTML; `markdown` has the third format."""

from __future__ import annotations

from lxml import etree

from .places import BLOCKS, CELLS

_LINES = frozenset({"li", "dt", "dd", "thead", "tbody", "tr", "caption", "figcaption"})
_INSIDE = frozenset({"li", "dt", "dd"})


def to_text(tree: etree._Element) -> str:
    """The words alone, as they stand on the page.

    Paragraphs, headings and other blocks are parted by a blank line; list items, rows of tables
    and line breaks by a line end; cells by a tab. Preformatted text is left as it is.
    """
    lines = _Lines()
    lines.add(tree)
    return "".join(lines.parts)


def to_html(tree: etree._Element) -> str:
    """A fragment of HTML: the elements of `places`, no attributes but addresses and spans."""
    return "\n".join(etree.tostring(child, encoding="unicode", method="html") for child in tree)


def to_bytes(tree: etree._Element) -> bytes:
    """The tree as it is, to be kept."""
    return etree.tostring(tree, encoding="utf-8")


def from_bytes(content: bytes) -> etree._Element:
    """The tree that `to_bytes` kept; an empty one for no bytes."""
    parser = etree.XMLParser(huge_tree=True, resolve_entities=False, no_network=True)
    return etree.fromstring(content or b"<article/>", parser)


class _Lines:
    """Collects text; what parts it from the next is put off until there is a next."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.pending = ""
        self.inside = 0  # depth of elements whose blocks are lines
        self.cells = 0  # depth of cells, whose blocks are words

    def add(self, element: etree._Element) -> None:
        """Append what an element holds; `places` bounds the depth of trees."""
        tag = element.tag
        parts = tag == "br" or tag in BLOCKS
        if parts:
            self._cross(element, tag, start=True)
        if text := element.text:
            self._write(text, verbatim=tag == "pre")
        for child in element:
            self.add(child)
            if tail := child.tail:
                self._write(tail)
        if parts:
            self._cross(element, tag, start=False)

    def _cross(self, element: etree._Element, tag: str, start: bool) -> None:
        """Pass the start or the end of an element that parts texts."""
        if tag in CELLS:
            self.cells += 1 if start else -1
            if start and element.getprevious() is not None:
                self.pending = self.pending.rstrip(" ") + "\t"
        elif self.cells:
            self.pending = self.pending or " "
        elif tag in _LINES:
            self._part(1)
            self.inside += 0 if tag not in _INSIDE else 1 if start else -1
        elif tag != "br":
            self._part(1 if self.inside else 2)
        elif start:
            self._part(1)

    def _write(self, text: str, verbatim: bool = False) -> None:
        """Append a text behind what is pending."""
        if self.pending and not verbatim:
            text = text.lstrip(" ")  # behind an image
        if text:
            self.parts += [self.pending, text] if self.parts else [text]
            self.pending = ""

    def _part(self, lines: int) -> None:
        if self.pending != "\n\n":
            # Empty cells at the end of a row are dropped with their tabs.
            self.pending = "\n" * max(lines, self.pending.count("\n"))
