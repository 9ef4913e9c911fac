"""What repeats on the pages of a site.

A text that stands word for word on other pages of its site is most often template: a menu, a
notice, an advertisement of the site's own. One page does not show that; several do (Bar-Yossef and
Rajagopalan 2002; Yi, Liu and Li 2003; Vieira et al. 2006, who compare parts of trees where this
module compares lines of text).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .page import Page

Float32 = npt.NDArray[np.float32]

# Log odds that a line loses for each of its words, where all other pages have it: long lines repeat
# by template only; short ones, such as "Details" or a name, may belong to what each page says.
# Fitted by log loss on pages of sites that the network had not seen: 0.31 on WCXB without a layout,
# 0.33 with one, 0.24 on CleanEval.
WEIGHT = 0.3
# Words beyond which a line is no more suspect.
LONG = 20
# A line that a page has more often than this heads its records, as "Price:" may: a template's
# stand once, or twice where there is a menu for small screens.
MOST_ON_PAGE = 2

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True, eq=False)
class SiteTexts:
    """On how many pages of a site each line of text stands, whatever its case and numbers.

    A line is an unbroken run of blocks. Copies of a page count once, pages without text not at all.

    pages: a digest of each page's lines. counts: the pages that have a line.
    """

    pages: frozenset[bytes]
    counts: Mapping[str, int]

    @classmethod
    def of(cls, pages: Iterable[Page]) -> SiteTexts:
        """What the pages of one site have; each of them is read once and not kept."""
        seen: set[bytes] = set()
        counts: Counter[str] = Counter()
        for lines in map(_lines, pages):
            if lines and (mark := _digest(lines)) not in seen:
                seen.add(mark)
                counts.update(set(lines))
        return cls(frozenset(seen), counts)

    def shares(self, page: Page) -> Float32:
        """The share of the other pages that have the line of each block of a page, [b].

        The page itself and its copies are none of the others. Zeros where there are no others,
        and for lines that stand on the page more than MOST_ON_PAGE times.
        """
        lines = _lines(page)
        own = int(_digest(lines) in self.pages)
        others = len(self.pages) - own
        if others < 1 or not lines:
            return np.zeros(len(page), np.float32)
        times = Counter(lines)
        found = [self.counts.get(x, 0) - own if times[x] <= MOST_ON_PAGE else 0 for x in lines]
        return (np.array(found, np.float32) / np.float32(others))[page.run]

    def against(self, page: Page) -> Float32:
        """The log odds that the other pages hold against each block of a page, [b], from 0 on."""
        words = np.fromiter((len(text.split()) for text in page.text), np.float64, len(page))
        in_line = np.minimum(np.bincount(page.run, words), LONG)[page.run]
        against: Float32 = (WEIGHT * in_line * self.shares(page)).astype(np.float32)
        return against


def _lines(page: Page) -> list[str]:
    """The text of each of the r runs, [r], in lower case and with 0 for every number."""
    parts: list[list[str]] = [[] for _ in range(int(page.run[-1]) + 1 if len(page) else 0)]
    for run, space, text in zip(
        page.run.tolist(), page.space_before.tolist(), page.text, strict=True
    ):
        parts[run].append(f" {text}" if space else text)
    return [_NUMBER.sub("0", "".join(part).strip().lower()) for part in parts]


def _digest(lines: list[str]) -> bytes:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).digest()
