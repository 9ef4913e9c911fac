"""Where a block stands: on the page, in its containers, in the row of texts at its height."""

from __future__ import annotations

import numpy as np

from ..geometry import area, share_inside, weight_at
from .scales import log_count, log_share
from .scene import Columns, Float64, Int, Int32, Scene, nearest

PLACE = (
    "left",  # of the page's width
    "centre",  # distance of the middle from the page's middle, of the page's width
    "width",  # of the page's width
    "top",  # of the page's height
    "from_top",  # log viewports, 50 are 1
    "first_screen",  # share of the block's area in the first viewport
    "height",  # log lines of the main text, 20 are 1
    "lines",  # log, 20 are 1
    "characters_a_line",  # log, 150 are 1
    "words_a_line",  # log, 20 are 1
    "area_share",  # log of the share in the area of the page's lines
    # The column is the nearest block-level box above.
    "column_left",  # of the page's width
    "column_width",  # of the page's width
    "in_column",  # left edge, from the column's left edge, of the column's width
    "of_column",  # width, of the column's width
    # The section is the nearest block-level box above that holds other texts too, or the page.
    "in_section",  # top edge, from the section's top, of the section's height
    "of_section",  # width, of the section's width
    "section_area",  # log of the share in the page's area
    "section_text",  # share of the page's characters in the section
    "section_density",  # log characters on 1,000 square pixels, 6.4 are 1
    "section_fill",  # share of the section's area that the block's lines take
    "row_blocks",  # log of the other lines of text at the height of the block's first line
    "row_cover",  # share of the page's width that the lines at this height take
)


def place_columns(scene: Scene, weight: Float64, line: float) -> Columns:
    """The columns of PLACE, [v] each.

    Args:
        weight: [v] characters that are seen.
        line: height of a line of the main text, in pixels.
    """
    ink = np.bincount(scene.line_block, area(scene.line_box), len(scene)).astype(np.float64)
    return _on_page(scene, line, ink) | _in_boxes(scene, ink) | _in_row(scene, weight)


def _on_page(scene: Scene, line: float, ink: Float64) -> Columns:
    x, y, width, height = scene.box.T
    lines = np.maximum(scene.lines, 1)
    words = np.fromiter((text.count(" ") for text in scene.page.text), np.float64) + 1
    screen = np.array([0, 0, scene.page_width, scene.screen_height])
    return {
        "left": np.clip(x / scene.page_width, -1, 2),
        "centre": np.clip((x + width / 2) / scene.page_width - 0.5, -1, 1),
        "width": np.clip(width / scene.page_width, 0, 2),
        "top": np.clip(y / scene.page_height, 0, 1),
        "from_top": log_count(y / scene.screen_height, 4),
        "first_screen": share_inside(scene.box, screen),
        "height": log_count(height / line, 3),
        "lines": log_count(scene.lines, 3),
        "characters_a_line": log_count(scene.characters / lines, 5),
        "words_a_line": log_count(words[scene.block] / lines, 3),
        "area_share": log_share(ink / max(ink.sum(), 1)),
    }


def _in_boxes(scene: Scene, ink: Float64) -> Columns:
    x, y, width, _ = scene.box.T
    column, section = scene.column, _sections(scene)
    whole = np.array([0, 0, scene.page_width, scene.page_height])
    outer = np.where(section[:, None] >= 0, scene.node_box[section], whole)
    size = np.maximum(area(outer), 1)
    text = _text_below(scene, section)
    return {
        "column_left": np.clip(column[:, 0] / scene.page_width, -1, 2),
        "column_width": np.clip(column[:, 2] / scene.page_width, 0, 2),
        "in_column": np.clip((x - column[:, 0]) / np.maximum(column[:, 2], 1), -1, 2),
        "of_column": np.clip(width / np.maximum(column[:, 2], 1), 0, 2),
        "in_section": np.clip((y - outer[:, 1]) / np.maximum(outer[:, 3], 1), -1, 2),
        "of_section": np.clip(width / np.maximum(outer[:, 2], 1), 0, 2),
        "section_area": log_share(size / (scene.page_width * scene.page_height)),
        "section_text": text / max(scene.characters.sum(), 1),
        "section_density": np.clip(log_count(1000 * text / size, 2), 0, 2),
        "section_fill": np.clip(ink / size, 0, 1),
    }


def _in_row(scene: Scene, weight: Float64) -> Columns:
    seen = weight[scene.line_block] > 0
    _, y, width, height = scene.line_box[seen].T
    first = scene.box[:, 1] + scene.box[:, 3] / np.maximum(scene.lines, 1) / 2
    number, cover = weight_at(first, y, height, np.stack([np.ones(len(y)), width], axis=1)).T
    return {
        "row_blocks": log_count(number - 1, 3),
        "row_cover": np.clip(cover / scene.page_width, 0, 1),
    }


def _sections(scene: Scene) -> Int32:
    """The nearest block-level node above each block that holds several texts, [v], -1 for none."""
    tree, run = scene.page.tree, np.append(scene.page.run, -1)
    before = _leaves_before(scene)
    first, last = before[:-1], before[tree.end]
    several = (last > first) & (run[first] != run[last - 1])
    boxed = tree.block_level & (area(scene.node_box[:-1]) > 0)
    return nearest(scene.page.snapshot.parent, boxed & several)[scene.leaf]


def _text_below(scene: Scene, node: Int32) -> Float64:
    """The characters of the blocks in a node, [v]; the whole page's for -1."""
    total = np.zeros(len(scene.page) + 1)
    total[scene.block + 1] = scene.characters
    total, before = np.cumsum(total), _leaves_before(scene)
    below = total[before[scene.page.tree.end[node]]] - total[before[node]]
    return np.where(node >= 0, below, scene.characters.sum())


def _leaves_before(scene: Scene) -> Int:
    """How many leaves stand before each node, and at the end all of them, [n + 1]."""
    before = np.zeros(len(scene.row) + 1, np.intp)
    before[scene.page.tree.leaf_node + 1] = 1
    return np.cumsum(before)
