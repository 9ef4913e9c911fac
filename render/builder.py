"""Collects the nodes of a page, in pre-order, into a Snapshot."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .snapshot import STYLES, Meta, Snapshot


class SnapshotBuilder:
    """Collects nodes in pre-order and interns their strings; `build` makes the Snapshot."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.parent: list[int] = []
        self.kind: list[int] = []
        self.name: list[int] = []
        self.value: list[int] = []
        self.frame: list[int] = []
        self.attr_start: list[int] = [0]
        self.attr_name: list[int] = []
        self.attr_value: list[int] = []

    def intern(self, text: str) -> int:
        """The number of a string."""
        return self.numbers.setdefault(text, len(self.numbers))

    def add(
        self,
        parent: int,
        kind: int,
        name: str,
        value: str | None = None,
        attributes: list[tuple[str, str]] | None = None,
        frame: int = 0,
    ) -> int:
        """Append a node and return its number."""
        numbers = self.numbers  # as `intern` does, without thousands of calls a page
        self.parent.append(parent)
        self.kind.append(kind)
        self.name.append(numbers.setdefault(name, len(numbers)))
        self.value.append(-1 if value is None else numbers.setdefault(value, len(numbers)))
        self.frame.append(frame)
        for key, text in attributes or ():
            self.attr_name.append(numbers.setdefault(key, len(numbers)))
            self.attr_value.append(numbers.setdefault(text, len(numbers)))
        self.attr_start.append(len(self.attr_name))
        return len(self.parent) - 1

    def build(self, meta: Meta, screenshot: bytes = b"", **layout: npt.NDArray[Any]) -> Snapshot:
        """The Snapshot of all that was added; `layout` has the layout columns of a rendering."""
        empty: dict[str, npt.NDArray[Any]] = {
            "row_node": np.zeros(0, np.int32),
            "row_box": np.zeros((0, 4), np.float32),
            "row_style": np.zeros(0, np.int32),
            "row_paint": np.zeros(0, np.int32),
            "line_row": np.zeros(0, np.int32),
            "line_box": np.zeros((0, 4), np.float32),
            "styles": np.zeros((0, len(STYLES)), np.int32),
        }
        return Snapshot(
            meta,
            tuple(self.numbers),
            parent=np.array(self.parent, np.int32),
            kind=np.array(self.kind, np.uint8),
            name=np.array(self.name, np.int32),
            value=np.array(self.value, np.int32),
            frame=np.array(self.frame, np.int32),
            attr_start=np.array(self.attr_start, np.int32),
            attr_name=np.array(self.attr_name, np.int32),
            attr_value=np.array(self.attr_value, np.int32),
            screenshot=screenshot,
            **(empty | layout),
        )
