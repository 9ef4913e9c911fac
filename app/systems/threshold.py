"""hzxdark's rule: fixed thresholds on the network's features, and filters for special parts.

The author ends the experiments behind `rprop` by preferring it to the network (blog.csdn.net/
hzxdark/article/details/3565929), without naming a threshold. Those here were chosen on the 531
training pages of CleanEval in the split of Web2Text (2018) by mean word F1, one threshold after
the other along a grid until none changed: .929, where all lines together have .888.
"""

from __future__ import annotations

import re

import numpy as np

from .lines import Bools, PageLines, read_lines
from .protocol import StudyPage, System

LENGTH = 50
"""Characters from which on a line stands on its own..."""

DENSITY = 0.2
"""... if it has that many bytes of text for each byte of HTML..."""

PER_LINK = 60
"""... and that many characters for each link."""

NEAR = 16
"""Lines within which one must stand on its own on both sides of a line that does not..."""

NEAR_DENSITY = 0.1
"""... and its bytes of text for each byte of HTML, to be content like them."""

# The legal line at a page's foot. A longer text only has such a line in it.
_LEGAL = re.compile(r"©|\(c\)|\bcopyright\b|\ball rights reserved\b", re.IGNORECASE)
_LEGAL_LENGTH = 300

# What a site lets its readers do: buttons of comments, sign-in, printing, paging, and menus. In
# longer lines these are words like others. Dates are no such part: left in, they score higher.
_SERVICE = re.compile(
    r"""\b(?:comments?|reply|permalink|trackbacks?|log\ ?in|sign\ in|register|subscribe|
    e-?mail\ this|print(?:er|able)?|home|next|previous|back\ to\ top|privacy|terms|contact\ us|
    site\ ?map|search|advertisement|read\ more|powered\ by)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SERVICE_LENGTH = 60


class Threshold(System):
    """Keeps the lines that stand on their own, and those between them; no special parts."""

    name = "threshold"
    version = "1"

    def extract(self, page: StudyPage) -> str:
        """The lines of content, one a line."""
        lines = read_lines(page.html)
        return lines.join(content_lines(lines))


def content_lines(lines: PageLines) -> Bools:
    """Which lines [n] the rule keeps."""
    lengths, densities = lines.lengths, lines.densities
    plain = ~np.array([_is_special(text) for text in lines.texts], np.bool_)
    alone = (lengths >= LENGTH) & (densities >= DENSITY) & (lengths >= PER_LINK * lines.links)
    alone &= plain
    between = _distances(alone) <= NEAR
    between &= _distances(alone[::-1])[::-1] <= NEAR
    return alone | (plain & between & (densities >= NEAR_DENSITY))


def _is_special(text: str) -> bool:
    if len(text) < _SERVICE_LENGTH and _SERVICE.search(text):
        return True
    return len(text) < _LEGAL_LENGTH and bool(_LEGAL.search(text))


def _distances(marked: Bools) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Lines from the last marked line up to each line -> [n], infinite before the first."""
    places = np.arange(len(marked), dtype=np.float64)
    return places - np.maximum.accumulate(np.where(marked, places, -np.inf))
