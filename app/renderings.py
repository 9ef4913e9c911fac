"""The renderings of a data set: made into the store, and read from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..data.datasets import Dataset
from ..render.capture import Renderer
from ..render.errors import DatasetError
from ..render.loop import LoopThread
from ..render.store import Store
from ..train.prepare import SnapshotOf, Tally, prepare, stored_snapshots
from .progress import track


def render_all(dataset: Dataset, ids: Sequence[str], tabs: int = 2) -> Tally:
    """Render the pages that the store lacks. Raises BrowserError."""
    with _renderer() as (loop, renderer), track("rendering", len(ids)) as advance:
        return loop.run(prepare(dataset, ids, renderer, Store(), tabs, lambda id: advance()))


def stored(dataset: Dataset, ids: Sequence[str]) -> SnapshotOf:
    """Reads the renderings of these pages. Raises DatasetError where some are missing."""
    snapshot_of = reader()
    missing = sum(snapshot_of(dataset.load(id)) is None for id in ids)
    if missing:
        raise DatasetError(f"{dataset.name}: {missing} pages are not rendered: run `prepare` first")
    return snapshot_of


def reader() -> SnapshotOf:
    """Reads renderings of whatever pages, None for those that the store lacks."""
    with _renderer() as (loop, renderer):
        return stored_snapshots(Store(), renderer, loop.run(renderer.version()))


@contextmanager
def _renderer() -> Iterator[tuple[LoopThread, Renderer]]:
    loop, renderer = LoopThread(), Renderer()
    try:
        yield loop, renderer
    finally:
        loop.run(renderer.close())
        loop.close()
