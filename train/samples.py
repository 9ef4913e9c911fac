"""Labelled pages as the chain sees them: a sample is one page in one form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..data.wcxb import site
from ..layout.page import Page
from ..layout.runs import run_features
from ..model.kinds import KINDS
from ..render.sources import host_of
from .examples import Example

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

UNKNOWN = -1


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A page with s states, the runs of its blocks; `page` has its picture where there is one.

    policy: the number of the head that learns from it. kind: of `KINDS`, UNKNOWN where nobody says.
    site: pages of one site are held out together.
    """

    id: str
    page: Page
    policy: int
    kind: int
    site: str
    blocks: Float32  # [s, F]
    edges: Float32  # [s - 1, E]
    labels: Int64  # [s] 0, 1 or UNKNOWN, by most of a run's characters
    leaves: Int64  # [s, 2] how many leaves gold calls boilerplate, and content
    words: Float32  # [s]

    def __len__(self) -> int:
        return len(self.labels)


def sample_of(example: Example, policy: int = 0) -> Sample:
    """The sample of an example that has blocks, for one of a network's policies."""
    page, gold = example.page, example.content
    runs = int(page.run[-1]) + 1
    sizes = np.fromiter(map(len, page.text), np.float64, len(page))
    sides = [example.known & ~gold, example.known & gold]
    # [s, 2] characters of either label
    characters = np.stack([np.bincount(page.run, sizes * side, runs) for side in sides], axis=1)
    leaves = np.stack([np.bincount(page.run[side], minlength=runs) for side in sides], axis=1)
    features = run_features(page, example.features)
    words = np.fromiter((len(text.split()) for text in page.text), np.float64, len(page))
    record = example.record
    return Sample(
        id=record.id,
        page=page,
        policy=policy,
        kind=KINDS.index(record.page_type) if record.page_type in KINDS else UNKNOWN,
        site=site(host_of(record.url)) or record.id,
        blocks=features.blocks,
        edges=features.edges,
        labels=np.where(characters.any(axis=1), characters.argmax(axis=1), UNKNOWN),
        leaves=leaves,
        words=np.bincount(page.run, words, runs).astype(np.float32),
    )


def by_page(examples: Iterable[Example], policy: int = 0) -> list[list[Sample]]:
    """The samples of each page together, its forms: rendered, static, or both."""
    pages: dict[str, list[Sample]] = {}
    for example in examples:
        if len(example):
            pages.setdefault(example.record.id, []).append(sample_of(example, policy))
    return list(pages.values())
