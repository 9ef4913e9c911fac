"""From the answer of `DOMSnapshot.captureSnapshot` to a Snapshot; needs no browser.

The answer has one table per document, already in pre-order of the composed tree: shadow roots are
walked, slots hold what is slotted into them, the browser's own shadow trees are left out. What
remains is to splice each frame's document in below its frame element, to shift its boxes there,
and to keep only the strings that are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .snapshot import Int32, Meta, Snapshot
from .tables import Document, Insets, Reader, Strings


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
    strings = Strings(result["strings"])
    reader = Reader(strings, insets or {})
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


def _reachable(documents: list[Document]) -> list[Document]:
    """The page's document and those that hang below it, parents first, numbered anew."""
    order = [0]
    for number in order:
        order += [child for _, child in sorted(documents[number].inside.items())]
    renumbered = {old: new for new, old in enumerate(order)}
    for number in order:
        inside = documents[number].inside
        documents[number].inside = {node: renumbered[child] for node, child in inside.items()}
    return [documents[number] for number in order]


def _place(documents: list[Document]) -> None:
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


def _content_corner(document: Document, node: int) -> tuple[float, float]:
    rows = np.flatnonzero(document.row_node == node)
    if not rows.size:
        return 0.0, 0.0
    x, y = document.row_box[rows[0], :2].tolist()
    left, top = document.inset[node]
    return x + left, y + top


def _shift(document: Document, corner: tuple[float, float]) -> None:
    by = np.subtract(corner, document.scroll).astype(np.float32)
    document.row_box[:, :2] += by
    document.line_box[:, :2] += by


def _assemble(
    documents: list[Document], styles: Int32, texts: list[str], meta: Meta, screenshot: bytes
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


def _parents(documents: list[Document]) -> Int32:
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
