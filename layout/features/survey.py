"""What several groups of features read of a page, found once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...render.snapshot import ELEMENT, TEXT, Snapshot
from ..cdom import covered, depths_within
from ..page import Page
from .characters import read_characters
from .text import TextCounts, count_texts

Int32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """A page of n nodes and b blocks, with what is known of all of them."""

    page: Page
    tags: Tags
    depth: Int32  # [n] how many nodes stand above each
    classes: Int32  # [n] string number of the class, -1 for none
    path: Int32  # [b] from 0 on, the same for blocks below the same tags and classes
    words: list[list[str]]  # [b] of each block
    counts: TextCounts  # [b]


@dataclass(frozen=True, slots=True, eq=False)
class Tags:
    """The tags of the n nodes of a page."""

    page: Page
    number: dict[str, int]  # string number of each tag that is used
    element: Bool  # [n]

    def named(self, *tags: str) -> Bool:
        """Which nodes have one of these tags, [n]."""
        chosen = np.zeros(len(self.page.snapshot.strings), bool)
        chosen[[self.number[tag] for tag in tags if tag in self.number]] = True
        return chosen[self.page.snapshot.name] & self.element

    def below(self, *tags: str) -> Bool:
        """Which blocks stand below one of these tags, [b]."""
        tree = self.page.tree
        starts = np.flatnonzero(self.named(*tags)).astype(np.int32)
        return covered(starts, tree.end)[tree.leaf_node]


def survey_page(page: Page) -> Survey:
    """The Survey of a page."""
    snapshot = page.snapshot
    used = np.flatnonzero(np.bincount(snapshot.name)).tolist()
    tags = Tags(page, {snapshot.strings[i]: i for i in used}, snapshot.kind == ELEMENT)
    classes = attribute(snapshot, "class")
    depth, read = depths_within(page.tree.end), read_characters(page.text)
    return Survey(
        page=page,
        tags=tags,
        depth=depth,
        classes=classes,
        path=_paths(page, depth, classes),
        words=read.words,
        counts=count_texts(read, tags.below("a")),
    )


def attribute(snapshot: Snapshot, key: str) -> Int32:
    """The string number of one attribute of each node, -1 where it has no value, [n]."""
    values = np.full(len(snapshot.parent), -1, np.int32)
    if key in snapshot.strings:
        found = np.flatnonzero(snapshot.attr_name == snapshot.strings.index(key))
        owner = np.searchsorted(snapshot.attr_start, found, side="right") - 1
        values[owner] = snapshot.attr_value[found]
    return values


def _paths(page: Page, depth: Int32, classes: Int32) -> Int32:
    """A number from 0 on for the tags and classes that lead to each block, [b].

    Each element has a number by its tag, class and depth; that of a path is their sum, a universal
    hash (Carter and Wegman 1979): two paths get one number with a chance of about 2^-60.
    """
    snapshot, tree = page.snapshot, page.tree
    random = np.random.default_rng(0)
    strings, levels = len(snapshot.strings) + 1, int(depth.max(initial=0)) + 1
    tag_key, class_key, depth_key = (
        random.integers(1 << 64, size=size, dtype=np.uint64) for size in (strings, strings, levels)
    )
    own = (tag_key[snapshot.name] + class_key[classes]) * (depth_key[depth] | np.uint64(1))
    own[snapshot.kind == TEXT] = 0  # a block's path is that of its parent
    change = np.append(own, np.uint64(0))
    np.subtract.at(change, tree.end, own)
    return np.unique(np.cumsum(change)[tree.leaf_node], return_inverse=True)[1].astype(np.int32)
