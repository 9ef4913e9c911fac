"""The blocks of a result: what was decided of each text of a page, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..layout.page import Labels, Page
from ..layout.paths import xpaths

# Of probabilities in results.
DIGITS = 4


@dataclass(frozen=True, slots=True)
class Block:
    """One text of a page, with what was decided of it and why.

    id: its number on the page, from 0. probability: of being content.
    role: None, blocks have no roles so far.
    bbox: [x, y, width, height] in CSS pixels of the page, None where it was not laid out.
    xpath: of the text node within its document or shadow root; None at a depth no reader needs.
    frame: the URL of the frame it stands in, None in the page's own document.
    """

    id: int
    text: str
    label: Literal["content", "boilerplate"]
    probability: float
    role: str | None
    bbox: list[float] | None
    xpath: str | None
    frame: str | None
    reason: str


class BlockList:
    """The blocks of a result, listed when they are first asked for; until then it keeps the page.

    Equal to another with equal blocks; pickled and copied as what it lists.
    """

    __slots__ = ("_blocks", "_labelled")

    def __init__(
        self, blocks: tuple[Block, ...] = (), labelled: tuple[Page, Labels] | None = None
    ) -> None:
        self._blocks, self._labelled = blocks, labelled

    def listed(self) -> tuple[Block, ...]:
        """All blocks in reading order."""
        labelled = self._labelled
        if labelled is not None:
            # The blocks are set before the page is let go: other threads may be here too.
            self._blocks = list_blocks(*labelled)
            self._labelled = None
        return self._blocks

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BlockList) and self.listed() == other.listed()

    def __hash__(self) -> int:
        return hash(self.listed())

    def __reduce__(self) -> tuple[type[BlockList], tuple[tuple[Block, ...]]]:
        return BlockList, (self.listed(),)


def list_blocks(page: Page, labels: Labels) -> tuple[Block, ...]:
    """All blocks of a page in reading order."""
    frames = page.snapshot.meta.frames
    frame = page.snapshot.frame[page.tree.leaf_node].tolist()
    laid_out: list[bool] = np.isfinite(page.box[:, 0]).tolist()
    boxes = np.round(page.box.astype(np.float64), 1).tolist()
    columns = (page.text, labels.content.tolist(), labels.probability.tolist(), labels.reasons)
    return tuple(
        Block(
            id=i,
            text=text,
            label="content" if content else "boilerplate",
            probability=round(probability, DIGITS),
            role=None,
            bbox=boxes[i] if laid_out[i] else None,
            xpath=xpath,
            frame=frames[frame[i]] if frame[i] else None,
            reason=reason,
        )
        for i, (text, content, probability, reason, xpath) in enumerate(
            zip(*columns, xpaths(page), strict=True)
        )
    )
