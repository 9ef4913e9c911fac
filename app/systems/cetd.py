"""Content extraction via text density: the part of the tree with most text for its tags.

F. Sun, D. Song, L. Liao, "DOM Based Content Extraction via Text Density" (SIGIR 2011): composite
text density, density sum and threshold, with zeros smoothed as in the authors' program, where the
text right in an element counts as one more child of it.

Two things differ from that program. The density of such a text is that of an element without tags
and links, so that it is finite on pages without links. And no styles are computed: an element is
unseen by its tag alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .dom import parse_html
from .protocol import StudyPage, System
from .texts import Tree, read_tree

Floats = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

_LINKS = frozenset({"a", "button", "select"})
_DROPPED, _CONTENT, _ABOVE_CONTENT = 0, 1, 2


class Cetd(System):
    """Keeps the elements of greatest density sum in all parts that reach the threshold."""

    name = "cetd"
    version = "1"

    def extract(self, page: StudyPage) -> str:
        """The text of these elements and what stands right in those above, a line a block."""
        tree = read_tree(parse_html(page.html))
        body = tree.tags.index("body") if "body" in tree.tags else 0
        characters = np.zeros(len(tree), np.int64)
        for at, text in tree.texts:
            characters[at] += len(text.strip())
        in_link = tree.below(tree.named(_LINKS))
        # [n] each, of an element and all below it
        totals, linked = tree.totals(characters), tree.totals(characters * in_link)
        if not totals[body]:
            return ""
        share = float(linked[body] / totals[body])
        tags = tree.end - np.arange(len(tree)) - 1
        link_tags = count_link_tags(tree, tags, totals, linked)
        density = text_density(totals, tags, linked, link_tags, share)
        sums = density_sums(tree, density, share)
        return tree.text(_mark(tree, density, sums, body) != _DROPPED)


def text_density(characters: Int, tags: Int, linked: Int, link_tags: Int, share: float) -> Floats:
    """Composite text density of elements [n], 0 where there is no text.

    C/T ln(C T / (LC LT)) / ln ln(C LC / (C - LC) + share C + e), for C characters, T tags, LC of
    the characters and LT of the tags in links; a zero counts as 1. share: linked characters of
    the whole page, for each character.
    """
    # [n] each
    c, t, lc, lt, plain = (
        np.maximum(counts, 1).astype(np.float64)
        for counts in (characters, tags, linked, link_tags, characters - linked)
    )
    weights = np.log(np.log(c * lc / plain + share * c + np.e))
    return np.where(characters > 0, c / t * np.log(c * t / (lc * lt)) / weights, 0.0)


def count_link_tags(tree: Tree, tags: Int, characters: Int, linked: Int) -> Int:
    """Tags [n] below each element that are links, in links, or hold nothing but links."""
    is_link = tree.named(_LINKS)
    only_links = is_link.tolist()
    all_linked = (characters == linked).tolist()
    below: list[int] = tags.tolist()
    counts = np.where(is_link, tags, 0).tolist()
    for at in range(len(tree) - 1, 0, -1):
        above = tree.parent[at]
        if not only_links[above]:
            alone = all_linked[at] and counts[at] == below[at] != 0
            counts[above] += counts[at] + (only_links[at] or alone)
    return np.array(counts, np.int64)


def density_sums(tree: Tree, density: Floats, share: float) -> Floats:
    """What the children of each element and its own texts add up to [n]; childless: its density."""
    texts = [(at, len(text.strip())) for at, text in tree.texts]
    owners = np.array([at for at, length in texts if length], np.int64)
    lengths = np.array([length for _, length in texts if length], np.int64)
    none = np.zeros(len(lengths), np.int64)
    sums = np.zeros(len(tree), np.float64)
    np.add.at(sums, owners, text_density(lengths, none, none, none, share))
    np.add.at(sums, np.array(tree.parent[1:], np.int64), density[1:])
    return np.where(tree.end - np.arange(len(tree)) == 1, density, sums)


def _mark(tree: Tree, density: Floats, sums: Floats, body: int) -> Int:
    """What becomes of each element [n]."""
    marks = np.zeros(len(tree), np.int64)
    densest = _densest(tree, sums)
    children: list[list[int]] = [[] for _ in range(len(tree))]
    for at, above in enumerate(tree.parent[1:], 1):
        children[above].append(at)
    threshold = density[densest[body]]
    at = densest[body]
    while at != body:
        at = tree.parent[at]
        threshold = min(threshold, density[at])
    waiting = [body]
    while waiting:
        at = waiting.pop()
        if marks[at] != _CONTENT and density[at] >= threshold:
            best = densest[at]
            if marks[best] != _CONTENT:
                marks[best : tree.end[best]] = _CONTENT
                above = tree.parent[best]
                while above >= body and marks[above] == _DROPPED:
                    marks[above] = _ABOVE_CONTENT
                    above = tree.parent[above]
            waiting.extend(children[at])
    return marks


def _densest(tree: Tree, sums: Floats) -> list[int]:
    """The element of greatest sum at or below each, the first in the page of equal ones."""
    best = list(range(len(tree)))
    for at in range(len(tree) - 1, 0, -1):
        above = tree.parent[at]
        here, there = sums[best[at]], sums[best[above]]
        if here > there or (here == there and best[above] != above):
            best[above] = best[at]
    return best
