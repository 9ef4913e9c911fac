"""Labelled pages: what training and evaluation read of a data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..data.datasets import Dataset, PageRecord
from ..layout.features import BLOCK, Features, FeatureSet, extract
from ..layout.page import Page, build_page
from ..render.charset import choose
from ..render.errors import DatasetError
from ..render.snapshot import Meta, Snapshot
from ..render.sources import StoredPage
from ..render.static import parse
from .align import CONTENT, mask_labels, text_labels

Bool = npt.NDArray[np.bool_]
Float32 = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """One page with its features and gold labels; b blocks."""

    record: PageRecord
    page: Page
    features: Features
    content: Bool  # [b] gold labels
    known: Bool  # [b] False where gold says nothing of a block

    def __len__(self) -> int:
        return len(self.content)


def stored_page(record: PageRecord) -> StoredPage:
    """The bytes of a record, as a source that can be rendered."""
    return StoredPage(record.id, record.content, record.url, record.charset)


def static_snapshot(record: PageRecord) -> Snapshot:
    """The static parse of a record."""
    meta = Meta(url=record.id, resolved_url=record.url, frames=(record.url,))
    return parse(record.content, choose(record.content, record.charset), meta)


def gold_shares(record: PageRecord, texts: Sequence[str]) -> Float32:
    """Share of each block's text that is content by the record's gold -> [b], NaN where unknown.

    Raises DatasetError where the record has no gold.
    """
    if record.mask is not None:
        return mask_labels(record.content.decode(), record.mask, texts)
    if record.gold is None:
        raise DatasetError(f"{record.id}: no gold text and no gold labels")
    return text_labels(record.gold, texts)


def load_example(record: PageRecord, snapshot: Snapshot, block_set: FeatureSet = BLOCK) -> Example:
    """The example of one page. Raises DatasetError where the record has no gold."""
    page = build_page(snapshot)
    share = gold_shares(record, page.text)
    return Example(record, page, extract(page, block_set), share > CONTENT, ~np.isnan(share))


def load_examples(
    dataset: Dataset,
    ids: Iterable[str],
    snapshot_of: Callable[[PageRecord], Snapshot | None],
    block_set: FeatureSet = BLOCK,
) -> Iterator[Example]:
    """The examples of the pages that have gold and a snapshot, in order."""
    for id in ids:
        record = dataset.load(id)
        snapshot = snapshot_of(record) if record.gold is not None else None
        if snapshot is not None:
            yield load_example(record, snapshot, block_set)
