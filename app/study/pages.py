"""The pages of a study, each as every system is given it."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ...data.datasets import Dataset, PageRecord
from ...data.wcxb import site
from ...render.charset import choose, decode
from ...render.sources import host_of
from ...train.prepare import SnapshotOf
from ..systems.dom import write_html
from ..systems.protocol import StudyPage, System, TrainingPage

_KEPT = 64  # pages in memory: neighbours of one site come one after another


class Pages:
    """Pages of one data set.

    snapshot_of: reads renderings; needed where the input is rendered or a system asks for one.
    rendered_input: whether systems that read HTML get the rendered DOM.
    """

    def __init__(
        self,
        dataset: Dataset,
        ids: Sequence[str],
        rendered_input: bool = False,
        snapshot_of: SnapshotOf = lambda record: None,
    ) -> None:
        self.dataset, self.ids = dataset, tuple(ids)
        self._rendered_input, self._snapshot_of = rendered_input, snapshot_of
        self._source = lru_cache(_KEPT)(self._read)
        self._neighbours: dict[str, tuple[str, ...]] = {}

    def load(self, id: str, system: System) -> tuple[StudyPage, str] | None:
        """A page as a system sees it, and a digest of all that it sees.

        None where it should have been rendered and could not be.
        """
        record, html = self._source(id)
        others = (self._source(other)[1] for other in self._site(id, system.siblings))
        siblings = tuple(other for other in others if other is not None)
        snapshot = self._snapshot_of(record) if system.needs_rendering else None
        if html is None or (system.needs_rendering and snapshot is None):
            return None
        page = StudyPage(id, record.url, html, siblings, snapshot)
        digest = hashlib.sha256()
        for text in (page.url, html, *siblings):
            digest.update(hashlib.sha256(text.encode("utf-8", "replace")).digest())
        if snapshot is not None:
            digest.update(snapshot.meta.browser.encode() + snapshot.line_box.tobytes())
        return page, digest.hexdigest()

    def training(self) -> list[TrainingPage]:
        """All pages that have gold, as raw HTML."""
        pages = []
        for id in self.ids:
            record, html = self._source(id)
            if record.gold is not None and html is not None:
                pages.append(TrainingPage(StudyPage(id, record.url, html), record.gold))
        return pages

    def _read(self, id: str) -> tuple[PageRecord, str | None]:
        record = self.dataset.load(id)
        if not self._rendered_input:
            return record, decode(record.content, choose(record.content, record.charset))
        snapshot = self._snapshot_of(record)
        return record, write_html(snapshot) if snapshot is not None else None

    def _site(self, id: str, most: int) -> tuple[str, ...]:
        """Other pages of the page's site, the next ones in the order of the data set first."""
        if not most:
            return ()
        if not self._neighbours:
            self._neighbours = dict(self._sites())
        return self._neighbours.get(id, ())[:most]

    def _sites(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        sites: defaultdict[str, list[str]] = defaultdict(list)
        # Of the whole data set: what a system sees of a page is not to depend on the other pages
        # of the study.
        for id in self.dataset.ids():
            host = host_of(self.dataset.load(id).url)
            if host:
                sites[site(host)].append(id)
        for members in sites.values():
            for place, id in enumerate(members):
                yield id, tuple(members[place + 1 :] + members[:place])
