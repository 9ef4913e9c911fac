"""Page source as output lines, with the bytes of HTML that each took.

The unit of the density methods: alexjc, "The Easy Way to Extract Useful Text from Arbitrary HTML"
(AI Depot, April 2007), and hzxdark's experiments on it (blog.csdn.net/hzxdark/article/details/
3565929). As there, a line owns all source from the end of the text before it to the end of its own
text: its tags, and the comments, scripts and styles on the way, whose content is no text.

Unlike there, a line ends at every block-level element of today's HTML (the article's parser knew
those of HTML 2, without `div` and `td`), its end adds no bytes, script and style are never text,
and a text without a word (a bullet, a bar) is no line: what it took is counted to the next one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .protocol import TrainingPage
from .texts import decode_entities

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

# HTML elements that browsers lay out as blocks, list items, table parts or a line break.
BLOCKS = frozenset(
    """address article aside blockquote body br caption center dd details dialog dir div dl dt
    fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html
    legend li main menu nav ol optgroup option p pre section summary table tbody td tfoot th thead
    title tr ul""".split()
)

# The tokens of HTML that are no text. Each alternative runs to the end of the source where it is
# not closed, as in a browser, so that no source is scanned twice; `html.parser` does so, and
# raises on some declarations.
_ATTRIBUTES = r"""(?:=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))|[^>])*+(?:>|\Z)"""
_MARKUP = re.compile(
    rf"""<!--(?:-?>|.*?(?:--!?>|\Z))
    | <(?P<raw>script|style|title)(?=[\s/>]){_ATTRIBUTES}.*?(?=</(?P=raw)|\Z)
    | <(?P<close>/?)(?P<tag>[a-z][^\s/>]*+)(?P<attributes>{_ATTRIBUTES})
    | <[!?/][^>]*+(?:>|\Z)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_HREF = re.compile(r"\shref\s*=", re.IGNORECASE)
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True, eq=False)
class PageLines:
    """The lines of a page in order; every one has a word.

    texts: white space collapsed. text_bytes, html_bytes: in UTF-8, of the text and of the source
    it took. links: `a` elements with an `href` that begin in the line.
    """

    texts: tuple[str, ...]
    text_bytes: Floats  # [n]
    html_bytes: Floats  # [n]
    links: Floats  # [n]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def lengths(self) -> Floats:
        """Characters of each text -> [n]."""
        return np.array([len(text) for text in self.texts], np.float64)

    @property
    def densities(self) -> Floats:
        """Bytes of text for each byte of HTML -> [n]."""
        return self.text_bytes / self.html_bytes

    def join(self, kept: Bools) -> str:
        """The text of the lines that are kept [n], one a line."""
        return "\n".join(text for text, keep in zip(self.texts, kept, strict=True) if keep)


def read_lines(source: str) -> PageLines:
    """The lines of a page's source; never raises, in time that grows with the source's length."""
    reader = _Reader(source)
    place = 0
    for token in _MARKUP.finditer(source):
        reader.take_text(place, token.start())
        place = token.end()
        tag = (token["tag"] or token["raw"] or "").lower()
        if tag in BLOCKS:
            reader.end_line()
        elif tag == "a" and not token["close"] and _HREF.search(token["attributes"]):
            reader.links += 1
    reader.take_text(place, len(source))
    reader.end_line()
    # [3, n]
    counts = np.array(reader.counts, np.float64).reshape(-1, 3).T
    return PageLines(tuple(reader.texts), *counts)


class _Reader:
    """Texts and counts of the lines so far, and of the line that is being read."""

    def __init__(self, source: str):
        self.texts: list[str] = []
        self.counts: list[tuple[int, int, int]] = []
        self.links = 0
        self._source = source
        self._parts: list[str] = []
        self._begin = self._end = 0

    def take_text(self, start: int, end: int) -> None:
        text = self._source[start:end]
        if text:
            self._parts.append(text)
            if not text.isspace():
                self._end = end

    def end_line(self) -> None:
        text = " ".join(decode_entities("".join(self._parts)).split())
        self._parts.clear()
        if _WORD.search(text):
            spent = self._source[self._begin : self._end]
            self.texts.append(text)
            self.counts.append((_count_bytes(text), _count_bytes(spent), self.links))
            self._begin, self.links = self._end, 0


def line_labels(lines: PageLines, gold: str) -> Bools:
    """Which lines [n] are content: more of their words are in the gold than `align.CONTENT`."""
    from ...train.align import CONTENT, text_labels

    labels: Bools = text_labels(gold, lines.texts) > CONTENT
    return labels


def labelled_lines(pages: Sequence[TrainingPage]) -> list[tuple[PageLines, Bools]]:
    """Lines and labels [n] of each page that has both content and boilerplate.

    Only these tell one from the other. Raises ValueError if there is no such page.
    """
    read = ((read_lines(page.page.html), page.gold) for page in pages)
    labelled = [(lines, line_labels(lines, gold)) for lines, gold in read if len(lines)]
    both = [(lines, labels) for lines, labels in labelled if labels.any() and not labels.all()]
    if not both:
        raise ValueError("no page with lines of content and of boilerplate")
    return both


def page_balance(labels: Bools) -> float:
    """Lines of boilerplate for each line of content: what hzxdark multiplies a line's error by."""
    return float((~labels).sum() / labels.sum())


def previous_labels(labels: Bools) -> Bools:
    """The label of the line before each line -> [n]; none is content before the first."""
    return np.append(False, labels)[:-1]


def follow(after_boilerplate: Bools, after_content: Bools) -> Bools:
    """Labels [n] of a classifier that is told its own label of the line before.

    The arguments are what it says of each line [n] in either case.
    """
    labels = np.zeros(len(after_content), np.bool_)
    label = False
    for line, (boilerplate, content) in enumerate(
        zip(after_boilerplate.tolist(), after_content.tolist(), strict=True)
    ):
        label = labels[line] = content if label else boilerplate
    return labels


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
