"""The laid-out blocks of a page and the nodes around them, as the geometry features read them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...render.snapshot import TEXT
from ..cdom import covered
from ..page import Page, first_rows
from .css import StyleTable

Bool = npt.NDArray[np.bool_]
Float64 = npt.NDArray[np.float64]
Int32 = npt.NDArray[np.int32]
Int = npt.NDArray[np.intp]
Columns = dict[str, npt.NDArray[np.float64] | npt.NDArray[np.bool_]]

_FARTHEST = 1e7  # pixels; products of two such lengths are still exact enough


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """v blocks with a box, in reading order, k lines of them, n nodes; CSS pixels of the page."""

    page: Page
    block: Int  # [v] number in the page
    leaf: Int32  # [v] text node
    box: Float64  # [v, 4]
    lines: Float64  # [v] how many
    characters: Float64  # [v]
    style: Int32  # [v] row of `styles`
    line_block: Int  # [k] in 0..v - 1
    line_box: Float64  # [k, 4]
    column: Float64  # [v, 4] the nearest block-level box above, its own where there is none
    row: Int32  # [n] layout row, -1 for none
    node_box: Float64  # [n + 1, 4] NaN where there is none, as at the end
    node_style: Int32  # [n] row of `styles`, -1 for texts and where there is none
    styles: StyleTable
    page_width: float
    page_height: float
    screen_height: float

    def __len__(self) -> int:
        return len(self.block)

    def below(self, styled: Bool) -> Bool:
        """Which blocks stand in an element that has one of the styles, [s + 1] -> [v]."""
        if not styled.any():
            return np.zeros(len(self), bool)
        starts = np.flatnonzero(styled[self.node_style]).astype(np.int32)
        return covered(starts, self.page.tree.end)[self.leaf]


def build_scene(page: Page) -> Scene:
    """The Scene of a rendered page; it may hold no block."""
    snapshot, meta = page.snapshot, page.snapshot.meta
    block = np.flatnonzero(np.isfinite(page.box).all(axis=1))
    row = first_rows(snapshot)
    style = np.append(snapshot.row_style, -1)[row]
    leaf = page.tree.leaf_node[block]
    line_block, line_box = _lines(page, leaf)
    box, node_box = _bounded(page.box[block]), _node_boxes(snapshot.row_box, row)
    column = nearest(snapshot.parent, page.tree.block_level & (row >= 0))[leaf]
    return Scene(
        page=page,
        block=block,
        leaf=leaf,
        box=box,
        lines=page.lines[block].astype(np.float64),
        characters=np.fromiter(map(len, page.text), np.float64, len(page))[block],
        style=page.style[block],
        line_block=line_block,
        line_box=line_box,
        column=np.where(np.isnan(node_box[column]), box, node_box[column]),
        row=row,
        node_box=node_box,
        node_style=np.where(snapshot.kind == TEXT, -1, style),
        styles=StyleTable(snapshot),
        page_width=float(max(meta.page_size[0], 1)),
        page_height=float(max(meta.page_size[1], 1)),
        screen_height=float(max(meta.viewport[1], 1)),
    )


def nearest(above: Int32, flag: Bool) -> Int32:
    """Of each of n nodes itself or the first flagged one above it, [n], -1 for none.

    `above` has the node above each, -1 for roots. By pointer doubling: after k rounds each node
    has looked at 2^k of those above it.
    """
    size = len(above)
    if not flag.any():
        return np.full(size, -1, np.int32)
    target = np.append(np.where(flag, np.arange(size), above), size)
    target[target < 0] = size  # the last entry stands for "none"
    while True:
        further = target[target]
        if (further == target).all():
            return np.where(target < size, target, -1)[:size].astype(np.int32)
        target = further


def _node_boxes(row_box: npt.NDArray[np.float32], row: Int32) -> Float64:
    """[n + 1, 4], NaN for row -1 and at the end."""
    boxes = np.append(row_box, np.full((1, 4), np.nan, np.float32), axis=0)
    boxes[~np.isfinite(boxes).all(axis=1)] = np.nan
    return _bounded(np.append(boxes[row], boxes[-1:], axis=0))


def _lines(page: Page, leaf: Int32) -> tuple[Int, Float64]:
    """The line boxes that have an area, and the position in `leaf` of their text."""
    snapshot = page.snapshot
    position = np.full(len(snapshot.parent), -1, np.intp)
    position[leaf] = np.arange(len(leaf))
    block, box = position[snapshot.row_node[snapshot.line_row]], snapshot.line_box
    kept = (block >= 0) & np.isfinite(box).all(axis=1) & (box[:, 2] > 0) & (box[:, 3] > 0)
    return block[kept], _bounded(box[kept])


def _bounded(box: npt.NDArray[np.float32]) -> Float64:
    low = np.array([-_FARTHEST, -_FARTHEST, 0, 0])
    return np.clip(box.astype(np.float64), low, _FARTHEST)
