"""Collects the nodes of a page, in pre-order, into a Snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from itertools import count

import numpy as np

from .snapshot import DOCUMENT, ELEMENT, FRAGMENT, STYLES, TEXT, Int32, Meta, Snapshot, UInt8

TEXT_NAME = "#text"
# Of nodes that are no elements.
_KINDS = {"#document": DOCUMENT, "#document-fragment": FRAGMENT, TEXT_NAME: TEXT}


class SnapshotBuilder:
    """Collects nodes in pre-order, a list for each column; `build` makes the Snapshot.

    Who has thousands of nodes appends to the lists: a call for each node costs as much as its rest.
    """

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.name: list[str] = []  # it says of which kind a node is, see `_KINDS`
        self.text: list[str] = []  # of each text node
        self.attr_count: list[int] = []  # of each node that is no text
        self.attr_name: list[str] = []
        self.attr_value: list[str | None] = []

    def add(self, parent: int, name: str, text: str = "") -> int:
        """Append a node without attributes and return its number; `text` is that of a text node."""
        self.parent.append(parent)
        self.name.append(name)
        if name == TEXT_NAME:
            self.text.append(text)
        else:
            self.attr_count.append(0)
        return len(self.parent) - 1

    def build(self, meta: Meta) -> Snapshot:
        """The Snapshot of all that was added: one document, not laid out."""
        numbers: defaultdict[str, int] = defaultdict(count().__next__)  # in the order of first use

        def column(texts: Collection[str]) -> Int32:
            return np.fromiter(map(numbers.__getitem__, texts), np.int32, len(texts))

        # Tags come first: columns of names stay small numbers.
        name = column(self.name)
        kind = _kinds(name, numbers)
        value, attr_start = np.full(len(name), -1, np.int32), np.zeros(len(name) + 1, np.int32)
        value[kind == TEXT] = column(self.text)
        attr_start[1:][kind != TEXT] = self.attr_count
        attr_name = column(self.attr_name)
        attr_value = column([text or "" for text in self.attr_value])
        return Snapshot(
            meta,
            tuple(numbers),
            parent=np.array(self.parent, np.int32),
            kind=kind,
            name=name,
            value=value,
            frame=np.zeros(len(name), np.int32),
            attr_start=np.cumsum(attr_start, dtype=np.int32),
            attr_name=attr_name,
            attr_value=attr_value,
            row_node=np.zeros(0, np.int32),
            row_box=np.zeros((0, 4), np.float32),
            row_style=np.zeros(0, np.int32),
            row_paint=np.zeros(0, np.int32),
            line_row=np.zeros(0, np.int32),
            line_box=np.zeros((0, 4), np.float32),
            styles=np.zeros((0, len(STYLES)), np.int32),
        )


def _kinds(name: Int32, numbers: dict[str, int]) -> UInt8:
    kind = np.full(len(name), ELEMENT, np.uint8)
    for text, number in _KINDS.items():
        if text in numbers:
            kind[name == numbers[text]] = number
    return kind
