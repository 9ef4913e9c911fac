"""What the rest of the page says of a block: its likes, and where prose stands.

Decisions that take the whole page at once, which a convolution over neighbours cannot take.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..page import Page
from .schema import FeatureSet, Float32
from .survey import Survey

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]
Float64 = npt.NDArray[np.float64]

CONTEXT = FeatureSet(
    "context",
    1,
    (
        "blocks",  # log, of the page
        "prose",  # share of the page's characters
        "links",  # share of the page's characters
        # The blocks under the same path of tags and classes:
        "path.text",  # share of the page's characters
        "path.words",  # log of the mean
        "path.links",  # share of their characters
        "path.prose",  # share of them
        "path.spread",  # from the first to the last, share of the page's blocks
        # The stretch of the page with most words and fewest tags:
        "densest.inside",
        "densest.side",  # -1 before it, +1 after it
        "densest.distance",  # log words
        # The stretch with most words outside and fewest inside links:
        "unlinked.inside",
        "unlinked.side",
        "unlinked.distance",
        # The smallest part of the tree with most of the prose, and with nearly all of it:
        "most_prose.inside",
        "most_prose.near",  # how far down the way to it leads, 1 at its own level
        "most_prose.share",  # of the page's characters in it
        "all_prose.inside",
        "all_prose.near",
        "all_prose.share",
        "since_prose",  # log blocks
        "until_prose",
        "prose_around",  # share of the characters in the neighbourhood
    ),
)

_PROSE_WORDS = 12  # of a block that is told in sentences
_LINK_COST, _BLOCK_COST = 3.0, 4.0  # words that a linked word and a block cost a stretch
_MOST, _NEARLY_ALL = 0.6, 0.9
_AROUND = 40  # blocks to either side


@dataclass(frozen=True, slots=True)
class _Texts:
    """b blocks, counted."""

    words: Float64  # [b]
    characters: Float64  # [b]
    linked: Bool  # [b]
    prose: Bool  # [b]


def context_features(survey: Survey) -> Float32:
    """[b, len(CONTEXT)], about 0 to 1."""
    page, counts = survey.page, survey.counts
    if not len(page):
        return np.zeros((0, len(CONTEXT)), np.float32)
    words = counts.words.astype(np.float64)
    linked = counts.link_characters > 0
    texts = _Texts(words, counts.characters.astype(np.float64), linked, _prose(page, words, linked))
    prose = texts.characters * texts.prose
    unlinked = np.where(linked, -_LINK_COST * words, words) - _BLOCK_COST
    groups = [
        _page(texts),
        _path(survey.path, texts),
        _stretch(words, _tags_before(survey), words),
        _stretch(unlinked, np.zeros(len(page)), words),
        _part(page, prose, texts.characters, _MOST),
        _part(page, prose, texts.characters, _NEARLY_ALL),
        _near(texts, prose),
    ]
    return np.concatenate(groups, axis=1).astype(np.float32)


def _prose(page: Page, words: Float64, linked: Bool) -> Bool:
    """Whether a block is part of a line told in sentences, most of it no link."""
    unlinked = np.bincount(page.run, words * ~linked)
    total = np.bincount(page.run, words)
    return ((unlinked >= _PROSE_WORDS) & (unlinked > total / 2))[page.run]


def _tags_before(survey: Survey) -> Float64:
    """How many tags open or close between a block and the one before it, [b]."""
    leaf = survey.page.tree.leaf_node
    opened = np.diff(np.cumsum(survey.tags.element)[leaf], prepend=0)
    closed = opened - np.diff(survey.depth[leaf], prepend=0)
    return (opened + np.maximum(closed, 0)).astype(np.float64)


def _page(texts: _Texts) -> Float64:
    total = texts.characters.sum()
    values = (
        np.log1p(len(texts.words)) / 7,
        (texts.characters * texts.prose).sum() / total,
        (texts.characters * texts.linked).sum() / total,
    )
    return np.tile(values, (len(texts.words), 1))


def _path(path: Int32, texts: _Texts) -> Float64:
    number = np.arange(len(path))
    size, characters = np.bincount(path), np.bincount(path, texts.characters)
    first, last = np.empty_like(size), np.empty_like(size)
    first[path[::-1]], last[path] = number[::-1], number
    columns = (
        characters / texts.characters.sum(),
        np.log1p(np.bincount(path, texts.words) / size) / 4,
        np.bincount(path, texts.characters * texts.linked) / characters,
        np.bincount(path, texts.prose) / size,
        (last - first) / len(path),
    )
    return np.stack(columns, axis=1)[path]


def _stretch(gain: Float64, between: Float64, words: Float64) -> Float64:
    """Where each block lies to the stretch of blocks with the highest gain, [b, 3].

    `between` is what it costs to go on from the block before. With words as gains and tags as
    costs this is Finn, Kushmerick and Smyth's Body Text Extraction (2001).
    """
    sums = np.concatenate(([0.0], np.cumsum(gain - between)))
    before_entry = sums[:-1] - between  # a stretch does not pay for what lies before it
    end = int(np.argmax(sums[1:] - np.minimum.accumulate(before_entry))) + 1
    start = int(np.argmin(before_entry[:end]))
    number = np.arange(len(gain))
    side = np.where(number < start, -1.0, np.where(number >= end, 1.0, 0.0))
    before = np.concatenate(([0.0], np.cumsum(words)))
    away = np.where(side < 0, before[start] - before[:-1], before[1:] - before[end])
    distance = np.where(side != 0, np.log1p(np.maximum(away, 0)) / 7, 0)
    return np.stack([side == 0, side, distance], axis=1)


def _part(page: Page, prose: Float64, characters: Float64, share: float) -> Float64:
    """Where each block stands to the smallest group that holds a share of the prose, [b, 3]."""
    tree, size = page.tree, len(page)
    before = np.concatenate(([0.0], np.cumsum(prose)))
    if not before[-1]:
        return np.zeros((size, 3))
    held = before[tree.last_leaf] - before[tree.first_leaf]  # [g]
    enough = held >= share * before[-1]
    part = int(np.argmax(np.where(enough, tree.group_depth, -1)))
    above = [part]
    while tree.group_parent[above[-1]] >= 0:
        above.append(int(tree.group_parent[above[-1]]))
    level = np.zeros(size)
    for depth, group in enumerate(reversed(above)):
        level[tree.first_leaf[group] : tree.last_leaf[group]] = depth
    inside = np.zeros(size)
    inside[tree.first_leaf[part] : tree.last_leaf[part]] = 1
    ground = (characters * inside).sum() / characters.sum()
    near = level / max(len(above) - 1, 1)
    return np.stack([inside, np.where(inside > 0, 1, near), np.full(size, ground)], axis=1)


def _near(texts: _Texts, prose: Float64) -> Float64:
    size = len(prose)
    number = np.arange(size)
    last = np.maximum.accumulate(np.where(texts.prose, number, -size))
    following = np.minimum.accumulate(np.where(texts.prose, number, 2 * size)[::-1])[::-1]
    low, high = np.maximum(number - _AROUND, 0), np.minimum(number + _AROUND + 1, size)
    shares = []
    for values in (prose, texts.characters):
        sums = np.concatenate(([0.0], np.cumsum(values)))
        shares.append(sums[high] - sums[low])
    columns = (np.log1p(number - last) / 6, np.log1p(following - number) / 6, shares[0] / shares[1])
    return np.stack(columns, axis=1)
