"""Block fusion: neighbours of like text density are one block, dense blocks are content.

C. Kohlschütter, W. Nejdl, "A Densitometric Approach to Web Page Segmentation" (CIKM 2008): the
density of a block is its words for each line of 80 characters, the last line left out where there
are more (it is seldom full); neighbours are fused as long as their densities differ by less than a
share of the greater (BF-plain).

That paper only cuts pages. That content is what is dense is Kohlschütter's "A Densitometric
Analysis of Web Template Content" (WWW 2009). The threshold is the one at which his program
boilerpipe counts words as those of full text, and the first split of its density tree
(C. Kohlschütter, P. Fankhauser, W. Nejdl, WSDM 2010).
"""

from __future__ import annotations

from dataclasses import dataclass

from .blocks import text_blocks
from .dom import parse_html
from .protocol import StudyPage, System

WIDTH = 80
"""Characters in a line."""
LIKE = 0.38
"""Fuse up to this difference of densities, a share of the greater one."""
FULL_TEXT = 9.0
"""Words a line from which on a block is content."""


@dataclass(frozen=True, slots=True)
class _Block:
    """words: in all lines that count. lines: how many these are."""

    texts: tuple[str, ...]
    words: int
    lines: int

    @property
    def density(self) -> float:
        return self.words / self.lines


class BlockFusion(System):
    """Keeps the fused blocks of at least `FULL_TEXT` words a line."""

    name = "block-fusion"
    version = "1"

    def extract(self, page: StudyPage) -> str:
        """The texts of the dense blocks, a line a block of the page."""
        blocks = fuse([measure(block.text) for block in text_blocks(parse_html(page.html))])
        dense = (block for block in blocks if block.density >= FULL_TEXT)
        return "\n".join(text for block in dense for text in block.texts)


def measure(text: str) -> _Block:
    """A block of one text, wrapped at `WIDTH`; a longer word has a line of its own."""
    words = text.split()
    lines, room, before_last = 1, WIDTH, 0
    for number, word in enumerate(words):
        if len(word) > room and number:
            lines, room, before_last = lines + 1, WIDTH, number
        room -= len(word) + 1
    return _Block((text,), before_last, lines - 1) if lines > 1 else _Block((text,), len(words), 1)


def fuse(blocks: list[_Block]) -> list[_Block]:
    """Blocks of which no two neighbours are alike; each is compared with all fused before it."""
    fused: list[_Block] = []
    # The texts are put together at the end: a tuple that grows would be copied each time.
    runs: list[list[str]] = []
    for block in blocks:
        run = list(block.texts)
        while fused and _alike(fused[-1], block):
            before = fused.pop()
            block = _Block((), before.words + block.words, before.lines + block.lines)
            run = _joined(runs.pop(), run)
        fused.append(block)
        runs.append(run)
    return [
        _Block(tuple(run), block.words, block.lines) for run, block in zip(runs, fused, strict=True)
    ]


def _joined(first: list[str], second: list[str]) -> list[str]:
    if len(first) < len(second):
        second[:0] = first
        return second
    first.extend(second)
    return first


def _alike(first: _Block, second: _Block) -> bool:
    difference = abs(first.density - second.density)
    return difference <= LIKE * max(first.density, second.density)
