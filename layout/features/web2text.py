"""The 128 block and 25 edge features of Web2Text (Vogels, Ganea, Eickhoff 2018, section 3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...render.snapshot import Snapshot
from ..cdom import Cdom, covered, named
from ..page import Page
from .schema import FeatureSet, Float32, signed, standardise
from .text import TEXT_COLUMNS, TextCounts, count_texts, shared_text_columns, sum_ranges

Int32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

# The paper's list has `ul` twice.
PARENT_TAGS = (
    *("td", "div", "p", "tr", "table", "body", "ul", "span", "li", "blockquote"),
    *("b", "small", "a", "ol", "ul", "i", "form", "dl", "strong", "pre"),
)
LEAF_TAGS = (
    *("a", "p", "td", "b", "li", "span", "i", "tr", "div", "strong"),
    *("em", "h3", "h2", "table", "h4", "small", "sup", "h1", "blockquote"),
)
_NODE_COLUMNS = ("share_of_text", "link_density", *TEXT_COLUMNS, "has_input")
_LEAF_COLUMNS = (
    "has_word",
    "log_words",
    *TEXT_COLUMNS,
    "has_punctuation",
    "punctuation",
    "several_sentences",
    "position",
    "position_squared",
)

BLOCK = FeatureSet(
    "web2text-block",
    1,
    (
        "duplicate",
        "duplicate_10",
        "class_path_share",
        *(f"leaf.{name}" for name in _LEAF_COLUMNS),
        "parent.exists",
        *(f"parent.{name}" for name in _NODE_COLUMNS),
        *(f"parent.tag{i}.{tag}" for i, tag in enumerate(PARENT_TAGS)),
        "grandparent.exists",
        *(f"grandparent.{name}" for name in _NODE_COLUMNS),
        *(f"root.{name}" for name in _NODE_COLUMNS),
        *(f"leaf.tag.{tag}" for tag in LEAF_TAGS),
    ),
)
EDGE = FeatureSet(
    "web2text-edge",
    1,
    (
        "distance_2",
        "distance_3",
        "distance_4",
        "distance_more",
        "break",
        *(f"ancestor.{name}" for name in _NODE_COLUMNS),
    ),
)


def count_blocks(page: Page) -> TextCounts:
    """The counts of the texts of a page's b blocks."""
    return count_texts(page.text, _in_link(page.snapshot, page.tree))


def block_and_edge_features(page: Page, leaves: TextCounts) -> tuple[Float32, Float32]:
    """[b, 128] and [b - 1, 25] for the b leaves of a page; missing ancestors are zeros."""
    tree = page.tree
    if not len(page):
        return np.zeros((0, len(BLOCK)), np.float32), np.zeros((0, len(EDGE)), np.float32)
    nodes = _node_features(page.snapshot, tree, leaves)  # [g, 20]
    parent = tree.group_parent[tree.leaf_group]  # [b]
    grandparent = np.where(parent >= 0, tree.group_parent[parent], -1)
    blocks = np.concatenate(
        [
            _duplicates(page),
            _leaf_features(leaves),
            signed(parent >= 0)[:, None],
            _rows(nodes, parent),
            _rows(_tag_flags(page.snapshot, tree, PARENT_TAGS), parent),
            signed(grandparent >= 0)[:, None],
            _rows(nodes, grandparent),
            np.repeat(nodes[:1], len(page), axis=0),
            _tag_flags(page.snapshot, tree, LEAF_TAGS)[tree.leaf_group],
        ],
        axis=1,
    )
    return blocks, _edge_features(tree, nodes)


def _edge_features(tree: Cdom, nodes: Float32) -> Float32:
    depth = tree.group_depth[tree.leaf_group]
    distance = depth[:-1] + depth[1:] - 2 * tree.group_depth[tree.common_ancestor]
    hops = [signed(distance == 2), signed(distance == 3), signed(distance == 4)]
    columns = [*hops, signed(distance > 4), tree.break_before[1:].astype(np.float32)]
    return np.concatenate([np.stack(columns, axis=1), nodes[tree.common_ancestor]], axis=1)


def _leaf_features(counts: TextCounts) -> Float32:
    """[b, 24], in the order of _LEAF_COLUMNS."""
    words = np.clip(np.log(np.maximum(counts.words, 1)), 0, 3.5)
    ends = np.cumsum(counts.characters)
    position = (ends - counts.characters) / max(int(ends[-1]), 1)
    before = (
        standardise(signed(counts.words > 0), 0.8255, 0.5644),
        np.where(counts.words > 0, standardise(words, 1.5086, 1.205), 0),
    )
    after = (
        signed(counts.punctuation > 0),
        standardise(np.clip(counts.punctuation, 0, 10), 0.0694, 0.4084),
        signed(counts.sentences > 1),
        standardise(position, 0.5198, 0.2996),
        standardise(position**2, 0.36, 0.3157),
    )
    shared = shared_text_columns(counts, 2.5, 5.5, 3.392, 1.0645)
    return np.concatenate(
        [np.stack(before, axis=1), shared, np.stack(after, axis=1)], axis=1
    ).astype(np.float32)


def _node_features(snapshot: Snapshot, tree: Cdom, leaves: TextCounts) -> Float32:
    """[g, 20], in the order of _NODE_COLUMNS."""
    counts = sum_ranges(leaves, tree.first_leaf, tree.last_leaf)
    inputs = np.concatenate(([0], np.cumsum(named(snapshot, frozenset({"input"})))))
    head = tree.member_node[np.searchsorted(tree.member_group, np.arange(len(tree.first_leaf)))]
    edges = (
        counts.characters / counts.characters[0],
        standardise(counts.link_characters / counts.characters, 0.5, 0.5),
    )
    shared = shared_text_columns(counts, 2.5, 10, 6, 2.14)
    has_input = signed(inputs[tree.end[head]] > inputs[head])
    return np.concatenate([np.stack(edges, axis=1), shared, has_input[:, None]], axis=1).astype(
        np.float32
    )


def _tag_flags(snapshot: Snapshot, tree: Cdom, tags: Sequence[str]) -> Float32:
    """Whether one of the merged elements of a group has a tag, [g, len(tags)] of -1 and +1."""
    flags = np.zeros((len(tree.group_parent), len(tags)), bool)
    names = snapshot.name[tree.member_node]
    numbers = {snapshot.strings[number]: number for number in np.unique(names).tolist()}
    for column, tag in enumerate(tags):
        flags[tree.member_group[names == numbers.get(tag, -1)], column] = True
    return signed(flags)


def _rows(table: Float32, row: Int32) -> Float32:
    """Rows of a table, zeros for a negative row."""
    return np.where((row >= 0)[:, None], table[row], np.float32(0))


def _in_link(snapshot: Snapshot, tree: Cdom) -> Bool:
    """Which leaves stand below an `a`, [b]."""
    links = np.flatnonzero(named(snapshot, frozenset({"a"}))).astype(np.int32)
    return covered(links, tree.end)[tree.leaf_node]


def _duplicates(page: Page) -> Float32:
    """Same text on other leaves, and the share of leaves on the same class path, [b, 3]."""
    times = Counter(page.text)
    same = np.fromiter((times[text] for text in page.text), np.int64, len(page))
    path = class_paths(page.snapshot)[page.snapshot.parent[page.tree.leaf_node]]
    _, inverse, sizes = np.unique(path, return_inverse=True, return_counts=True)
    columns = (signed(same > 1), signed(same > 10), (sizes[inverse] / len(page)))
    return np.stack(columns, axis=1).astype(np.float32)


def class_paths(snapshot: Snapshot) -> Int32:
    """A number for the path of tags and classes that leads to each node, [n]."""
    numbers: dict[tuple[int, int, int], int] = {}
    names, parents = snapshot.name.tolist(), snapshot.parent.tolist()
    classes = _attribute_values(snapshot, "class")
    paths = [0] * len(parents)
    for node, (name, above) in enumerate(zip(names, parents, strict=True)):
        key = (paths[above] if above >= 0 else -1, name, classes[node])
        paths[node] = numbers.setdefault(key, len(numbers))
    return np.array(paths, np.int32)


def _attribute_values(snapshot: Snapshot, key: str) -> list[int]:
    """The string number of one attribute of each node, -1 where it has none."""
    values = np.full(len(snapshot.parent), -1, np.int32)
    number = snapshot.strings.index(key) if key in snapshot.strings else -1
    found = np.flatnonzero(snapshot.attr_name == number)
    owner = np.searchsorted(snapshot.attr_start, found, side="right") - 1
    values[owner] = snapshot.attr_value[found]
    return values.tolist()
