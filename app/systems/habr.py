"""Heuristics over the `div`s of one page, and whether the page is an article or lists articles.

After an article on parsing articles in Mail.Ru's blog on Habr (habr.com/ru/post/200394, 2013),
which names the signals but gives no numbers: how they are weighed here is our own. The length of
the text alone finds the division with the most content on 56 of 58 validation pages of CleanEval
and on 46 of 49 articles of WCXB, all signals together on 57 and 45.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from lxml import etree, html

from ...layout.cdom import BLOCK_TAGS
from .dom import UNSEEN, parse_html
from .protocol import StudyPage, System

# Divisions that score at least this share of the best are text as well; about the best of those
# tried on 59 training pages of CleanEval.
NEAR = 0.1
# Lengths that differ by less than this share are about the same.
ALIKE = 0.1
# From here on divisions about as long are many.
MANY = 3
# A page is an article only if some division has so many characters outside links, and if no more
# than this share of all its text is links.
LEAST_ARTICLE = 1200
MOST_LINKED = 0.4

_NUMBER = re.compile(r"\d+")
_STOP = re.compile(r"[.?!…。](?=\s|$)")


@dataclass(slots=True)
class _Division:
    """A `div`, or the body, without the `div`s in it.

    sign: what it shares with the likes of it, "" for none. above: number of the division around
    it, -1 for none. markup: characters of its tags. linked: characters of text in links.
    """

    sign: str
    above: int
    markup: int = 0
    linked: int = 0
    runs: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Its own text, one block a line."""
        lines = (" ".join(line.split()) for line in "".join(self.runs).split("\n"))
        return "\n".join(line for line in lines if line)


class Habr(System):
    """The best-scored division of a page and those that score nearly as well, in page order.

    A page is a flat list of `div`s, and the body, each with the text that stands in no `div` below
    it. The score starts with the length of that text. It falls with the share of links in the
    text, with the share of tags in the source, with the number of `div`s of the same class set or
    of ids that differ in a number (its own or those of any `div` around it), and with the number
    of `div`s about as long; it grows with full stops. Shares weigh as they are, numbers by 1 +
    their logarithm.
    """

    version = "1"

    def __init__(self, length_only: bool = False):
        """length_only: score by the length of the text, and nothing else."""
        self.name = "habr-length" if length_only else "habr"
        self._length_only = length_only

    def extract(self, page: StudyPage) -> str:
        """The text of the divisions that reach `NEAR` of the best score."""
        divisions = _divisions(parse_html(page.html))
        texts = [division.text() for division in divisions]
        lengths = [float(len(text)) for text in texts]
        scores = lengths if self._length_only else _scores(divisions, texts)
        least = NEAR * max(scores)
        return "\n".join(
            text for text, score in zip(texts, scores, strict=True) if text and score >= least
        )


def is_listing(html: str) -> bool:
    """Whether a page lists articles or goods, rather than being an article.

    It does if no division has `LEAST_ARTICLE` characters outside links, or if more than
    `MOST_LINKED` of its text is links. How often a class set is repeated tells the two kinds of
    page apart far less well, and is not asked.
    Measured on WCXB: limits chosen on half of its 189 listings and collections and of 178 of its
    articles; on the other half and 178 more articles it is right for 85 % of 267 articles and for
    76 % of 94 listings and collections.
    """
    divisions = _divisions(parse_html(html))
    lengths = [len(division.text()) for division in divisions]
    linked = sum(division.linked for division in divisions)
    longest = max(
        length - division.linked for length, division in zip(lengths, divisions, strict=True)
    )
    return longest < LEAST_ARTICLE or linked > MOST_LINKED * sum(lengths)


def _scores(divisions: Sequence[_Division], texts: Sequence[str]) -> list[float]:
    lengths = sorted(len(text) for text in texts if text)
    scores = []
    for division, text, repeats in zip(divisions, texts, _repeats(divisions), strict=True):
        length = len(text)
        unlinked = 1 - min(1.0, division.linked / max(1, length))
        density = length / (length + division.markup)
        low, high = length * (1 - ALIKE), length * (1 + ALIKE)
        alike = bisect_right(lengths, high) - bisect_left(lengths, low)
        # A text without a stop counts as one with a single stop.
        stops = _weight(len(_STOP.findall(text)))
        crowd = _weight(alike if alike >= MANY else 1)
        scores.append(length * unlinked * density * stops / (_weight(repeats) * crowd))
    return scores


def _weight(number: int) -> float:
    return 1 + math.log(max(1, number))


def _repeats(divisions: Sequence[_Division]) -> list[int]:
    """How often the sign of each division, or of one around it, is on the page; at least 1."""
    signs = Counter(division.sign for division in divisions)
    repeats: list[int] = []
    for division in divisions:
        above = repeats[division.above] if division.above >= 0 else 1
        repeats.append(max(above, signs[division.sign] if division.sign else 1))
    return repeats


def _divisions(root: html.HtmlElement) -> list[_Division]:
    """The body and all `div`s, in document order."""
    divisions = [_Division("", -1)]
    around = [0]
    links = 0
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag, begins = str(element.tag), event == "start"
        if tag in BLOCK_TAGS:
            divisions[around[-1]].runs.append("\n")
        if tag == "div" and begins:
            divisions.append(_Division(_sign(element), around[-1]))
            around.append(len(divisions) - 1)
        divisions[around[-1]].markup += _markup(element) if begins else len(tag) + 3
        if tag == "div" and not begins:
            around.pop()
        if tag == "a":
            links += 1 if begins else -1
        if begins and tag in UNSEEN:
            walk.skip_subtree()
            continue
        text = element.text if begins else element.tail
        if text and (begins or element is not root):
            _add(divisions[around[-1]], text, links > 0)
    return divisions


def _add(division: _Division, text: str, is_linked: bool) -> None:
    division.runs.append(text.replace("\n", " "))
    division.linked += len(" ".join(text.split())) if is_linked else 0


def _markup(element: html.HtmlElement) -> int:
    """Characters of a start tag."""
    attributes = sum(len(name) + len(value) + 4 for name, value in element.items())
    return len(str(element.tag)) + 2 + attributes


def _sign(element: html.HtmlElement) -> str:
    """The class set of a `div`, or else its id without numbers; "" where it has neither."""
    classes = " ".join(sorted(set(element.get("class", "").split())))
    return classes or _NUMBER.sub("#", element.get("id", "")).strip()
