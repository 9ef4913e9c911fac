"""A page cut into blocks of text, for the systems that compare or label blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from zlib import crc32

from lxml import etree, html

from ...layout.cdom import BLOCK_TAGS
from .dom import UNSEEN

# The tags that a block may be told to stand in, or behind.
CONTAINERS = frozenset(
    "a address article aside b blockquote button center code dd dl em fieldset figcaption footer "
    "form h1 h2 h3 h4 h5 h6 header i label li main nav ol p pre strong table td th u ul".split()
)
MARKERS = frozenset({"br", "hr", "img", "p"})
_CELLS = frozenset({"td", "th"})

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class TextBlock:
    """The text between two tags of block level, white space collapsed; never empty.

    path: digest of the block-level tags from the root down to the text.
    words, linked: words (`\\w+`) of the text, and those of them in links.
    containers: the tags of `CONTAINERS` that hold all of the text.
    before: the tags of `MARKERS` that began, ended or stood since the block before.
    cell, division: number of the nearest table cell and of the nearest `div` around the text, the
    same for all blocks of one element; 0 where there is none.
    """

    text: str
    path: int
    words: int
    linked: int
    containers: frozenset[str]
    before: frozenset[str]
    cell: int
    division: int


@dataclass(frozen=True, slots=True)
class _Place:
    """What an element hands down to the text in it."""

    path: int = 0
    containers: frozenset[str] = frozenset()
    cell: int = 0
    division: int = 0


def text_blocks(root: html.HtmlElement) -> list[TextBlock]:
    """All blocks of a page, in document order; what stands in `UNSEEN` elements is left out."""
    blocks: list[TextBlock] = []
    runs: list[tuple[str, _Place]] = []
    before: set[str] = set()
    places = [_Place()]
    walk = etree.iterwalk(root, events=("start", "end"))
    for number, (event, element) in enumerate(walk, 1):
        tag = str(element.tag)
        if tag in BLOCK_TAGS:
            _close(blocks, runs, before)
        if tag in MARKERS:
            before.add(tag)
        if event == "start":
            places.append(_inside(places[-1], tag, number))
            if tag in UNSEEN:
                walk.skip_subtree()
            elif element.text:
                runs.append((element.text, places[-1]))
        else:
            places.pop()
            if element.tail and element is not root:
                runs.append((element.tail, places[-1]))
    _close(blocks, runs, before)
    return blocks


def word_list(text: str) -> list[str]:
    r"""The `\w+` of a text, lower-cased."""
    return _WORD.findall(text.lower())


def joined(blocks: Sequence[TextBlock]) -> str:
    """The text of blocks, one a line."""
    return "\n".join(block.text for block in blocks)


def _inside(place: _Place, tag: str, number: int) -> _Place:
    if tag in BLOCK_TAGS:
        place = replace(place, path=crc32(f"/{tag}".encode(), place.path))
    if tag in CONTAINERS and tag not in place.containers:
        place = replace(place, containers=place.containers | {tag})
    if tag in _CELLS:
        return replace(place, cell=number)
    return replace(place, division=number) if tag == "div" else place


def _close(blocks: list[TextBlock], runs: list[tuple[str, _Place]], before: set[str]) -> None:
    """Make a block of the runs of text, if they say something; both lists begin anew."""
    text = " ".join("".join(run for run, _ in runs).split())
    if text:
        places = [place for run, place in runs if not run.isspace()]
        linked = [run for run, place in runs if "a" in place.containers]
        blocks.append(
            TextBlock(
                text=text,
                path=places[0].path,
                words=len(_WORD.findall(text)),
                linked=sum(len(_WORD.findall(run)) for run in linked),
                containers=frozenset.intersection(*(place.containers for place in places)),
                before=frozenset(before),
                cell=places[0].cell,
                division=places[0].division,
            )
        )
        before.clear()
    runs.clear()
