"""Gaps and alignment between a block and the laid-out ones before and after it."""

from __future__ import annotations

import numpy as np

from .scales import signed_log
from .scene import Columns, Scene

NEIGHBOURS = (
    "gap_before",  # down from the bottom of the block before, signed log lines of the main text
    "gap_after",  # down to the top of the block after, signed log lines of the main text
    "aligned_before",  # 1 where the left edge is that of the block before
    "aligned_after",  # 1 where the left edge is that of the block after
    "right_aligned_before",  # 1 where the column's right edge is that of the block before
    "same_width_before",  # 1 where the column's width is that of the block before
    "right_of_before",  # 1 where it stands at the height of the block before, right of it
    "left_of_before",  # 1 where it stands at the height of the block before, left of it
)

_SAME = 3.0  # pixels
_TOUCH = 2.0  # pixels that boxes side by side may overlap


def neighbour_columns(scene: Scene, line: float) -> Columns:
    """The columns of NEIGHBOURS, [v] each; `line` is the height of one of the main text."""
    x, y, width, height = scene.box.T
    right, bottom = x + width, y + height
    gap = signed_log((y[1:] - bottom[:-1]) / line)  # [v - 1], as the others
    column_width = scene.column[:, 2]
    left_edge, right_edge, same_width = (
        np.abs(np.diff(length)) < _SAME
        for length in (x, scene.column[:, 0] + column_width, column_width)
    )
    shared = np.minimum(bottom[1:], bottom[:-1]) - np.maximum(y[1:], y[:-1])
    same_height = shared > 0.5 * np.minimum(height[1:], height[:-1])
    return {
        "gap_before": np.append(0, gap),
        "gap_after": np.append(gap, 0),
        "aligned_before": np.append(False, left_edge),
        "aligned_after": np.append(left_edge, False),
        "right_aligned_before": np.append(False, right_edge),
        "same_width_before": np.append(False, same_width),
        "right_of_before": np.append(False, same_height & (x[1:] >= right[:-1] - _TOUCH)),
        "left_of_before": np.append(False, same_height & (right[1:] <= x[:-1] + _TOUCH)),
    }
