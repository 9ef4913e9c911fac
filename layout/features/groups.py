"""What repeats in a page: the cards of a shop, the posts of a thread, the rows of results.

A group is three or more elements of one name and kind below one parent, its items: a person takes
or leaves them together. Of the groups above a block the innermost and the outermost count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..cdom import covered
from .schema import FeatureSet, Float32
from .survey import Survey

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

_OF_GROUP = (
    "items",  # log
    "place",  # of the item among them, from 0 to 1
    "text",  # share of the page's characters
    "item_text",  # log of the mean characters
    "item_blocks",  # log of the mean
    "links",  # share of its characters
    "even",  # how alike the items are in length, 1 at most
    "headed",  # share of the items that hold a heading
)
GROUPS = FeatureSet(
    "groups",
    1,
    (
        *(f"inner.{name}" for name in _OF_GROUP),
        *(f"outer.{name}" for name in _OF_GROUP),
        "nested",  # items above the block
    ),
)

_FEWEST = 3
_HEADINGS = tuple("h1 h2 h3 h4 h5 h6".split())
_NUMBERING = re.compile(r"[\d_-]+")


@dataclass(frozen=True, slots=True, eq=False)
class _Items:
    """The i items of all groups of a page, in pre-order: outer ones before those inside."""

    group: Int64  # [i]
    first: Int64  # [i] their blocks
    last: Int64  # [i] exclusive


def group_features(survey: Survey) -> Float32:
    """[b, len(GROUPS)], zeros for a block that stands in no group."""
    out = np.zeros((len(survey.page), len(GROUPS)), np.float32)
    items = _items(survey)
    if not len(items.group):
        return out
    # The last row stands for "no item".
    table = np.append(_measured(survey, items), np.zeros((1, len(_OF_GROUP))), axis=0)
    inner, outer, nested = _above(items, len(out))
    size = len(_OF_GROUP)
    out[:, :size], out[:, size : 2 * size], out[:, -1] = table[inner], table[outer], nested
    return out


def _items(survey: Survey) -> _Items:
    tree, snapshot = survey.page.tree, survey.page.snapshot
    element = tree.member_node[survey.tags.element[tree.member_node]]
    kind = snapshot.name[element] * np.int64(len(snapshot.strings) + 1) + _kinds(survey, element)
    parent = snapshot.parent[element].astype(np.int64)
    # [e] a number for elements of one kind below one parent
    order = np.lexsort((kind, parent))
    changes = (np.diff(parent[order]) != 0) | (np.diff(kind[order]) != 0)
    alike = np.empty(len(element), np.int64)
    alike[order] = np.append(0, np.cumsum(changes))[: len(order)]
    repeated = np.bincount(alike, minlength=1)[alike] >= _FEWEST
    item = element[repeated]
    return _Items(
        group=np.unique(alike[repeated], return_inverse=True)[1],
        first=np.searchsorted(tree.leaf_node, item),
        last=np.searchsorted(tree.leaf_node, tree.end[item]),
    )


def _kinds(survey: Survey, element: Int32) -> Int32:
    """A number for the first class of each of e elements without its numbering, 0 for none, [e]."""
    strings = survey.page.snapshot.strings
    used, place = np.unique(survey.classes[element], return_inverse=True)
    numbers: dict[str, int] = {"": 0}
    kinds = [
        numbers.setdefault(_stem(strings[value]) if value >= 0 else "", len(numbers))
        for value in used.tolist()
    ]
    return np.array(kinds, np.int32)[place]


@lru_cache(maxsize=1 << 14)
def _stem(classes: str) -> str:
    words = classes.split(maxsplit=1)
    return _NUMBERING.sub("", words[0]) if words else ""


def _measured(survey: Survey, items: _Items) -> Float64:
    """The values of _OF_GROUP for each item, [i, 8]."""
    tree, page = survey.page.tree, survey.page
    sizes = np.fromiter(map(len, page.text), np.float64, len(page))
    headings = np.flatnonzero(survey.tags.named(*_HEADINGS)).astype(np.int32)
    linked = sizes * survey.tags.below("a")
    headed = covered(headings, tree.end)[tree.leaf_node]
    text, links, heads = (_within(items, values) for values in (sizes, linked, headed))
    blocks = (items.last - items.first).astype(np.float64)
    count = np.bincount(items.group).astype(np.float64)

    def mean(values: Float64) -> Float64:
        return np.bincount(items.group, values) / count

    log = np.log1p(text)
    spread = np.sqrt(np.maximum(mean(log**2) - mean(log) ** 2, 0))
    columns = (
        np.log(count),
        np.zeros(len(count)),
        mean(text) * count / sizes.sum(),
        np.log1p(mean(text)),
        np.log1p(mean(blocks)),
        mean(links) / mean(text),
        1 / (1 + spread),
        mean((heads > 0).astype(np.float64)),
    )
    table = np.stack(columns, axis=1)[items.group]  # [i, 8]
    table[:, 1] = _places(items.group) / (count[items.group] - 1)
    return table


def _within(items: _Items, values: npt.NDArray[np.generic]) -> Float64:
    """Sums of the blocks' values, [b], over each item, [i]."""
    sums = np.append(0.0, np.cumsum(values, dtype=np.float64))
    within: Float64 = sums[items.last] - sums[items.first]
    return within


def _places(group: Int64) -> Int64:
    """How many items of its group stand before each, [i]."""
    order = np.argsort(group, kind="stable")
    starts = np.cumsum(np.bincount(group)) - np.bincount(group)
    places = np.empty(len(group), np.int64)
    places[order] = np.arange(len(group)) - starts[group[order]]
    return places


def _above(items: _Items, blocks: int) -> tuple[Int64, Int64, Int64]:
    """The innermost and the outermost item above each block, -1 for none, and how many, [b]."""
    inner = np.full(blocks, -1, np.int64)
    outer = np.full(blocks, -1, np.int64)
    nested = np.zeros(blocks + 1, np.int64)
    np.add.at(nested, items.first, 1)
    np.add.at(nested, items.last, -1)
    bounds = list(zip(items.first.tolist(), items.last.tolist(), strict=True))
    for number, (first, last) in enumerate(bounds):
        inner[first:last] = number
    for number in range(len(bounds) - 1, -1, -1):
        first, last = bounds[number]
        outer[first:last] = number
    return inner, outer, np.cumsum(nested)[:-1]
