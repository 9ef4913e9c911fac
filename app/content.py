"""From a Page and the blocks kept of it to one clean tree: what is read, in the order it stands.

The tree is an lxml element `article` of the elements in `places`, with absolute addresses;
`formats` and `markdown` write it out.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from lxml import etree

from ..layout.cdom import DROPPED, covered, depths_within, named
from ..layout.page import Page
from ..render.snapshot import STYLES, TEXT
from .places import Place, absolute, base_addresses, data_tables, find_places
from .writer import Part, Writer

Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]

# What XML cannot hold; browsers show none of it.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_PRESERVING = frozenset({"preserve", "preserve-breaks", "break-spaces"})
_SOURCES = ("current-src", "src", "data-src")


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """What the content has besides text.

    links, images: their addresses. tables: if not, the texts of data tables are left out as well.
    """

    links: bool = False
    images: bool = False
    tables: bool = True


def build_content(page: Page, kept: Bool, options: FormatOptions) -> etree._Element:
    """The tree of the kept ones of the [b] blocks, an `article` empty if none is kept."""
    texts = {block: _clean(page.text[block]) for block in np.flatnonzero(kept).tolist()}
    kept = kept.copy()
    kept[kept] = list(map(bool, texts.values()))
    if not options.tables:
        kept &= ~covered(data_tables(page), page.tree.end)[page.tree.leaf_node]
    events = _events(page, kept, _images(page, kept) if options.images else np.zeros(0, np.int32))
    left_out = np.zeros(len(page.snapshot.parent), np.bool_)
    left_out[page.tree.leaf_node[~kept]] = True
    writer, verbatim = Writer(page.snapshot), -1
    for part in _parts(page, events, texts, find_places(page, events.node, options.links)):
        if part.place.tag != "pre":
            writer.add(part)
        elif part.place.blocks[-1][0] != verbatim:
            # All texts of a `pre` go in at once: the blank ones between its blocks count.
            verbatim = part.place.blocks[-1][0]
            text = _verbatim(page, left_out, verbatim)
            writer.add(Part(Place(part.place.blocks), text, "", part.block, part.breaks))
    return writer.finish()


@dataclass(frozen=True, slots=True, eq=False)
class _Events:
    """The e kept texts and images in the order of the page."""

    node: Int32  # [e]
    leaf: Int32  # [e] block, -1 for an image
    block: Bool  # [e] a block starts or ends between this one and the one before
    breaks: Int32  # [e] `br` elements in between
    space: Bool  # [e] white space or a block that is left out is between a text and the last one


def _events(page: Page, kept: Bool, images: Int32) -> _Events:
    snapshot, tree = page.snapshot, page.tree
    node = np.sort(np.concatenate([tree.leaf_node[kept], images])).astype(np.int32)
    leaf = np.full(len(snapshot.parent), -1, np.int32)
    leaf[tree.leaf_node] = np.arange(len(page))
    leaf = leaf[node]
    line_ends = named(snapshot, frozenset({"br"}))
    blocks = tree.block_level & ~line_ends
    opened = np.diff(np.cumsum(blocks)[node], prepend=0)
    closed = opened - np.diff(depths_within(tree.end, blocks)[node], prepend=0)
    texts = leaf[leaf >= 0]
    spaces = np.diff(np.cumsum(page.space_before)[texts], prepend=0) > 0
    space = np.zeros(len(node), bool)
    space[leaf >= 0] = spaces | (np.diff(texts, prepend=-1) > 1)
    return _Events(
        node=node,
        leaf=leaf,
        block=(opened > 0) | (closed > 0),
        breaks=np.diff(np.cumsum(line_ends)[node], prepend=0).astype(np.int32),
        space=space,
    )


def _images(page: Page, kept: Bool) -> Int32:
    """The images between kept blocks."""
    snapshot = page.snapshot
    images = np.flatnonzero(named(snapshot, frozenset({"img"}))).astype(np.int32)
    if snapshot.rendered:
        images = images[np.isin(images, snapshot.row_node)]
    behind = np.searchsorted(page.tree.leaf_node, images)
    edged = np.concatenate((kept[:1], kept, kept[-1:]))  # beyond the ends as at the ends
    if not len(kept):
        return images[:0]
    return images[edged[behind] & edged[behind + 1]]


def _parts(
    page: Page, events: _Events, texts: dict[int, str], places: dict[int, Place]
) -> Iterator[Part]:
    """The events as parts; texts: of the kept blocks, by their numbers."""
    snapshot = page.snapshot
    bases = base_addresses(snapshot) if (events.leaf < 0).any() else []
    preserving = _preserving(page).tolist()
    columns = (events.node, events.leaf, events.block, events.breaks, events.space)
    carried = 0  # line ends at the end of the text before
    for node, leaf, *gap in zip(*(column.tolist() for column in columns), strict=True):
        gap[1], carried = gap[1] + carried, 0
        place = places[node]
        if leaf < 0:
            source = _source(snapshot.attributes(node), bases[int(snapshot.frame[node])])
            if source and place.tag != "pre":
                yield Part(Place(place.blocks), "", source, *gap)
        elif preserving[leaf] and place.tag != "pre":
            carried = yield from _lines(place, _clean(snapshot.text(node)), *gap)
        else:
            yield Part(place, texts[leaf], "", *gap)


def _lines(
    place: Place, text: str, block: bool, breaks: int, space: bool
) -> Generator[Part, None, int]:
    """A text whose line ends are shown, line by line; returns how many it ends with."""
    for number, line in enumerate(text.split("\n")):
        breaks += number > 0
        if words := " ".join(line.split()):
            yield Part(place, words, "", block, breaks, space)
            block, breaks, space = False, 0, False
    return breaks


def _preserving(page: Page) -> Bool:
    """[b] whether the line ends in a block's text are line ends on the screen."""
    snapshot = page.snapshot
    column = snapshot.styles[:, STYLES.index("white-space-collapse")].tolist()
    by_style = [snapshot.strings[value] in _PRESERVING for value in column]
    return np.array([*by_style, False], bool)[page.style]  # style -1 is the last entry


def _verbatim(page: Page, left_out: Bool, pre: int) -> str:
    """The text of a `pre` as it stands, less the ones of the [n] nodes that are left out."""
    snapshot, tree = page.snapshot, page.tree
    blocks = [node for node in range(pre + 1, int(tree.end[pre])) if tree.block_level[node]]
    edges = {*blocks, *tree.end[blocks].tolist()}
    parts: list[str] = []
    for node in range(pre + 1, int(tree.end[pre])):
        is_break = snapshot.tag(node) == "br"
        if is_break or (node in edges and parts and not parts[-1].endswith("\n")):
            parts.append("\n")
        is_text = snapshot.kind[node] == TEXT and not left_out[node]
        if is_text and snapshot.tag(int(snapshot.parent[node])) not in DROPPED:
            parts.append(snapshot.text(node))
    return _clean("".join(parts)).replace("\r", "").strip("\n").rstrip()


def _clean(text: str) -> str:
    return text if text.isprintable() else _UNPRINTABLE.sub("", text)


def _source(attributes: dict[str, str], base: str) -> str | None:
    """Where an image is, what the browser chose first."""
    found = (absolute(base, attributes[name]) for name in _SOURCES if attributes.get(name))
    return next((address for address in found if address), None)
