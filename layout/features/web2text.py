"""The 128 block and 25 edge features of Web2Text (Vogels, Ganea, Eickhoff 2018, section 3.2)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from ..cdom import Cdom
from .schema import FeatureSet, Float32, signed, standardise
from .survey import Survey, Tags
from .text import TEXT_COLUMNS, TextCounts, shared_text_columns, sum_ranges

Int32 = npt.NDArray[np.int32]

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


def block_and_edge_features(survey: Survey) -> tuple[Float32, Float32]:
    """[b, 128] and [b - 1, 25] for the b leaves of a page; missing ancestors are zeros."""
    page, tree = survey.page, survey.page.tree
    if not len(page):
        return np.zeros((0, len(BLOCK)), np.float32), np.zeros((0, len(EDGE)), np.float32)
    nodes = _node_features(survey)  # [g, 20]
    tags = _tag_flags(survey.tags, tree)  # [g, 39]
    parent = tree.group_parent[tree.leaf_group]  # [b]
    grandparent = np.where(parent >= 0, tree.group_parent[parent], -1)
    blocks = np.concatenate(
        [
            _duplicates(survey),
            _leaf_features(survey.counts),
            signed(parent >= 0)[:, None],
            _rows(nodes, parent),
            _rows(tags[:, : len(PARENT_TAGS)], parent),
            signed(grandparent >= 0)[:, None],
            _rows(nodes, grandparent),
            np.repeat(nodes[:1], len(page), axis=0),
            tags[tree.leaf_group, len(PARENT_TAGS) :],
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


def _node_features(survey: Survey) -> Float32:
    """[g, 20], in the order of _NODE_COLUMNS."""
    tree = survey.page.tree
    counts = sum_ranges(survey.counts, tree.first_leaf, tree.last_leaf)
    inputs = np.concatenate(([0], np.cumsum(survey.tags.named("input"))))
    head = tree.member_node[_heads(tree)]
    edges = (
        counts.characters / counts.characters[0],
        standardise(counts.link_characters / counts.characters, 0.5, 0.5),
    )
    shared = shared_text_columns(counts, 2.5, 10, 6, 2.14)
    has_input = signed(inputs[tree.end[head]] > inputs[head])
    return np.concatenate([np.stack(edges, axis=1), shared, has_input[:, None]], axis=1).astype(
        np.float32
    )


def _heads(tree: Cdom) -> npt.NDArray[np.intp]:
    """The first member of each group, [g]."""
    return np.flatnonzero(np.diff(tree.member_group, prepend=-1))


def _tag_flags(tags: Tags, tree: Cdom) -> Float32:
    """Whether one of the merged nodes of a group has a tag, [g, 39] of -1 and +1.

    PARENT_TAGS, then LEAF_TAGS.
    """
    wanted = (*PARENT_TAGS, *LEAF_TAGS)
    bits = np.zeros(len(tags.page.snapshot.strings), np.int64)  # of each string, one a column
    for column, tag in enumerate(wanted):
        if tag in tags.number:
            bits[tags.number[tag]] |= 1 << column
    members = bits[tags.page.snapshot.name[tree.member_node]]  # [m]
    groups = np.bitwise_or.reduceat(members, _heads(tree))  # [g]
    return signed((groups[:, None] >> np.arange(len(wanted))) & 1 > 0)


def _rows(table: Float32, row: Int32) -> Float32:
    """Rows of a table, zeros for row -1."""
    return np.append(table, np.zeros((1, table.shape[1]), np.float32), axis=0)[row]


def _duplicates(survey: Survey) -> Float32:
    """Same text on other leaves, and the share of leaves on the same class path, [b, 3]."""
    texts, path = survey.page.text, survey.path
    times = Counter(texts)
    same = np.fromiter(map(times.__getitem__, texts), np.int64, len(texts))
    columns = (signed(same > 1), signed(same > 10), np.bincount(path)[path] / len(texts))
    return np.stack(columns, axis=1).astype(np.float32)
