"""Labelled pages as the chain sees them: a sample is one page in one form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..layout.page import Page
from ..layout.runs import run_features
from .examples import Example

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

UNKNOWN = -1


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A page with s states, the runs of its blocks; `page` has its picture where there is one."""

    id: str
    page: Page
    blocks: Float32  # [s, F]
    edges: Float32  # [s - 1, E]
    labels: Int64  # [s] 0, 1 or UNKNOWN, by most of a run's characters
    leaves: Int64  # [s, 2] how many leaves gold calls boilerplate, and content

    def __len__(self) -> int:
        return len(self.labels)


def sample_of(example: Example) -> Sample:
    """The sample of an example that has blocks."""
    page, gold = example.page, example.content
    runs = int(page.run[-1]) + 1
    sizes = np.fromiter(map(len, page.text), np.float64, len(page))
    sides = [example.known & ~gold, example.known & gold]
    # [s, 2] characters of either label
    characters = np.stack([np.bincount(page.run, sizes * side, runs) for side in sides], axis=1)
    leaves = np.stack([np.bincount(page.run[side], minlength=runs) for side in sides], axis=1)
    features = run_features(page, example.features)
    return Sample(
        id=example.record.id,
        page=page,
        blocks=features.blocks,
        edges=features.edges,
        labels=np.where(characters.any(axis=1), characters.argmax(axis=1), UNKNOWN),
        leaves=leaves,
    )


def by_page(examples: Iterable[Example]) -> list[list[Sample]]:
    """The samples of each page together, its forms: rendered, static, or both."""
    pages: dict[str, list[Sample]] = {}
    for example in examples:
        if len(example):
            pages.setdefault(example.record.id, []).append(sample_of(example))
    return list(pages.values())
