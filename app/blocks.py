"""The blocks of a result: what was decided of each text of a page, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..layout.page import Labels, Page
from ..render.snapshot import ELEMENT, TEXT, Snapshot

Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]

# Of probabilities in results.
DIGITS = 4
# No person nests deeper; beyond it, all the paths together grow with the square of the page.
_MAX_PATH = 256


@dataclass(frozen=True, slots=True)
class Block:
    """One text of a page, with what was decided of it and why.

    id: its number on the page, from 0. probability: of being content.
    role: None, blocks have no roles so far.
    bbox: [x, y, width, height] in CSS pixels of the page, None where it was not laid out.
    xpath: of the text node within its document or shadow root; None at a depth no reader needs.
    frame: the URL of the frame it stands in, None in the page's own document.
    """

    id: int
    text: str
    label: Literal["content", "boilerplate"]
    probability: float
    role: str | None
    bbox: list[float] | None
    xpath: str | None
    frame: str | None
    reason: str


def list_blocks(page: Page, labels: Labels) -> tuple[Block, ...]:
    """All blocks of a page in reading order."""
    frames = page.snapshot.meta.frames
    frame = page.snapshot.frame[page.tree.leaf_node].tolist()
    laid_out: list[bool] = np.isfinite(page.box[:, 0]).tolist()
    boxes = np.round(page.box.astype(np.float64), 1).tolist()
    columns = (page.text, labels.content.tolist(), labels.probability.tolist(), labels.reasons)
    return tuple(
        Block(
            id=i,
            text=text,
            label="content" if content else "boilerplate",
            probability=round(probability, DIGITS),
            role=None,
            bbox=boxes[i] if laid_out[i] else None,
            xpath=xpath,
            frame=frames[frame[i]] if frame[i] else None,
            reason=reason,
        )
        for i, (text, content, probability, reason, xpath) in enumerate(
            zip(*columns, _xpaths(page), strict=True)
        )
    )


def _xpaths(page: Page) -> list[str | None]:
    """The XPaths of all blocks in one walk."""
    snapshot, members = page.snapshot, page.tree.member_node
    place = _places_among_siblings(snapshot)[members].tolist()
    columns = (members, snapshot.parent[members], snapshot.kind[members], snapshot.name[members])
    paths: dict[int, tuple[str, int] | None] = {}  # path, steps
    for k, node, above, kind, name in zip(place, *(c.tolist() for c in columns), strict=True):
        before = paths.get(above, ("", 0))
        if kind not in (ELEMENT, TEXT):
            paths[node] = ("", 0)
        elif before is None or before[1] == _MAX_PATH:
            paths[node] = None
        else:
            step = "text()" if kind == TEXT else snapshot.strings[name]
            paths[node] = (f"{before[0]}/{step}[{k}]", before[1] + 1)
    found = (paths[node] for node in page.tree.leaf_node.tolist())
    return [path and path[0] for path in found]


def _places_among_siblings(snapshot: Snapshot) -> Int32:
    """[n] from 1, among the siblings of the same name."""
    order = np.lexsort((snapshot.name, snapshot.parent))
    parent, name = snapshot.parent[order], snapshot.name[order]
    starts: Bool = np.ones(len(order), np.bool_)
    starts[1:] = (np.diff(parent) != 0) | (np.diff(name) != 0)
    first = np.flatnonzero(starts)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order)) - first[np.cumsum(starts) - 1] + 1
    return place
