"""The unbroken runs of text of a page: what the chain decides on as one.

A link is part of its sentence, an accented word part of its heading: the leaves between two breaks
are read as one line by a person, and get one label.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .features.schema import Features
from .geometry import union_by
from .page import Page

Float32 = npt.NDArray[np.float32]


def run_means(page: Page, table: npt.NDArray[np.floating]) -> Float32:
    """Means over the leaves of each run, weighted by characters: [b, C] to [r, C]."""
    if not len(page):
        return np.zeros((0, table.shape[1]), np.float32)
    starts = np.flatnonzero(page.tree.break_before)
    length = np.diff(starts, append=len(page))
    means = table[starts].astype(np.float32)  # of the many runs that are one leaf
    # A run's leaves are neighbours: sums over ranges do.
    several = length > 1
    leaf = several[page.run]
    if leaf.any():
        sizes = np.fromiter(map(len, page.text), np.float64, len(page))[leaf]
        first = np.cumsum(length[several]) - length[several]
        sums = np.add.reduceat(table[leaf] * sizes[:, None], first, axis=0)
        means[several] = sums / np.add.reduceat(sizes, first)[:, None]
    return means


def run_features(page: Page, features: Features) -> Features:
    """The features of the r runs, [r, F], and of the edges between them, [r - 1, E]."""
    between = page.tree.break_before[1:]
    return Features(run_means(page, features.blocks), features.edges[between])


def run_boxes(page: Page) -> Float32:
    """The smallest box around each run, [r, 4] in CSS pixels; NaN where none of it is laid out."""
    runs = int(page.run[-1]) + 1 if len(page) else 0
    return union_by(page.run, page.box, runs)[0]
