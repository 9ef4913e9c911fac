"""The collapsed DOM of Web2Text (Vogels, Ganea, Eickhoff 2018, section 3.1), on arrays.

A leaf is a text node that is not blank. Elements without a leaf below them are dropped; an element
with one remaining child merges with it into one group, which keeps the merged tags. Groups stand
in pre-order, so that the leaves below a group are a range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..render.snapshot import ELEMENT, STYLES, TEXT, Snapshot

Int32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

DROPPED = frozenset(
    "br checkbox datalist head hr img input meta radio script select style textarea title "
    "video".split()
)
# Their own text is markup that the parser has not read.
_RAW_TEXT_PARENTS = frozenset({"iframe", "noembed", "noframes"})

BLOCK_TAGS = frozenset(
    "address article aside blockquote body br caption center dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup hr html "
    "iframe input legend li main menu nav noframes noscript ol optgroup option p pre search "
    "section summary table tbody td tfoot th thead tr ul video".split()
)
_INLINE_DISPLAYS = frozenset({"inline", "contents", "ruby", "ruby-text", "none", ""})
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad \t\r\n\f\xa0"


@dataclass(frozen=True, slots=True, eq=False)
class Cdom:
    """n nodes of the Snapshot, b leaves, g groups, m members (node, group)."""

    end: Int32  # [n] one past the last node below a node
    block_level: Bool  # [n] the node starts and ends a block of text
    blank: Bool  # [n] the node is white space between the texts
    leaf_node: Int32  # [b] text node
    leaf_group: Int32  # [b]
    member_node: Int32  # [m] the remaining nodes, in pre-order
    member_group: Int32  # [m]
    group_parent: Int32  # [g] -1 for the root
    group_depth: Int32  # [g] 0 for the root
    first_leaf: Int32  # [g]
    last_leaf: Int32  # [g] exclusive
    break_before: Bool  # [b] a block starts or ends between the leaf and the one before it
    common_ancestor: Int32  # [b - 1] the lowest group that holds leaves i and i + 1

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return len(self.leaf_node)


def collapse(snapshot: Snapshot) -> Cdom:
    """The collapsed DOM of a Snapshot. A page without text has no leaves and no groups."""
    end = subtree_ends(snapshot.parent)
    is_leaf, blank = _texts(snapshot, end)
    leaf_node = np.flatnonzero(is_leaf).astype(np.int32)
    leaves_before = np.concatenate(([0], np.cumsum(is_leaf)))  # [n + 1]
    first, last = leaves_before[:-1], leaves_before[end]  # [n]

    member_node = np.flatnonzero(last > first).astype(np.int32)
    rank = np.full(len(snapshot.parent) + 1, -1, np.int32)  # the last entry stands for "no parent"
    rank[member_node] = np.arange(len(member_node))
    above = rank[snapshot.parent[member_node]]  # [m] rank of the parent, -1 for the root
    children = np.bincount(above[above >= 0], minlength=len(member_node))
    # In pre-order a node with one child is followed by it: a group is a run of members.
    heads = (above < 0) | (children[above] != 1)
    member_group = (np.cumsum(heads) - 1).astype(np.int32)
    head_node, head_above = member_node[heads], above[heads]
    group_parent = np.where(head_above >= 0, member_group[head_above], -1).astype(np.int32)
    leaf_group = member_group[rank[leaf_node]]
    first_leaf = first[head_node].astype(np.int32)

    block_level = _block_levels(snapshot)
    # The highest group that starts at a leaf hangs below the ancestor shared with the leaf before.
    top = np.unique(first_leaf, return_index=True)[1]
    return Cdom(
        end=end,
        block_level=block_level,
        blank=blank,
        leaf_node=leaf_node,
        leaf_group=leaf_group,
        member_node=member_node,
        member_group=member_group,
        group_parent=group_parent,
        group_depth=depths(group_parent),
        first_leaf=first_leaf,
        last_leaf=last[head_node].astype(np.int32),
        break_before=_breaks(block_level, depths_within(end, block_level), leaf_node),
        common_ancestor=group_parent[top[1:]],
    )


def depths(parent: Int32, counted: Bool | None = None) -> Int32:
    """How many (counted) nodes stand above each node; [n] parents in pre-order, -1 for roots."""
    return depths_within(subtree_ends(parent), counted)


def depths_within(end: Int32, counted: Bool | None = None) -> Int32:
    """As `depths`, where the [n] ends of the nodes' subtrees are known."""
    nodes = np.arange(len(end)) if counted is None else np.flatnonzero(counted)
    opened = np.bincount(nodes + 1, minlength=len(end) + 1)
    closed = np.bincount(end[nodes], minlength=len(end) + 1)
    return np.cumsum((opened - closed)[:-1], dtype=np.int32)


def subtree_ends(parent: Int32) -> Int32:
    """One past the last node below each node, for [n] parents in pre-order."""
    last = np.arange(len(parent), dtype=np.int32)  # first of the node's last child, or the node
    below = np.flatnonzero(parent >= 0)
    last[parent[below]] = below  # of several values the last one stays
    # Pointer doubling: after k rounds each node points 2^k last children further down.
    while True:
        further = last[last]
        if np.array_equal(further, last):
            return last + np.int32(1)
        last = further


def covered(starts: Int32, end: Int32) -> Bool:
    """Which of the n nodes stand in a subtree that starts at one of `starts`."""
    change = np.zeros(len(end) + 1, np.int32)
    np.add.at(change, starts, 1)
    np.add.at(change, end[starts], -1)
    return np.cumsum(change[:-1]) > 0


def named(snapshot: Snapshot, names: frozenset[str]) -> Bool:
    """Which of the n nodes have one of these tags."""
    counts = np.bincount(snapshot.name)
    chosen = np.zeros(len(counts), bool)
    used = np.flatnonzero(counts).tolist()
    chosen[[number for number in used if snapshot.strings[number] in names]] = True
    return (snapshot.kind == ELEMENT) & chosen[snapshot.name]


def is_blank(text: str) -> bool:
    """Whether a person sees nothing of a text."""
    return text.isspace() or not text.strip(_INVISIBLE)


def _texts(snapshot: Snapshot, end: Int32) -> tuple[Bool, Bool]:
    """Which of the n nodes are leaves, and which are white space between them."""
    dropped = covered(np.flatnonzero(named(snapshot, DROPPED)).astype(np.int32), end)
    raw_parent = named(snapshot, _RAW_TEXT_PARENTS)
    mask = (snapshot.kind == TEXT) & ~dropped & ~raw_parent[snapshot.parent]
    blank, nodes = np.zeros(len(mask), bool), np.flatnonzero(mask)
    strings = (*snapshot.strings, "")  # where -1 finds no text
    texts = [strings[value] for value in snapshot.value[nodes].tolist()]
    spaces = list(map(str.isspace, texts))
    blank[nodes] = spaces
    seen = [not space and bool(t.strip(_INVISIBLE)) for space, t in zip(spaces, texts, strict=True)]
    mask[nodes] = seen
    aside = covered(np.flatnonzero(named(snapshot, frozenset({"noscript"}))).astype(np.int32), end)
    if (mask & aside).any() and not _holds_most(snapshot, mask & aside, mask & ~aside):
        mask &= ~aside
    return mask, blank


def _holds_most(snapshot: Snapshot, some: Bool, others: Bool) -> bool:
    """Whether some text nodes have more characters than the others.

    The paper drops `noscript`. Scripts off, it is the page itself on a few sites.
    """
    sizes = np.fromiter(map(len, snapshot.strings), np.int64, len(snapshot.strings))
    return bool(sizes[snapshot.value[some]].sum() > sizes[snapshot.value[others]].sum())


def _block_levels(snapshot: Snapshot) -> Bool:
    """By the display that the browser computed, by the tag where there is no layout."""
    block = named(snapshot, BLOCK_TAGS)
    if snapshot.rendered:
        display, floats = (
            np.fromiter(map(test, snapshot.strings), bool, len(snapshot.strings))[
                snapshot.styles[snapshot.row_style, STYLES.index(name)]
            ]
            for name, test in (
                ("display", _is_block_display),
                ("float", {"left", "right"}.__contains__),
            )
        )  # [rows] each
        # A float's display says "block"; a drop cap is part of its word all the same.
        decides = (
            (snapshot.kind[snapshot.row_node] == ELEMENT) & ~floats & (snapshot.row_style >= 0)
        )
        line_ends = named(snapshot, frozenset({"br"}))
        block[snapshot.row_node[decides]] = display[decides]
        block |= line_ends
    return block


def _is_block_display(value: str) -> bool:
    return value not in _INLINE_DISPLAYS and not value.startswith("inline")


def _breaks(block: Bool, block_depth: Int32, leaf_node: Int32) -> Bool:
    """Whether any block opens or closes on the way from one leaf to the next."""
    opened = np.diff(np.cumsum(block)[leaf_node], prepend=-1)
    closed = opened - np.diff(block_depth[leaf_node], prepend=0)
    breaks = (opened > 0) | (closed > 0)
    breaks[:1] = True
    return breaks
