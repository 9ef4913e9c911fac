"""Tags and words of a page's source, and the lines of text of a page's tree.

What the systems share that were published as rules over tag sequences or over the DOM.
"""

from __future__ import annotations

import html as entities
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from lxml import etree, html

from ...layout.cdom import BLOCK_TAGS
from .dom import UNSEEN

Bool = npt.NDArray[np.bool_]
Int = npt.NDArray[np.int64]

# Each alternative runs to the end of the source where it is not closed, as in a browser, so that
# no source is scanned twice.
_MARKUP = re.compile(
    r"""<!--.*?(?:-->|\Z)
    | <(?P<raw>iframe|noscript|script|style|textarea|title)(?=[\s/>])[^>]*+(?:>|\Z)
        .*?(?=</(?P=raw)|\Z)
    | <(?P<tag>/?[a-z][^\s/>]*+)[^>]*+(?:>|\Z)
    | <[!?/][^>]*+(?:>|\Z)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_SPACE = re.compile(r"\s+")
# `html.unescape` raises on numbers of more than 4,300 digits; no character needs one of eight.
_HUGE = re.compile(r"&#[0-9]{8,};?")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of source between or within angle brackets.

    text: a text with its entities decoded and its white space kept; of a tag what is written from
    `<` to `>`. tag: its name in lower case without a slash, "" for a text. Comments, declarations
    and what is in scripts, styles, titles and the like are neither.
    """

    text: str
    tag: str

    @property
    def is_block(self) -> bool:
        """Whether it is a tag that ends a line."""
        return self.tag in BLOCK_TAGS


def decode_entities(text: str) -> str:
    """A text of HTML as a person reads it."""
    return entities.unescape(_HUGE.sub("\ufffd", text))


def source_pieces(source: str) -> Iterator[Piece]:
    """All pieces of a source, in order, in time that grows with its length; never raises."""
    place = 0
    for found in _MARKUP.finditer(source):
        if found.start() > place:
            yield Piece(decode_entities(source[place : found.start()]), "")
        place = found.end()
        if found["raw"]:
            yield Piece(f"<{found['raw']}>", found["raw"].lower())
        elif found["tag"]:
            yield Piece(found[0], found["tag"].lower().strip("/"))
    if place < len(source):
        yield Piece(decode_entities(source[place:]), "")


def split_words(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces with each text cut at white space; a word has the space before it, if any."""
    words: list[Piece] = []
    space = ""
    for piece in pieces:
        if piece.tag:
            words.append(piece)
            continue
        for word in piece.text.split():
            if piece.text[0].isspace():
                space = " "
            words.append(Piece(space + word, ""))
            space = " "
        space = " " if piece.text[-1].isspace() else ""
    return words


def join_words(words: Iterable[Piece], kept: Iterable[bool]) -> str:
    """The words that are kept, with a line break where a block-level tag stands."""
    parts: list[str] = []
    for piece, keep in zip(words, kept, strict=True):
        if not piece.tag:
            parts.append(piece.text if keep else " ")
        elif piece.is_block:
            parts.append("\n")
    return tidy("".join(parts))


def tidy(text: str) -> str:
    """A text without blank lines, its white space collapsed."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The n elements of a page that a person may see, in document order, and their texts.

    texts: (number of the element that it stands in, text) in document order; "\n" where a block
    begins or ends, all other white space is single spaces.
    """

    elements: tuple[html.HtmlElement, ...]
    tags: tuple[str, ...]
    parent: tuple[int, ...]  # -1 for the root
    end: Int  # [n] one past the last element below
    texts: tuple[tuple[int, str], ...]

    def __len__(self) -> int:
        return len(self.elements)

    def named(self, names: frozenset[str]) -> Bool:
        """Which elements [n] have one of these tags."""
        return np.array([tag in names for tag in self.tags], np.bool_)

    def below(self, chosen: Bool) -> Bool:
        """Which elements [n] are chosen [n] or stand somewhere below one that is."""
        steps = np.zeros(len(self) + 1, np.int64)
        np.add.at(steps, np.flatnonzero(chosen), 1)
        np.add.at(steps, self.end[chosen], -1)
        return np.cumsum(steps[:-1]) > 0

    def totals(self, own: Int) -> Int:
        """The sum of each element and of all below it -> [n], of what each has itself [n]."""
        sums = np.concatenate([[0], np.cumsum(own)])
        return sums[self.end] - sums[:-1]

    def text(self, kept: Bool) -> str:
        """The texts that stand right in the elements kept [n], a line a block."""
        return tidy("".join(text if text == "\n" or kept[at] else " " for at, text in self.texts))


def read_tree(root: html.HtmlElement) -> Tree:
    """A page's tree in arrays, without what stands in `UNSEEN` elements; no recursion."""
    elements: list[html.HtmlElement] = []
    parent: list[int] = []
    end: list[int] = []
    texts: list[tuple[int, str]] = []
    above: list[int] = []
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        seen = element.tag not in UNSEEN
        if event == "start":
            if not seen:
                walk.skip_subtree()
                continue
            above.append(len(elements))
            parent.append(above[-2] if len(above) > 1 else -1)
            elements.append(element)
            end.append(0)
        elif seen:
            end[above[-1]] = len(elements)
        if seen and element.tag in BLOCK_TAGS:
            texts.append((above[-1], "\n"))
        if event == "end" and seen:
            above.pop()
        text = element.text if event == "start" else element.tail
        if text and above:
            texts.append((above[-1], _SPACE.sub(" ", text)))
    tags = tuple(str(element.tag) for element in elements)
    return Tree(tuple(elements), tags, tuple(parent), np.array(end, np.int64), tuple(texts))
