"""The tables of a `DOMSnapshot.captureSnapshot` answer, one document at a time, as columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from .snapshot import PSEUDO, STYLES, Float32, Int32

CURRENT_SOURCE = "current-src"

_DOCTYPE = 10
_SURROGATE = re.compile("[\ud800-\udfff]")

Insets = Mapping[int, tuple[float, float]]


@dataclass(slots=True)
class Document:
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


class Strings:
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


class Reader:
    """Reads the documents of one answer; they share strings and style rows."""

    def __init__(self, strings: Strings, insets: Insets) -> None:
        self._strings = strings
        self._insets = insets
        self._styles: dict[tuple[int, ...], int] = {}

    def read(self, tables: Mapping[str, Any]) -> Document:
        """One of the answer's documents."""
        nodes, layout, lines = tables["nodes"], tables["layout"], tables["textBoxes"]
        kind = np.array(nodes["nodeType"], np.int32)
        kind[nodes["pseudoType"]["index"]] = PSEUDO
        rows = [tuple(row) for row in layout["styles"]]
        inside = _pairs(nodes["contentDocumentIndex"])
        attributes, counts = self._attributes(nodes)
        return Document(
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
            inset={i: self._insets.get(nodes["backendNodeId"][i], (0.0, 0.0)) for i in inside},
            scroll=(tables.get("scrollOffsetX", 0.0), tables.get("scrollOffsetY", 0.0)),
            place=np.arange(len(kind), dtype=np.int32),
        )

    def style_table(self) -> Int32:
        """Computed styles as strings, [rows, len(STYLES)]."""
        return self._filled(np.array(list(self._styles), np.int32).reshape(-1, len(STYLES)))

    def _style(self, row: tuple[int, ...]) -> int:
        # A document has no styles of its own.
        return self._styles.setdefault(row or (-1,) * len(STYLES), len(self._styles))

    def _filled(self, numbers: Int32) -> Int32:
        """String numbers with the answer's -1, which is an empty text, made a real one."""
        return np.where(numbers < 0, np.int32(self._strings.add("")), numbers)

    def _names(self, names: Int32, kind: Int32) -> Int32:
        """Tags in lower case, one number for each; names: [n]."""
        known, positions = np.unique(names, return_inverse=True)
        texts = [self._strings.texts[number].lower() for number in known]
        lowered = np.array([self._strings.add(text) for text in texts], np.int32)[positions]
        return np.where(kind == _DOCTYPE, self._strings.add("!doctype"), lowered)

    def _values(self, nodes: Mapping[str, Any], layout: Mapping[str, Any]) -> Int32:
        """The text of each node, [n]; that of a pseudo element is the text it was laid out as."""
        value = np.array(nodes["nodeValue"], np.int32)
        texts: dict[int, str] = dict.fromkeys(nodes["pseudoType"]["index"], "")
        for node, text in zip(layout["nodeIndex"], layout["text"], strict=True):
            if text >= 0 and node in texts:
                texts[node] += self._strings.texts[text]
        for node, written in texts.items():
            # The letter stands in the text beside it as well.
            repeats = self._strings.texts[nodes["nodeName"][node]] == "::first-letter"
            value[node] = -1 if repeats else self._strings.add(written)
        return value

    def _attributes(self, nodes: Mapping[str, Any]) -> tuple[Int32, Int32]:
        """Attributes [a, 2], and how many each node has [n]."""
        lists: list[list[int]] = list(nodes["attributes"])
        for node, source in _pairs(nodes["currentSourceURL"]).items():
            lists[node] = [*lists[node], self._strings.add(CURRENT_SOURCE), source]
        counts = np.fromiter(map(len, lists), np.int32, len(lists)) // 2
        pairs = np.fromiter(chain.from_iterable(lists), np.int32).reshape(-1, 2)
        return self._filled(pairs), counts


def _pairs(rare: Mapping[str, list[int]]) -> dict[int, int]:
    return dict(zip(rare["index"], rare["value"], strict=True))
