"""A Page: the blocks of a Snapshot in reading order, each with its text, path, box and style."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..render.snapshot import ELEMENT, STYLES, Snapshot
from .cdom import Cdom, collapse
from .geometry import overlap, union_by

Float32 = npt.NDArray[np.float32]
Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """The b blocks of one page; a block is a leaf of the collapsed DOM."""

    snapshot: Snapshot
    tree: Cdom
    text: tuple[str, ...]  # [b] white space collapsed, none at the ends
    box: Float32  # [b, 4] x, y, width, height in CSS pixels of the page; NaN where not laid out
    lines: Int32  # [b] line boxes
    style: Int32  # [b] row of snapshot.styles, -1 where not laid out
    run: Int32  # [b] blocks of one number follow each other without a break: a person's line
    space_before: Bool  # [b] white space or a gap parts the block from the one before it

    def __len__(self) -> int:
        return len(self.text)

    def tag_path(self, block: int) -> tuple[str, ...]:
        """The tags above a block, the page's root first."""
        above = self.snapshot.ancestors(int(self.tree.leaf_node[block]))
        tags = [self.snapshot.tag(node) for node in above if self.snapshot.kind[node] == ELEMENT]
        return tuple(reversed(tags))

    def frame(self, block: int) -> str | None:
        """The URL of the frame that a block stands in, None in the page's own document."""
        frame = int(self.snapshot.frame[self.tree.leaf_node[block]])
        return self.snapshot.meta.frames[frame] if frame else None

    def styles(self, block: int) -> dict[str, str]:
        """The computed styles of a block, none where it was not laid out."""
        row = int(self.style[block])
        if row < 0:
            return {}
        values = self.snapshot.styles[row].tolist()
        return {key: self.snapshot.strings[v] for key, v in zip(STYLES, values, strict=True)}


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """What the model says of the b blocks of a Page.

    kind: of the page, one of `model.kinds.KINDS`; "" from a model that tells none apart.
    """

    content: Bool  # [b]
    probability: Float32  # [b] of being content, by forward-backward
    reasons: tuple[str, ...]  # [b] one short line each
    kind: str = ""


def build_page(snapshot: Snapshot) -> Page:
    """The blocks of a Snapshot, none for a page without text."""
    tree = collapse(snapshot)
    raw = [snapshot.strings[value] for value in snapshot.value[tree.leaf_node].tolist()]
    row = first_rows(snapshot)[tree.leaf_node]
    style = np.where(row >= 0, snapshot.row_style[row], -1) if len(snapshot.row_node) else row
    leaf_of_node = np.full(len(snapshot.parent), -1, np.int32)
    leaf_of_node[tree.leaf_node] = np.arange(tree.leaves)
    leaf_of_line = leaf_of_node[snapshot.row_node[snapshot.line_row]]
    box, lines = union_by(leaf_of_line, snapshot.line_box, tree.leaves)
    space_before = _spaces(tree, raw) | _gaps(leaf_of_line, snapshot.line_box, tree.leaves)
    return Page(
        snapshot=snapshot,
        tree=tree,
        text=tuple(" ".join(text.split()) for text in raw),
        box=box,
        lines=lines,
        style=style.astype(np.int32),
        run=(np.cumsum(tree.break_before) - 1).astype(np.int32),
        space_before=space_before,
    )


def first_rows(snapshot: Snapshot) -> Int32:
    """The layout row of each of the n nodes, -1 for none.

    Of several the first counts: a first-letter fragment may stand in a second one.
    """
    row = np.full(len(snapshot.parent), -1, np.int32)
    row[snapshot.row_node[::-1]] = np.arange(len(snapshot.row_node) - 1, -1, -1)
    return row


def _spaces(tree: Cdom, raw: list[str]) -> Bool:
    """White space at either edge of two neighbours, or a blank text node between them."""
    leads = np.array([text[0].isspace() for text in raw], bool)
    trails = np.array([text[-1].isspace() for text in raw], bool)
    blanks = np.diff(np.cumsum(tree.blank)[tree.leaf_node], prepend=0) > 0
    return leads | np.append(True, trails[:-1])[: len(raw)] | blanks


def _gaps(leaf: Int32, box: Float32, size: int) -> Bool:
    """Whether a block starts to the right of where the one before ends, on the same line, [size].

    Boxes apart by a margin are read as two words; a space is about a quarter of a line's height.
    """
    gaps = np.zeros(size, bool)
    if not len(leaf) or size < 2:
        return gaps
    number = np.arange(len(leaf))
    first, last = np.full(size, -1), np.full(size, -1)
    kept = leaf >= 0
    first[leaf[kept][::-1]], last[leaf[kept]] = number[kept][::-1], number[kept]
    before, after = box[last[:-1]], box[first[1:]]
    gap = after[:, 0] - before[:, 0] - before[:, 2]
    height = np.minimum(before[:, 3], after[:, 3])
    shared = overlap(before[:, 1], before[:, 3], after[:, 1], after[:, 3])
    known = (last[:-1] >= 0) & (first[1:] >= 0)
    gaps[1:] = known & (shared > height / 2) & (gap > 0.4 * height)
    return gaps
