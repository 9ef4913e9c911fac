"""From the answer of `DOMSnapshot.captureSnapshot` to a Snapshot; needs no browser.

The answer has one table per document, already in pre-order of the composed tree: shadow roots are
walked, slots hold what is slotted into them, the browser's own shadow trees are left out. What
remains is to splice each frame's document in below its frame element, to shift its boxes there,
and to keep only the strings that are used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from .snapshot import PSEUDO, STYLES, Float32, Int32, Meta, Snapshot

CURRENT_SOURCE = "current-src"

_DOCTYPE = 10
_SURROGATE = re.compile("[\ud800-\udfff]")

Insets = Mapping[int, tuple[float, float]]


@dataclass(slots=True)
class _Document:
    """One document's columns; numbers of strings and styles are those of the whole answer."""

    url: int
    parent: Int32  # [n] within the document
    kind: Int32  # [n]
    name: Int32  # [n]
    value: Int32  # [n]
    attr_count: Int32  # [n]
    attributes: Int32  # [a, 2] name, value
    row_node: Int32  # [m] within the document
    row_box: Float32  # [m, 4]
    row_style: Int32  # [m]
    row_paint: Int32  # [m]
    line_row: Int32  # [k] within the document
    line_box: Float32  # [k, 4]
    inside: dict[int, int]  # frame element → number of the document it holds
    inset: dict[int, tuple[float, float]]  # frame element → from its box to its content
    scroll: tuple[float, float]
    place: Int32  # [n] each node's number in the page


def frame_elements(result: Mapping[str, Any]) -> list[int]:
    """The backendNodeIds of all elements that hold a document."""
    return [
        tables["nodes"]["backendNodeId"][node]
        for tables in result["documents"]
        for node in tables["nodes"]["contentDocumentIndex"]["index"]
    ]


def decode(
    result: Mapping[str, Any], meta: Meta, screenshot: bytes = b"", insets: Insets | None = None
) -> Snapshot:
    """Build the Snapshot; `meta` is completed by what the answer knows: URLs and the page's size.

    insets: backendNodeId of a frame element → distance (left, top) from its box to its content.
    """
    strings = _Strings(result["strings"])
    reader = _Reader(strings, insets or {})
    documents = _reachable([reader.read(tables) for tables in result["documents"]])
    _place(documents)
    page = result["documents"][0]
    meta = replace(
        meta,
        resolved_url=strings.texts[documents[0].url],
        page_size=(round(page["contentWidth"]), round(page["contentHeight"])),
        frames=tuple(strings.texts[document.url] for document in documents),
    )
    return _assemble(documents, reader.style_table(), strings.texts, meta, screenshot)


class _Strings:
    """The answer's string table with lone surrogates replaced; grows by `add`."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = list(texts)
        try:
            "".join(texts).encode()
        except UnicodeEncodeError:
            self.texts = [_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text) for text in texts]
        self._added: dict[str, int] = {}

    def add(self, text: str) -> int:
        """The number of a text; the answer's own copy of it is another one."""
        number = self._added.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number


class _Reader:
    """Reads the documents of one answer; they share strings and style rows."""

    def __init__(self, strings: _Strings, insets: Insets) -> None:
        self.strings = strings
        self.insets = insets
        self.styles: dict[tuple[int, ...], int] = {}

    def read(self, tables: Mapping[str, Any]) -> _Document:
        nodes, layout, lines = tables["nodes"], tables["layout"], tables["textBoxes"]
        kind = np.array(nodes["nodeType"], np.int32)
        kind[nodes["pseudoType"]["index"]] = PSEUDO
        rows = [tuple(row) for row in layout["styles"]]
        inside = _pairs(nodes["contentDocumentIndex"])
        attributes, counts = self._attributes(nodes)
        return _Document(
            url=tables["documentURL"],
            parent=np.array(nodes["parentIndex"], np.int32),
            kind=kind,
            name=self._names(np.array(nodes["nodeName"], np.int32), kind),
            value=self._values(nodes, layout),
            attr_count=counts,
            attributes=attributes,
            row_node=np.array(layout["nodeIndex"], np.int32),
            row_box=np.array(layout["bounds"], np.float32).reshape(-1, 4),
            row_style=np.array([self._style(row) for row in rows], np.int32),
            row_paint=np.array(layout["paintOrders"], np.int32),
            line_row=np.array(lines["layoutIndex"], np.int32),
            line_box=np.array(lines["bounds"], np.float32).reshape(-1, 4),
            inside=inside,
            inset={i: self.insets.get(nodes["backendNodeId"][i], (0.0, 0.0)) for i in inside},
            scroll=(tables.get("scrollOffsetX", 0.0), tables.get("scrollOffsetY", 0.0)),
            place=np.arange(len(kind), dtype=np.int32),
        )

    def style_table(self) -> Int32:
        """Computed styles as strings, [rows, len(STYLES)]."""
        return np.array(list(self.styles), np.int32).reshape(-1, len(STYLES))

    def _style(self, row: tuple[int, ...]) -> int:
        # A document has no styles of its own.
        row = row or (self.strings.add(""),) * len(STYLES)
        return self.styles.setdefault(row, len(self.styles))

    def _names(self, names: Int32, kind: Int32) -> Int32:
        """Tags in lower case, one number for each; names: [n]."""
        known, positions = np.unique(names, return_inverse=True)
        texts = [self.strings.texts[number].lower() for number in known]
        lowered = np.array([self.strings.add(text) for text in texts], np.int32)[positions]
        return np.where(kind == _DOCTYPE, self.strings.add("!doctype"), lowered)

    def _values(self, nodes: Mapping[str, Any], layout: Mapping[str, Any]) -> Int32:
        """The text of each node, [n]; that of a pseudo element is the text it was laid out as."""
        value = np.array(nodes["nodeValue"], np.int32)
        texts: dict[int, str] = dict.fromkeys(nodes["pseudoType"]["index"], "")
        for node, text in zip(layout["nodeIndex"], layout["text"], strict=True):
            if text >= 0 and node in texts:
                texts[node] += self.strings.texts[text]
        for node, written in texts.items():
            # The letter stands in the text beside it as well.
            repeats = self.strings.texts[nodes["nodeName"][node]] == "::first-letter"
            value[node] = -1 if repeats else self.strings.add(written)
        return value

    def _attributes(self, nodes: Mapping[str, Any]) -> tuple[Int32, Int32]:
        """Attributes [a, 2], and how many each node has [n]."""
        lists: list[list[int]] = list(nodes["attributes"])
        for node, source in _pairs(nodes["currentSourceURL"]).items():
            lists[node] = [*lists[node], self.strings.add(CURRENT_SOURCE), source]
        counts = np.fromiter(map(len, lists), np.int32, len(lists)) // 2
        return np.fromiter(chain.from_iterable(lists), np.int32).reshape(-1, 2), counts


def _pairs(rare: Mapping[str, list[int]]) -> dict[int, int]:
    return dict(zip(rare["index"], rare["value"], strict=True))


def _reachable(documents: list[_Document]) -> list[_Document]:
    """The page's document and those that hang below it, parents first, numbered anew."""
    order = [0]
    for number in order:
        order += [child for _, child in sorted(documents[number].inside.items())]
    renumbered = {old: new for new, old in enumerate(order)}
    for number in order:
        inside = documents[number].inside
        documents[number].inside = {node: renumbered[child] for node, child in inside.items()}
    return [documents[number] for number in order]


def _place(documents: list[_Document]) -> None:
    """Give every node its number in the page and every box its place on it."""
    total = [len(document.kind) for document in documents]
    for number in reversed(range(len(documents))):
        total[number] += sum(total[child] for child in documents[number].inside.values())
    for document in documents:
        # A document's nodes come directly after its frame element: what follows moves back.
        moved = np.zeros(len(document.kind) + 1, np.int32)
        for node, child in document.inside.items():
            moved[node + 1] += total[child]
        document.place += np.cumsum(moved[:-1], dtype=np.int32)
        for node, child in document.inside.items():
            documents[child].place += document.place[node] + 1
            _shift(documents[child], _content_corner(document, node))


def _content_corner(document: _Document, node: int) -> tuple[float, float]:
    rows = np.flatnonzero(document.row_node == node)
    if not rows.size:
        return 0.0, 0.0
    x, y = document.row_box[rows[0], :2].tolist()
    left, top = document.inset[node]
    return x + left, y + top


def _shift(document: _Document, corner: tuple[float, float]) -> None:
    by = np.subtract(corner, document.scroll).astype(np.float32)
    document.row_box[:, :2] += by
    document.line_box[:, :2] += by


def _assemble(
    documents: list[_Document], styles: Int32, texts: list[str], meta: Meta, screenshot: bytes
) -> Snapshot:
    place = np.concatenate([document.place for document in documents])
    nodes = np.argsort(place)  # from a number in the page to one in `place`
    row_node = np.concatenate([document.place[document.row_node] for document in documents])
    rows = np.argsort(row_node, kind="stable")
    row_number = np.argsort(rows)
    first_row = np.cumsum([0, *(len(document.row_node) for document in documents)])
    lines = [row_number[d.line_row + first] for d, first in zip(documents, first_row, strict=False)]
    attr_count = np.concatenate([document.attr_count for document in documents])
    attributes = np.concatenate([document.attributes for document in documents])
    attributes = attributes[np.argsort(np.repeat(place, attr_count), kind="stable")]
    strings, (name, value, attributes, styles) = _compact(
        texts,
        np.concatenate([document.name for document in documents])[nodes],
        np.concatenate([document.value for document in documents])[nodes],
        attributes,
        styles,
    )
    return Snapshot(
        meta,
        strings,
        parent=_parents(documents)[nodes],
        kind=np.concatenate([document.kind for document in documents])[nodes].astype(np.uint8),
        name=name,
        value=value,
        frame=np.repeat(np.arange(len(documents)), [len(d.kind) for d in documents])[nodes].astype(
            np.int32
        ),
        attr_start=np.cumsum([0, *attr_count[nodes]], dtype=np.int32),
        attr_name=attributes[:, 0].copy(),
        attr_value=attributes[:, 1].copy(),
        row_node=row_node[rows],
        row_box=np.concatenate([document.row_box for document in documents])[rows],
        row_style=np.concatenate([document.row_style for document in documents])[rows],
        row_paint=np.concatenate([document.row_paint for document in documents])[rows],
        line_row=np.concatenate(lines).astype(np.int32),
        line_box=np.concatenate([document.line_box for document in documents]),
        styles=styles,
        screenshot=screenshot,
    )


def _parents(documents: list[_Document]) -> Int32:
    """Parents as numbers in the page, [n], document after document."""
    columns = [document.place[document.parent] for document in documents]
    columns[0][0] = -1
    for document in documents:
        for node, child in document.inside.items():
            columns[child][0] = document.place[node]
    return np.concatenate(columns)


def _compact(texts: list[str], *columns: Int32) -> tuple[tuple[str, ...], list[Int32]]:
    """The strings that the columns use, each once, and the columns in their new numbers."""
    used = np.unique(np.concatenate([column.ravel() for column in columns]))
    numbers: dict[str, int] = {}
    # Number -1, no string, is kept at the end, where an index of -1 finds it.
    renumbered = np.full(len(texts) + 1, -1, np.int32)
    for number in used[used >= 0].tolist():
        renumbered[number] = numbers.setdefault(texts[number], len(numbers))
    return tuple(numbers), [renumbered[column] for column in columns]
