"""Row-block distribution: where the lines of a page's source, without its tags, are full of text.

Chen Xin, "General Main Text Extraction by the Distribution Function of Row Blocks" (in Chinese,
Harbin Institute of Technology 2010) and its program cx-extractor: a row block is a line and the two
after it, its length the characters that are no white space. Content begins with a block longer than
86 that text follows, and ends before the next empty block; lines of less than 5 characters are left
out. As in the later programs, all such stretches count, not only the one with the longest block.

There the ends of the page are no ends of content, so that a page that ends in its content loses it;
here empty lines are thought to stand around the page.
"""

from __future__ import annotations

import numpy as np

from .protocol import StudyPage, System
from .texts import source_pieces

ROWS = 3
"""Lines in a row block."""
SURGE = 86
"""Content begins with a longer block: characters."""
SHORTEST = 5
"""Shorter lines are no content: characters."""


class RowBlocks(System):
    """Keeps the stretches of lines from a surge of text to where it drops to nothing."""

    name = "row-blocks"
    version = "1"

    def extract(self, page: StudyPage) -> str:
        """The lines of all stretches, as they stand in the source."""
        # Tags of blocks part words, but no lines: the source's own lines are what is counted.
        parts = [(" " if piece.is_block else "", piece) for piece in source_pieces(page.html)]
        source = "".join(gap if piece.tag else piece.text for gap, piece in parts)
        margin = [""] * ROWS
        lines = [*margin, *(" ".join(line.split()) for line in source.split("\n")), *margin]
        lengths = np.array([len(line) - line.count(" ") for line in lines], np.int64)
        stretches = (
            [line for line, size in zip(lines[a:b], lengths[a:b], strict=True) if size >= SHORTEST]
            for a, b in _stretches(np.convolve(lengths, np.ones(ROWS, np.int64), "valid").tolist())
        )
        return "\n".join(line for stretch in stretches for line in stretch)


def _stretches(blocks: list[int]) -> list[tuple[int, int]]:
    """From, to (exclusive) of each stretch of lines, from the lengths of the row blocks."""
    found: list[tuple[int, int]] = []
    start = -1
    for row, length in enumerate(blocks[:-1]):
        if start < 0 and length > SURGE and any(blocks[row + 1 : row + 1 + ROWS]):
            start = row
        elif start >= 0 and not (length and blocks[row + 1]):
            found.append((start, row + 1))
            start = -1
    return found
