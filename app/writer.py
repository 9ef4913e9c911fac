"""Writes texts and images with their places into one tree, opening and closing elements."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from lxml import etree

from ..layout.cdom import named
from ..render.snapshot import Snapshot
from .places import CELLS, LISTS, PARENTS, Place, spans

# What an element has its text in, if it may not hold any; the root's tag is "".
_HOLDER = {
    "": "p",
    "blockquote": "p",
    "dl": "dd",
    "figure": "p",
    "ol": "li",
    "table": "tr",
    "tbody": "tr",
    "thead": "tr",
    "tr": "td",
    "ul": "li",
}
_ANYTHING = frozenset({"", "blockquote", "figure"})
_IMPLIED = -1  # stands for the node of an element that the page leaves out


class Part(NamedTuple):
    """One text or image, and what parts it from the one before."""

    place: Place
    text: str = ""
    image: str = ""
    block: bool = False  # a block starts or ends in between
    breaks: int = 0  # line ends in between
    space: bool = False


class _Open(NamedTuple):
    """A block that is open; a tag at hand costs less than asking the element for it."""

    node: int
    tag: str
    element: etree._Element


class Writer:
    """A tree that grows at its end.

    `path` is the chain of open blocks, `marks` that of open inline elements. Texts gather in
    `texts`; they belong behind the element `before`, or at the start of the innermost open one.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.root = etree.Element("article")
        self.path: list[_Open] = []
        self.marks: list[tuple[tuple[str, str], etree._Element]] = []
        self.texts: list[str] = []
        self.before: etree._Element | None = None
        self.cells = _cells_by_row(snapshot)

    def add(self, part: Part) -> None:
        """Append a text or an image where its place says."""
        continues = self._enter(part)
        marks = part.place.marks
        if self.marks:
            parted = part.block or part.breaks > 0 or part.space
            self._close_marks(marks, merge_code=not parted)
        if continues and (part.block or part.breaks):
            self._append_void("br")
        elif continues and part.space:
            self.texts.append(" ")
        for mark in marks[len(self.marks) :]:
            element = self._append(mark[0])
            if mark[0] == "a":
                element.set("href", mark[1])
            self.marks.append((mark, element))
        if part.image:
            self._append_void("img").set("src", part.image)
        self.texts.append(part.text)

    def finish(self) -> etree._Element:
        """The whole tree."""
        self._close_blocks(0)
        return self.root

    def _enter(self, part: Part) -> bool:
        """Open the blocks around a part. Whether it continues a line of text that is open."""
        chain = part.place.blocks
        tag = chain[-1][1] if chain else ""
        shared, known = self._shared(chain)
        implied = self.path[shared:]
        same = known == len(chain) and all(block.node == _IMPLIED for block in implied)
        holder = implied[-1].tag if implied else tag
        if same and holder not in _HOLDER:
            parted = part.block or part.breaks >= 2
            if not parted or not (implied or holder == "p"):
                return True
            if not implied:
                shared, known = shared - 1, known - 1
        self._close_blocks(shared)
        for block in chain[known:]:
            self._open(*block)
        while tag in _HOLDER and not (tag == "figure" and part.image):
            tag = _HOLDER[tag]
            self._push(_IMPLIED, tag)
        return False

    def _shared(self, chain: tuple[tuple[int, str], ...]) -> tuple[int, int]:
        """How much of the path, and of a chain of blocks, the two have in common."""
        shared = known = 0
        for i, block in enumerate(self.path):
            if known < len(chain) and block.node == chain[known][0]:
                shared, known = i + 1, known + 1
            elif block.node != _IMPLIED:
                break
        return shared, known

    def _open(self, node: int, tag: str) -> None:
        """Open a block, with what HTML wants between it and the open one."""
        above = self.path[-1].tag if self.path else ""
        while above in _HOLDER and above not in _ANYTHING and above not in PARENTS.get(tag, ()):
            above = _HOLDER[above]
            last = self._last_item() if tag in LISTS else None
            if last is None:
                self._push(_IMPLIED, above)
            else:
                # A list right in a list belongs to the item above it.
                self._resume(last)
        if tag in CELLS:
            self._add_cells(before=node)
        self._push(node, tag)

    def _push(self, node: int, tag: str) -> None:
        element = self._append(tag)
        if tag in CELLS and node != _IMPLIED:
            self._set_spans(element, node)
        self.path.append(_Open(node, tag, element))

    def _last_item(self) -> etree._Element | None:
        last = next(self.path[-1].element.iterchildren(reversed=True), None)
        return last if last is not None and last.tag == "li" else None

    def _resume(self, item: etree._Element) -> None:
        self._flush()
        self.path.append(_Open(_IMPLIED, "li", item))
        self.before = next(item.iterchildren(reversed=True), None)

    def _add_cells(self, before: int | None = None) -> None:
        """Add the cells of the open row that hold nothing kept, up to a cell or to the end."""
        cells = self.cells.get(self.path[-1].node, deque())
        while cells and (before is None or cells[0] <= before):
            cell = cells.popleft()
            if cell != before:
                self._set_spans(self._append_void(self.snapshot.tag(cell)), cell)

    def _set_spans(self, element: etree._Element, cell: int) -> None:
        for name, value in spans(self.snapshot, cell):
            element.set(name, value)

    def _append(self, tag: str) -> etree._Element:
        """Append an element to the innermost open one; the caller opens it."""
        self._flush()
        self.before = None
        return etree.SubElement(self._innermost(), tag)

    def _append_void(self, tag: str) -> etree._Element:
        self.before = self._append(tag)
        return self.before

    def _close_marks(
        self, keep: tuple[tuple[str, str], ...] = (), merge_code: bool = False
    ) -> None:
        common = 0
        for (mark, _), kept in zip(self.marks, keep, strict=False):
            if mark != kept and not (merge_code and mark[0] == kept[0] == "code"):
                break
            common += 1
        while len(self.marks) > common:
            self._flush()
            self.before = self.marks.pop()[1]

    def _close_blocks(self, keep: int) -> None:
        self._close_marks()
        while len(self.path) > keep:
            if self.path[-1].tag == "tr":
                self._add_cells()
            self._flush()
            self.before = self.path.pop().element

    def _flush(self) -> None:
        if not self.texts:
            return
        text, self.texts = "".join(self.texts), []
        if text and self.before is None:
            innermost = self._innermost()
            innermost.text = (innermost.text or "") + text
        elif text and self.before is not None:
            self.before.tail = (self.before.tail or "") + text

    def _innermost(self) -> etree._Element:
        if self.marks:
            return self.marks[-1][1]
        return self.path[-1].element if self.path else self.root


def _cells_by_row(snapshot: Snapshot) -> dict[int, deque[int]]:
    """The cells of each row that take up room."""
    cells = named(snapshot, CELLS)
    if snapshot.rendered:
        laid_out = np.zeros(len(cells), bool)
        laid_out[snapshot.row_node] = True
        cells &= laid_out
    rows: dict[int, deque[int]] = {}
    nodes = np.flatnonzero(cells)
    for cell, row in zip(nodes.tolist(), snapshot.parent[nodes].tolist(), strict=True):
        rows.setdefault(row, deque()).append(cell)
    return rows
