"""A block's place to the main column, to that column's long texts, and to the page's headline."""

from __future__ import annotations

import numpy as np

from .scales import signed_log, weighted_median
from .scene import Bool, Columns, Float64, Scene
from .style import font_sizes

MAIN_COLUMN = (
    "column_share",  # share of the page's characters in columns of this left edge and width
    "column_is_main",  # 1 where no other columns hold more
    "overlaps_main",  # share of the block's width inside the main column
    "from_main",  # to the right of it, negative to the left, in page widths; 0 where they overlap
    "after_first",  # from the top of the main column's first long text down, signed log viewports
    "after_last",  # from the bottom of its last long text down, signed log viewports
    "between",  # 1 where it lies between the two
    "from_heading",  # down from the top of the largest font in the first 2 viewports; 3 are 1
)

_GRID = 48  # pixels; indents of list items and quotes do not make a new column
_LONG = 80  # characters
_TOP_SCREENS = 2  # viewports, in which a headline is looked for
_LARGER = 0.5  # pixels, than the main text
_FAR = 3  # viewports from the headline


def main_column_columns(scene: Scene, weight: Float64) -> Columns:
    """The columns of MAIN_COLUMN, [v] each; `weight`, [v], has the characters that are seen."""
    left, _, width, _ = scene.column.T
    span = np.round(left / _GRID) * 1e7 + np.round(width / _GRID)
    _, key = np.unique(span, return_inverse=True)
    mass = np.bincount(key.ravel(), weights=weight)
    main = key.ravel() == mass.argmax()
    main_left, main_right = np.median(left[main]), np.median((left + width)[main])
    x, _, wide, _ = scene.box.T
    inside = np.minimum(x + wide, main_right) - np.maximum(x, main_left)
    beside = np.maximum(x - main_right, 0) - np.maximum(main_left - x - wide, 0)
    return {
        "column_share": (mass / mass.sum())[key.ravel()],
        "column_is_main": main,
        "overlaps_main": np.clip(inside / np.maximum(wide, 1), 0, 1),
        "from_main": np.clip(beside / scene.page_width, -1, 1),
    } | _landmarks(scene, weight, main)


def _landmarks(scene: Scene, weight: Float64, main: Bool) -> Columns:
    top, bottom = scene.box[:, 1], scene.box[:, 1] + scene.box[:, 3]
    text = main & (weight >= min(_LONG, weight[main].max()))
    first, last = top[text].min(), bottom[text].max()
    heading = _heading_top(scene, weight)
    return {
        "after_first": signed_log((top - first) / scene.screen_height),
        "after_last": signed_log((top - last) / scene.screen_height),
        "between": (top >= first) & (bottom <= last),
        "from_heading": np.clip((top - heading) / scene.screen_height / _FAR, -1, 1),
    }


def _heading_top(scene: Scene, weight: Float64) -> Float64:
    """The top of the block with the largest font in the first viewports, [1].

    Where no font there is larger than the main text's, the top of each block itself, [v].
    """
    top, size = scene.box[:, 1], font_sizes(scene)
    usual = weighted_median(size, weight)
    usable = (weight > 0) & (top < _TOP_SCREENS * scene.screen_height) & (size > usual + _LARGER)
    return top[[np.where(usable, size, 0).argmax()]] if usable.any() else top
