"""Which section of the page a block stands in, by the headings before it.

"Comments (12)" or "Customers also viewed" speaks for all that follows up to the next heading of its
rank, however far that is.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from .phrases import PHRASES
from .schema import FeatureSet, Float32
from .survey import Survey

Int64 = npt.NDArray[np.int64]

# Of headings only; what phrases tell of any block is taken over from there.
WORDS = {
    "about": r"\b(?:description|overview|details?|specifications?|specs|features|summary|"
    r"highlights|about (?:this|the) \w+|ingredients|instructions|beschreibung|produktdetails|"
    r"eigenschaften|caractéristiques|descripción|características|descrizione|descrição)\b",
    "reviews": r"\b(?:reviews?|ratings?|testimonials?|feedback|bewertungen|avis|opiniones|reseñas|"
    r"recensioni|avaliações)\b",
    "alike": r"\b(?:similar|also (?:bought|viewed|like|liked|love|read)|recommend\w*|might like|"
    r"recently viewed|frequently bought|bought together|compare|related|related products|sponsored|"
    r"more (?:from|in|on|like|stories|articles|to)|complete the look|ähnliche|similaires|similares|"
    r"relacionad\w+|simili|you may|up next|read next|trending|popular|latest)\b",
}
_PHRASES = (
    "comments", "related", "more", "share", "account", "topic", "byline", "contact", "shop",
    "search", "legal", "navigation",
)  # fmt: skip
_OF_HEADING = (*WORDS, *_PHRASES)
_SINCE = ("comments", "alike")  # whether any heading before has spoken of them
SECTIONS = FeatureSet(
    "sections",
    1,
    (
        *(f"nearest.{name}" for name in _OF_HEADING),
        *(f"parent.{name}" for name in _OF_HEADING),  # of the next higher rank
        "nearest.rank",  # sixths
        "parent.rank",
        "nearest.distance",  # log blocks
        "parent.distance",
        *(f"since.{name}" for name in _SINCE),
        "before",  # no heading yet
    ),
)
_RANKS = tuple("h1 h2 h3 h4 h5 h6".split())
_COMPILED = [re.compile(pattern) for pattern in WORDS.values()]
_LONGEST = 200  # characters that are read of a heading


def section_features(survey: Survey, phrases: Float32) -> Float32:
    """[b, len(SECTIONS)] of [b, len(PHRASES)]; a heading belongs to the section that it opens."""
    blocks = len(survey.page)
    out = np.zeros((blocks, len(SECTIONS)), np.float32)
    if not blocks:
        return out
    out[:, -1] = 1
    first, last, rank = _headings(survey)
    if not len(first):
        return out
    table = _told(survey, phrases, first, last)  # [h, told]
    number = np.searchsorted(first, np.arange(blocks), side="right") - 1  # [b] nearest heading
    inside = number >= 0
    nearest = number[inside]
    parent = _parents(rank)[nearest]
    has_parent = parent >= 0
    told, places = len(_OF_HEADING), np.flatnonzero(inside)
    values = np.zeros((len(nearest), len(SECTIONS)), np.float32)
    values[:, :told] = table[nearest]
    values[:, told : 2 * told] = np.where(has_parent[:, None], table[parent], 0)
    values[:, 2 * told] = rank[nearest] / 6
    values[:, 2 * told + 1] = np.where(has_parent, rank[parent] / 6, 0)
    values[:, 2 * told + 2] = np.log1p(places - first[nearest])
    values[:, 2 * told + 3] = np.log1p(np.where(has_parent, places - first[parent], 0))
    since = np.maximum.accumulate(table[:, [_OF_HEADING.index(name) for name in _SINCE]] > 0)
    values[:, 2 * told + 4 : -1] = since[nearest]
    out[inside] = values
    return out


def _headings(survey: Survey) -> tuple[Int64, Int64, Int64]:
    """The first block of each of h headings, one past its last, and its rank from 1, all [h]."""
    tree, snapshot = survey.page.tree, survey.page.snapshot
    node = np.flatnonzero(survey.tags.named(*_RANKS))
    first = np.searchsorted(tree.leaf_node, node)
    last = np.searchsorted(tree.leaf_node, tree.end[node])
    node, first, last = (column[last > first] for column in (node, first, last))
    ranks = {
        survey.tags.number[tag]: i for i, tag in enumerate(_RANKS, 1) if tag in survey.tags.number
    }
    rank = np.array([ranks[name] for name in snapshot.name[node].tolist()], np.int64)
    # Of headings inside each other the inner one counts.
    kept = np.append(np.diff(first) > 0, True)[: len(first)]
    return first[kept], last[kept], rank[kept]


def _told(survey: Survey, phrases: Float32, first: Int64, last: Int64) -> Float32:
    """What the words of each heading say, [h, words and phrases]."""
    text = survey.page.text
    columns = [PHRASES.columns.index(name) for name in _PHRASES]
    rows = []
    for start, end in zip(first.tolist(), last.tolist(), strict=True):
        words = " ".join(text[start:end])[:_LONGEST].lower()
        matched = [float(bool(pattern.search(words))) for pattern in _COMPILED]
        rows.append([*matched, *phrases[start:end, columns].max(axis=0).tolist()])
    return np.array(rows, np.float32)


def _parents(rank: Int64) -> Int64:
    """The last heading before each that is of a higher rank, -1 for none, [h]."""
    parents, latest = [], [-1] * 7  # by rank
    for number, own in enumerate(rank.tolist()):
        parents.append(max(latest[:own]))
        latest[own:] = [number] * (7 - own)
        latest[own] = number
    return np.array(parents, np.int64)
