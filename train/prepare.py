"""Render a data set into the store, once: what is there already is not rendered again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from ..data.datasets import Dataset, PageRecord
from ..render.capture import Renderer
from ..render.charset import choose
from ..render.errors import BrowserError, PagesightError
from ..render.snapshot import Snapshot
from ..render.store import Store
from .examples import stored_page

SnapshotOf: TypeAlias = Callable[[PageRecord], Snapshot | None]


@dataclass(slots=True)
class Tally:
    """What became of the pages of one `prepare`."""

    done: Counter[str] = field(default_factory=Counter)  # "rendered", "stored", "partial", "failed"
    failures: dict[str, str] = field(default_factory=dict)  # page id: one line
    partial: dict[str, tuple[str, ...]] = field(default_factory=dict)  # page id: limits met


async def prepare(
    dataset: Dataset,
    ids: Iterable[str],
    renderer: Renderer,
    store: Store,
    tabs: int = 2,
    on_page: Callable[[str], None] = lambda id: None,
) -> Tally:
    """Render the pages that the store lacks, `tabs` at a time; call it again to go on.

    A page that fails is tallied and passed over. Raises BrowserError where there is no browser.
    """
    tally, browser, waiting = Tally(), await renderer.version(), iter(list(ids))

    async def work() -> None:
        for id in waiting:
            await _prepare_page(dataset.load(id), renderer, store, browser, tally)
            on_page(id)

    async with asyncio.TaskGroup() as group:
        for _ in range(tabs):
            group.create_task(work())
    return tally


def stored_snapshots(store: Store, renderer: Renderer, browser: str) -> SnapshotOf:
    """Read the snapshots that `prepare` made with these settings and this browser build."""

    def snapshot_of(record: PageRecord) -> Snapshot | None:
        return store.get(store.key(stored_page(record), renderer.settings, browser))

    return snapshot_of


async def _prepare_page(
    record: PageRecord, renderer: Renderer, store: Store, browser: str, tally: Tally
) -> None:
    page = stored_page(record)
    key = store.key(page, renderer.settings, browser)
    if key in store:
        tally.done["stored"] += 1
        return
    try:
        snapshot = await renderer.replay(
            page.content,
            page.address,
            choose(page.content, page.charset),
            page.content_type,
            record.served,
        )
    except BrowserError:
        raise
    except PagesightError as error:
        tally.done["failed"] += 1
        tally.failures[record.id] = str(error)
        return
    store.put(key, snapshot)
    tally.done["partial" if snapshot.meta.cut else "rendered"] += 1
    if snapshot.meta.cut:
        tally.partial[record.id] = snapshot.meta.cut
