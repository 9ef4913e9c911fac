"""Where the text below each node goes: the page's structure cut down to a small white list.

The white list is what Markdown and a reader's view can show. All other elements are transparent:
a `div` parts paragraphs but is no element of the content.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import numpy as np
import numpy.typing as npt

from ..layout.cdom import named
from ..layout.page import Page
from ..render.snapshot import ELEMENT, Snapshot

Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
LISTS = frozenset({"ul", "ol"})
CELLS = frozenset({"td", "th"})
# Inline elements, the outermost first: every text has its marks in this order.
MARKS = ("a", "strong", "em", "sub", "sup", "code")
# Elements that mean something only right inside of others.
PARENTS = {
    "li": LISTS,
    "dt": frozenset({"dl"}),
    "dd": frozenset({"dl"}),
    "caption": frozenset({"table"}),
    "thead": frozenset({"table"}),
    "tbody": frozenset({"table"}),
    "tr": frozenset({"table", "thead", "tbody"}),
    "td": frozenset({"tr"}),
    "th": frozenset({"tr"}),
    "figcaption": frozenset({"figure"}),
}
BLOCKS = HEADINGS | LISTS | PARENTS.keys() | {"p", "dl", "table", "pre", "blockquote", "figure"}
# Elements that hold text and marks only; what stands in them is text, whatever its tags are.
_PHRASES = HEADINGS | {"p", "caption", "dt", "figcaption", "pre"}
_ALIASES = {
    "b": "strong",
    "dir": "ul",
    "i": "em",
    "kbd": "code",
    "menu": "ul",
    "samp": "code",
    "tt": "code",
}

# Writers of trees and of Markdown may use the stack: no page nests deeper to a purpose.
_MAX_DEPTH = 48
# A table whose cells are longer than this on average lays out a page.
_MAX_CELL_CHARACTERS = 200
# HTML itself ends at 1000 columns and 65,534 rows.
_MAX_SPAN = {"colspan": 100, "rowspan": 1000}
_NOT_IN_ATTRIBUTES = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Place:
    """The chain of structural elements around a text, the outermost first."""

    blocks: tuple[tuple[int, str], ...] = ()  # node, tag of the content
    # Tag, what tells it from others: a link's address, a code's node. In the order of MARKS.
    marks: tuple[tuple[str, str], ...] = ()

    @property
    def tag(self) -> str:
        """The innermost block element, empty at the root."""
        return self.blocks[-1][1] if self.blocks else ""


ROOT = Place()


def find_places(page: Page, nodes: Int32, links: bool) -> dict[int, Place]:
    """The place of each of the [e] given nodes and of all that stand above them.

    links: whether links are structure; if not, their texts are texts as any other.
    """
    snapshot = page.snapshot
    before = np.zeros(len(snapshot.parent) + 1, np.int32)
    before[nodes + 1] = 1
    before = np.cumsum(before)
    used = np.flatnonzero(before[page.tree.end] > before[:-1])
    steps = _steps(page, links)
    places: dict[int, Place] = {-1: ROOT}
    columns = (used, snapshot.parent[used], snapshot.name[used])
    for node, above, name in zip(*(column.tolist() for column in columns), strict=True):
        step = steps.get(name)
        places[node] = step(node, places[above]) if step else places[above]
    return places


def spans(snapshot: Snapshot, node: int) -> list[tuple[str, str]]:
    """The colspan and rowspan of a cell that differ from 1, within bounds."""
    attributes = snapshot.attributes(node)
    found = []
    for name, most in _MAX_SPAN.items():
        digits = attributes.get(name, "").strip()
        if digits.isascii() and digits.isdigit() and len(digits) < 6 and int(digits) > 1:
            found.append((name, str(min(int(digits), most))))
    return found


def absolute(base: str, address: str, schemes: tuple[str, ...] = ("http", "https")) -> str | None:
    """An address against its base; None where it is of no use outside of the page."""
    try:
        joined = urljoin(base, _NOT_IN_ATTRIBUTES.sub("", address).strip())
        return joined.replace('"', "%22") if urlsplit(joined).scheme in schemes else None
    except ValueError:
        return None


def base_addresses(snapshot: Snapshot) -> list[str]:
    """What the addresses of each frame are relative to."""
    meta = snapshot.meta
    bases = [meta.resolved_url or meta.url, *meta.frames[1:]]
    found: set[int] = set()
    for node in np.flatnonzero(named(snapshot, frozenset({"base"}))).tolist():
        frame, href = int(snapshot.frame[node]), snapshot.attributes(node).get("href")
        if href is not None and frame not in found:
            found.add(frame)
            bases[frame] = absolute(bases[frame], href) or bases[frame]
    return bases


def data_tables(page: Page) -> Int32:
    """The tables that hold data; others arrange a page and are transparent."""
    snapshot, end = page.snapshot, page.tree.end
    tables = np.flatnonzero(named(snapshot, frozenset({"table"}))).astype(np.int32)
    if not len(tables):
        return tables
    nested = np.append(tables[1:] < end[tables[:-1]], False)[: len(tables)]
    cells = _below(named(snapshot, CELLS), tables, end)
    headings = _below(named(snapshot, HEADINGS), tables, end)
    characters = np.concatenate(([0], np.cumsum([len(text) for text in page.text])))
    ends = np.searchsorted(page.tree.leaf_node, end[tables])
    starts = np.searchsorted(page.tree.leaf_node, tables)
    short = characters[ends] - characters[starts] <= _MAX_CELL_CHARACTERS * cells
    grid = _rows_of_several_cells(page, tables) >= 2
    roles = [snapshot.attributes(node).get("role") for node in tables.tolist()]
    declared = np.array([role in ("presentation", "none") for role in roles], bool)
    data: Int32 = tables[grid & ~nested & (headings == 0) & short & ~declared]
    return data


Step = Callable[[int, Place], Place]


def _steps(page: Page, links: bool) -> dict[int, Step]:
    """What a node of a name does to the place it stands in, for the names that do anything."""
    snapshot, bases = page.snapshot, base_addresses(page.snapshot) if links else []
    tables = frozenset(data_tables(page).tolist())

    def table(node: int, place: Place) -> Place:
        return _in_block(node, "table", place) if node in tables else place

    def block(tag: str) -> Step:
        return lambda node, place: _in_block(node, tag, place)

    def mark(tag: str) -> Step:
        return lambda node, place: _in_mark(tag, str(node) if tag == "code" else "", place)

    def link(node: int, place: Place) -> Place:
        address = snapshot.attributes(node).get("href")
        base = bases[int(snapshot.frame[node])]
        href = absolute(base, address, ("http", "https", "mailto")) if address else None
        return _in_mark("a", href, place) if href else place

    steps: dict[int, Step] = {}
    for name in np.unique(snapshot.name[snapshot.kind == ELEMENT]).tolist():
        tag = _ALIASES.get(snapshot.strings[name], snapshot.strings[name])
        if tag in BLOCKS:
            steps[name] = table if tag == "table" else block(tag)
        elif tag in MARKS and (links or tag != "a"):
            steps[name] = link if tag == "a" else mark(tag)
        elif tag in ("iframe", "frame"):
            steps[name] = lambda node, place: ROOT
    return steps


def _in_block(node: int, tag: str, place: Place) -> Place:
    allowed = PARENTS.get(tag)
    if (
        place.tag in _PHRASES
        or len(place.blocks) >= _MAX_DEPTH
        or (allowed is not None and place.tag not in allowed)
    ):
        return place
    return Place((*place.blocks, (node, tag)), place.marks)


def _in_mark(tag: str, key: str, place: Place) -> Place:
    if any(tag == known for known, _ in place.marks):
        return place
    marks = sorted((*place.marks, (tag, key)), key=lambda mark: MARKS.index(mark[0]))
    return Place(place.blocks, tuple(marks))


def _below(mask: Bool, nodes: Int32, end: Int32) -> Int32:
    """How many nodes of a mask stand below each of `nodes`."""
    before = np.concatenate(([0], np.cumsum(mask)))
    below: Int32 = before[end[nodes]] - before[nodes]
    return below


def _rows_of_several_cells(page: Page, tables: Int32) -> Int32:
    """How many rows of two and more cells each table has, those of tables in it included."""
    snapshot = page.snapshot
    rows, cells = np.unique(
        snapshot.parent[named(snapshot, CELLS) & (snapshot.parent >= 0)], return_counts=True
    )
    several = np.zeros(len(snapshot.parent), bool)
    several[rows[cells >= 2]] = True
    return _below(several, tables, page.tree.end)
