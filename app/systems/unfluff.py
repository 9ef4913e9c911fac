"""Unfluff: the element whose paragraphs have most stop words, as Goose and its descendants find it.

A. Geitgey, node-unfluff (2014), after J. Plush's Goose (2010): paragraphs with stop words and few
links give their score to the element around them, and half of it to the next one up; around the
best of these, siblings are added and poor children removed.

Of the cleaning before there is what the scores rest on: a `div` or `span` without blocks of its own
is a paragraph, and elements named as page furniture are gone (by fewer, more general names); other
`div`s stay where they are. Of siblings, paragraphs keep their order. Stop words are the project's,
of English: a page in another language has no content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from lxml import html

from ...layout.features.stopwords import STOP_WORDS
from .dom import parse_html
from .protocol import StudyPage, System
from .texts import Tree, read_tree

Bool = npt.NDArray[np.bool_]
Int = npt.NDArray[np.int64]

BOOST = 50
"""Points of the first paragraph that follows a good one; the n-th gets 1/n of it."""
NEAR = 3
"""Paragraphs before one that may lend it the boost, if they have more than `GOOD` stop words."""
GOOD = 5
FEW = 2
"""A paragraph with more stop words than this is scored; text with fewer or as many is dropped."""
MANY = 15
"""Of more paragraphs than this, the last quarter is scored down, for comments and footers."""
WORST = 40
"""A paragraph scored down further than this gets `WORST_BOOST` instead."""
WORST_BOOST = 5
SIBLING_SHARE = 0.3
"""A sibling's paragraph needs this share of the stop words of an average one in the best."""
CHILD_SHARE = 0.08
"""A child needs this share of the best element's score."""
SHORTEST = 25
"""Shorter paragraphs do not save the child that they stand in: characters."""

_SCORED = frozenset({"p", "pre", "td"})
_LOOSE = frozenset({"div", "span"})
_BLOCKS = frozenset({"blockquote", "dl", "div", "ol", "p", "pre", "table", "ul"})
# Their names tell of the whole page or of the article.
_NEVER_FURNITURE = frozenset({"html", "body", "article"})
_FURNITURE = re.compile(
    "comment|foot|share|social|sponsor|subscri|breadcrumb|byline|popup|navbar|menucontainer"
    "|tags|links|contact|timestamp",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """Of each of n elements with all below it, furniture apart; all of shape [n]."""

    characters: Int
    stops: Int
    link_dense: Bool
    paragraph: Bool  # it is one


class Unfluff(System):
    """Keeps the paragraphs of the best element."""

    name = "unfluff"
    version = "1"

    def extract(self, page: StudyPage) -> str:
        """The text of the best element, cleaned, a line a block."""
        tree = read_tree(parse_html(page.html))
        gone = tree.below(np.array([_is_furniture(e) for e in tree.elements], np.bool_))
        counts = _count(tree, gone)
        scores = score(tree, counts)
        if not scores:
            return ""
        best = max(scores, key=lambda at: (scores[at], -at))
        kept = _cleaned(tree, counts, scores, best) | _siblings(tree, counts, best)
        return tree.text(kept & ~gone)


def score(tree: Tree, counts: _Counts) -> dict[int, float]:
    """Points by element, of those that are a parent or grandparent of a good paragraph."""
    is_scored = counts.paragraph | tree.named(_SCORED)
    good = np.flatnonzero(is_scored & (counts.stops > FEW) & ~counts.link_dense).tolist()
    near = _near(tree, counts)
    scores: dict[int, float] = {}
    boosted = 0
    last_quarter = len(good) / 4
    for number, at in enumerate(good):
        boost = 0.0
        if near[at]:
            boosted += 1
            boost = BOOST / boosted
        into_last = last_quarter - (len(good) - number)
        if len(good) > MANY and into_last >= 0:
            boost = -(into_last**2) if into_last**2 <= WORST else WORST_BOOST
        points = np.floor(counts.stops[at] + boost)
        above = tree.parent[at]
        for share in (1.0, 0.5):
            if above >= 0:
                scores[above] = scores.get(above, 0.0) + points * share
                above = tree.parent[above]
    return scores


def _near(tree: Tree, counts: _Counts) -> list[bool]:
    """Whether one of the `NEAR` paragraphs before an element, of the same parent, is good."""
    before: dict[int, list[bool]] = {}
    near: list[bool] = []
    for at, above in enumerate(tree.parent):
        siblings = before.setdefault(above, [])
        near.append(any(siblings[-NEAR:]))
        if counts.paragraph[at]:
            siblings.append(bool(counts.stops[at] > GOOD))
    return near


def _count(tree: Tree, gone: Bool) -> _Counts:
    # [4, n] characters, words, stop words, words in links
    own = np.zeros((4, len(tree)), np.int64)
    is_link = tree.named(frozenset({"a"}))
    in_link = tree.below(is_link)
    for at, text in tree.texts:
        if not gone[at]:
            found = _WORD.findall(text.lower())
            common = sum(word in STOP_WORDS for word in found)
            own[:, at] += (len(text.strip()), len(found), common, len(found) * in_link[at])
    characters, words, stops, linked = (tree.totals(row) for row in own)
    links = tree.totals((is_link & ~gone).astype(np.int64))
    blocks = tree.named(_BLOCKS)
    holds_blocks = tree.totals(blocks.astype(np.int64)) > blocks
    is_paragraph = tree.named(frozenset({"p"}))
    in_paragraph = tree.below(is_paragraph)
    loose = tree.named(_LOOSE) & ~holds_blocks
    # A span inside of a loose div is no paragraph of its own.
    loose &= ~(tree.named(frozenset({"span"})) & (in_paragraph | tree.below(loose & blocks)))
    return _Counts(
        characters=characters,
        stops=stops,
        link_dense=(links > 0) & (linked * links >= np.maximum(words, 1)),
        paragraph=(is_paragraph | loose) & ~gone,
    )


def _cleaned(tree: Tree, counts: _Counts, scores: dict[int, float], best: int) -> Bool:
    """The best element and what is below it [n], without its poor children and short blocks."""
    everything = np.arange(len(tree))
    inside: Bool = (everything >= best) & (everything < tree.end[best])
    long = counts.paragraph & (counts.characters >= SHORTEST)
    paragraphs = tree.totals(long.astype(np.int64))
    cells = tree.named(frozenset({"td"}))
    child = np.array(tree.parent, np.int64) == best
    points = np.array([scores.get(at, 0.0) for at in range(len(tree))], np.float64)
    poor = counts.link_dense | (
        ~cells & ((paragraphs == 0) | (points < CHILD_SHARE * points[best]))
    )
    poor &= child & ~counts.paragraph & ~tree.named(frozenset({"a"}))
    scored = np.array([at in scores for at in range(len(tree))], np.bool_)
    blocks = counts.paragraph | tree.named(_BLOCKS | {"td", "li", "h1", "h2", "h3", "h4"})
    below = inside & (everything != best)
    short = below & ((blocks & (counts.stops <= FEW)) | (scored & (points < 1)))
    return inside & ~tree.below(poor | short)


def _siblings(tree: Tree, counts: _Counts, best: int) -> Bool:
    """The paragraphs before the best element, below the same parent, that are like its own [n]."""
    numbers = np.arange(len(tree))
    good = counts.paragraph & (counts.stops > FEW) & ~counts.link_dense
    of_best = good & (numbers >= best) & (numbers < tree.end[best])
    if tree.parent[best] < 0 or not of_best.any():
        return np.zeros(len(tree), np.bool_)
    needed = SIBLING_SHARE * float(counts.stops[of_best].mean())
    before = (numbers > tree.parent[best]) & (numbers < best)
    right_there = np.array(tree.parent, np.int64) == tree.parent[best]
    alike = (counts.stops > needed) & ~counts.link_dense
    return tree.below(before & counts.paragraph & (right_there | alike))


def _is_furniture(element: html.HtmlElement) -> bool:
    names = (element.get(name, "") for name in ("id", "class", "name"))
    return element.tag not in _NEVER_FURNITURE and any(map(_FURNITURE.search, names))
