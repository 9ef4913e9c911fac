"""What the rendered page shows of each block: place, size, type, colour, visibility.

Lengths are CSS pixels before they are scaled; every column is about -1 to +1 or 0 to 1. All columns
are zero for a page without layout, and for a block without a box all but the first: the first
column tells the three cases apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...render.snapshot import STYLES, Snapshot
from ..cdom import covered
from ..page import Page, first_rows
from .schema import FeatureSet, Float32

Int32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]
Float64 = npt.NDArray[np.float64]

GEOMETRY = FeatureSet(
    "geometry",
    1,
    (
        "laid_out",  # +1 has a box, -1 has none, 0 nothing is known
        "left",  # of the page's width
        "centre",  # distance of the middle from the page's middle, of the page's width
        "width",  # of the page's width
        "top",  # of the page's height
        "from_top",  # log viewports
        "height",  # log lines of the main text
        "area_share",  # log of the share in all blocks' area
        "lines",  # log
        "characters_a_line",  # log
        "column_left",  # the block's container, as above
        "column_width",
        "column_share",  # share of the page's characters in containers of this left and width
        "column_is_main",  # the container's span is the one with most characters
        "overlaps_main",  # share of the block's width inside the main column
        "gap_before",  # log lines of the main text, to the block before
        "gap_after",
        "aligned_before",  # same left edge as the block before
        "aligned_after",
        "right_of_before",  # stands on the same line as the block before
        "font_size",  # log ratio to the main text
        "font_size_before",  # log ratio to the block before
        "font_size_after",
        "bold",
        "italic",
        "main_style",  # has the size, weight and colour of the main text
        "contrast",  # of text and page background, 0 to 1
        "coloured",  # saturation of the text's colour
        "underlined",
        "centred",
        "pointer",  # the cursor says that it can be clicked
        "hidden",  # visibility, opacity or a clip hides it, here or above
        "fixed",  # fixed or sticky, here or above
        "off_page",  # wholly left of or above the page, or right of it
        "preformatted",
    ),
)

_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?")


def geometry_features(page: Page) -> Float32:
    """[b, len(GEOMETRY)]; zeros where the Snapshot has no layout."""
    out = np.zeros((len(page), len(GEOMETRY)), np.float32)
    if not page.snapshot.rendered or not len(page):
        return out
    columns = dict(zip(GEOMETRY.columns, out.T, strict=True))
    has_box = ~np.isnan(page.box[:, 0])
    characters = np.fromiter(map(len, page.text), np.float64, len(page)) * has_box
    if has_box.any():
        line = _place(page, columns, characters)
        _column(page, columns, characters)
        _neighbours(page, columns, line)
        _style(page, columns, characters)
        _visibility(page, columns)
    out[~has_box] = 0
    columns["laid_out"][:] = np.where(has_box, 1, -1)
    return np.nan_to_num(out, nan=0.0, posinf=0.0, neginf=0.0)


def _place(page: Page, columns: dict[str, Float32], characters: Float64) -> float:
    """Place and size on the page; returns the height of a line of the main text."""
    x, y, width, height = page.box.T
    page_width, page_height = np.maximum(page.snapshot.meta.page_size, 1)
    lines = np.maximum(page.lines, 1)
    line = float(_weighted_median(height / lines, characters))
    area = width * height
    columns["left"][:] = np.clip(x / page_width, -1, 2)
    columns["centre"][:] = np.clip((x + width / 2) / page_width - 0.5, -1, 1)
    columns["width"][:] = np.clip(width / page_width, 0, 2)
    columns["top"][:] = np.clip(y / page_height, 0, 1)
    columns["from_top"][:] = np.log1p(np.maximum(y, 0) / max(page.snapshot.meta.viewport[1], 1)) / 2
    columns["height"][:] = np.log1p(height / line) / 2
    columns["area_share"][:] = np.log10(np.maximum(area / np.nansum(area), 1e-4)) / 4 + 1
    columns["lines"][:] = np.log1p(page.lines) / 3
    columns["characters_a_line"][:] = np.log1p(characters / lines) / 5
    return line


def _column(page: Page, columns: dict[str, Float32], characters: Float64) -> None:
    """The nearest block-level box around a block stands for its column."""
    snapshot = page.snapshot
    page_width = max(snapshot.meta.page_size[0], 1)
    box = _container_boxes(page)
    box = np.where(np.isnan(box), page.box, box)  # an inline root
    left, width = box[:, 0], box[:, 2]
    # Indents of list items and quotes do not make a new column.
    span = np.stack([np.round(np.nan_to_num(left) / 48), np.round(np.nan_to_num(width) / 48)])
    _, key = np.unique(span, axis=1, return_inverse=True)
    weight = np.bincount(key.ravel(), weights=characters)
    share = weight / max(weight.sum(), 1)
    main = key.ravel() == share.argmax()
    main_left, main_right = np.nanmedian(left[main]), np.nanmedian((left + width)[main])
    inside = np.minimum(page.box[:, 0] + page.box[:, 2], main_right)
    inside = inside - np.maximum(page.box[:, 0], main_left)
    columns["column_left"][:] = np.clip(left / page_width, -1, 2)
    columns["column_width"][:] = np.clip(width / page_width, 0, 2)
    columns["column_share"][:] = share[key.ravel()]
    columns["column_is_main"][:] = main
    columns["overlaps_main"][:] = np.clip(inside / np.maximum(page.box[:, 2], 1), 0, 1)


def _container_boxes(page: Page) -> Float32:
    """The box of the nearest block-level element above each block, [b, 4], NaN for none."""
    snapshot, tree = page.snapshot, page.tree
    row = first_rows(snapshot)
    usable = tree.block_level & (row >= 0)
    parents = snapshot.parent.tolist()
    nearest, flags = list(range(len(parents))), usable.tolist()
    for node, above in enumerate(parents):
        if not flags[node]:
            nearest[node] = nearest[above] if above >= 0 else -1
    container = np.array(nearest, np.int32)[tree.leaf_node]
    boxes = np.append(snapshot.row_box, np.full((1, 4), np.nan, np.float32), axis=0)
    return boxes[np.where(container >= 0, row[container], len(snapshot.row_box))]


def _neighbours(page: Page, columns: dict[str, Float32], line: float) -> None:
    x, y, width, height = page.box.T
    gap = np.clip((y[1:] - (y + height)[:-1]) / line, -20, 20)
    gap = np.sign(gap) * np.log1p(np.abs(gap)) / 3
    aligned = np.abs(x[1:] - x[:-1]) < 3
    columns["gap_before"][1:], columns["gap_after"][:-1] = gap, gap
    columns["aligned_before"][1:], columns["aligned_after"][:-1] = aligned, aligned
    same_line = np.minimum((y + height)[1:], (y + height)[:-1]) - np.maximum(y[1:], y[:-1])
    beside = (same_line > 0.5 * np.minimum(height[1:], height[:-1])) & (
        x[1:] >= (x + width)[:-1] - 2
    )
    columns["right_of_before"][1:] = beside


def _style(page: Page, columns: dict[str, Float32], characters: Float64) -> None:
    table = _StyleTable(page.snapshot)
    row = np.maximum(page.style, 0)
    size = table.number("font-size")[row]
    weight = table.number("font-weight")[row]
    colour = table.colour("color")[row]  # [b, 4]
    main_size = _weighted_median(size, characters)
    relative = np.log(np.maximum(size, 1) / max(main_size, 1))
    columns["font_size"][:] = np.clip(relative, -1.5, 1.5)
    columns["font_size_before"][1:] = np.clip(np.diff(relative), -1.5, 1.5)
    columns["font_size_after"][:-1] = np.clip(-np.diff(relative), -1.5, 1.5)
    columns["bold"][:] = weight >= 600
    columns["italic"][:] = table.equals("font-style", "italic", "oblique")[row]
    _, look = np.unique(np.column_stack([size, weight, colour]), axis=0, return_inverse=True)
    usual = np.bincount(look.ravel(), weights=characters).argmax()
    columns["main_style"][:] = look.ravel() == usual
    columns["contrast"][:] = (1 - colour[:, :3] @ np.array([0.2126, 0.7152, 0.0722])) * colour[:, 3]
    columns["coloured"][:] = colour[:, :3].max(axis=1) - colour[:, :3].min(axis=1)
    columns["underlined"][:] = table.contains("text-decoration-line", "underline")[row]
    columns["centred"][:] = table.equals("text-align", "center", "-webkit-center")[row]
    columns["pointer"][:] = table.equals("cursor", "pointer")[row]
    columns["preformatted"][:] = table.contains("white-space-collapse", "preserve")[row]


def _visibility(page: Page, columns: dict[str, Float32]) -> None:
    """Opacity, clips and fixed positions of an element hold for all that stands below it."""
    snapshot, leaf = page.snapshot, page.tree.leaf_node
    table, known = _StyleTable(snapshot), snapshot.row_style >= 0
    style = snapshot.row_style[known]

    def below(mask: Bool) -> Bool:
        starts = snapshot.row_node[known][mask[style]]
        return covered(np.unique(starts).astype(np.int32), page.tree.end)[leaf]

    clips = table.equals("overflow-x", "hidden", "clip") | table.equals(
        "overflow-y", "hidden", "clip"
    )
    tiny = np.zeros(len(snapshot.row_node), bool)
    tiny[known] = clips[style]
    tiny &= (snapshot.row_box[:, 2] <= 1) | (snapshot.row_box[:, 3] <= 1)
    clipped = covered(np.unique(snapshot.row_node[tiny]).astype(np.int32), page.tree.end)[leaf]
    row = np.maximum(page.style, 0)
    # The document's own row has no styles.
    faint = (table.number("opacity") < 0.05) & ~table.equals("opacity", "")
    unseen = table.equals("visibility", "hidden", "collapse")[row]
    columns["hidden"][:] = unseen | clipped | below(faint)
    columns["fixed"][:] = below(table.equals("position", "fixed", "sticky"))
    x, y, width, height = page.box.T
    columns["off_page"][:] = (
        (x + width <= 0) | (y + height <= 0) | (x >= max(snapshot.meta.page_size[0], 1))
    )


class _StyleTable:
    """The s style rows of a Snapshot, a property at a time."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def _map(self, name: str, convert: Callable[[str], Any]) -> list[Any]:
        numbers = self.snapshot.styles[:, STYLES.index(name)].tolist()
        values = {number: convert(self.snapshot.strings[number]) for number in set(numbers)}
        return [values[number] for number in numbers]

    def number(self, name: str) -> Float64:
        """The first number of a property, [s]; 0 where it has none."""
        return np.array(self._map(name, _first_number), np.float64).reshape(-1)

    def colour(self, name: str) -> Float64:
        """Red, green, blue and alpha from 0 to 1, [s, 4]."""
        return np.array(self._map(name, _colour), np.float64).reshape(-1, 4)

    def equals(self, name: str, *values: str) -> Bool:
        """Whether a property has one of the values, [s]."""
        return np.array(self._map(name, lambda text: text in values), bool)

    def contains(self, name: str, part: str) -> Bool:
        """Whether a property's value contains a part, [s]."""
        return np.array(self._map(name, lambda text: part in text), bool)


def _first_number(text: str) -> float:
    match = _NUMBER.search(text)
    return float(match[0]) if match else 0.0


def _colour(text: str) -> tuple[float, float, float, float]:
    numbers = [float(number) for number in _NUMBER.findall(text)]
    if not text.startswith("rgb") or len(numbers) < 3:
        return (0.0, 0.0, 0.0, 1.0)
    alpha = numbers[3] if len(numbers) > 3 else 1.0
    return (numbers[0] / 255, numbers[1] / 255, numbers[2] / 255, alpha)


def _weighted_median(value: npt.NDArray[np.floating], weight: Float64) -> float:
    order = np.argsort(value)
    running = np.cumsum(weight[order])
    return float(value[order][np.searchsorted(running, running[-1] / 2)]) or 1.0
