"""Where blocks stand in the DOM, as XPaths."""

from __future__ import annotations

import numpy as np

from ..render.snapshot import ELEMENT, TEXT, Snapshot
from .cdom import Bool, Int32
from .page import Page

# No person nests deeper; beyond it, all the paths together grow with the square of the page.
_MAX_STEPS = 256


def xpaths(page: Page) -> list[str | None]:
    """The XPath of each block's text node within its document or shadow root, [b].

    None for a block that stands deeper than _MAX_STEPS elements.
    """
    snapshot, members = page.snapshot, page.tree.member_node
    place = _places_among_siblings(snapshot)[members].tolist()
    columns = (members, snapshot.parent[members], snapshot.kind[members], snapshot.name[members])
    paths: dict[int, tuple[str, int] | None] = {}  # path, steps
    for k, node, above, kind, name in zip(place, *(c.tolist() for c in columns), strict=True):
        before = paths.get(above, ("", 0))
        if kind not in (ELEMENT, TEXT):
            paths[node] = ("", 0)
        elif before is None or before[1] == _MAX_STEPS:
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
