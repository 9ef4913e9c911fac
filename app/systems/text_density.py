"""alexjc's rule: lines that are mostly text are content.

"The Easy Way to Extract Useful Text from Arbitrary HTML" (AI Depot, April 2007). The article names
two thresholds, which are two systems here; its perceptron lives on in `rprop`.
"""

from __future__ import annotations

from .lines import read_lines
from .protocol import StudyPage, System

THRESHOLD = 0.5
"""Bytes of text for each byte of HTML (the article's `output`)."""


class TextDensity(System):
    """Keeps the lines denser than `THRESHOLD`, or than their page's mean line with `mean`."""

    version = "1"

    def __init__(self, *, mean: bool = False):
        self.name = "text-density-mean" if mean else "text-density"
        self._mean = mean

    def extract(self, page: StudyPage) -> str:
        """The dense lines, one a line."""
        lines = read_lines(page.html)
        densities = lines.densities
        threshold = densities.mean() if self._mean and len(lines) else THRESHOLD
        return lines.join(densities > threshold)
