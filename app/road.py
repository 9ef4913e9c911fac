"""The road of a page: a coroutine from source to Snapshot, a function from there to Document."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..layout.page import build_page
from ..layout.site import SiteTexts
from ..model.card import DEFAULT, FAVOURS
from ..model.predict import Model
from ..render.charset import choose
from ..render.guard import Guard
from ..render.settings import DEFAULT_SECONDS, Limits, RenderSettings
from ..render.snapshot import Meta, Snapshot
from ..render.sources import Address, Given, StoredPage, resolve
from ..render.static import parse
from .content import FormatOptions
from .document import Document, Status, build_document
from .outcome import HINT, has_scripts, is_plain, is_shell, refusal

if TYPE_CHECKING:
    from ..render.capture import Renderer


@dataclass(frozen=True, slots=True)
class Options:
    """What an Extractor is asked for; see there."""

    render: bool = True
    policy: str = ""
    model: str | None = None
    favour: str = ""
    links: bool = False
    images: bool = False
    tables: bool = True
    vision: bool = False
    reasons: bool = True
    allow_private: bool = False
    timeout: float = DEFAULT_SECONDS


class Road:
    """From a source to its Document; keeps what is warm."""

    def __init__(self, options: Options, settings: RenderSettings | None = None) -> None:
        if options.favour not in FAVOURS:
            known = ", ".join(map(repr, FAVOURS))
            raise ValueError(f"favour {options.favour!r}: there are {known}")
        self.options = options
        # A picture costs as much as the rest of a rendering.
        unseen = RenderSettings() if options.vision else RenderSettings(screenshot_scale=0)
        self.settings = settings or unseen
        self.limits = Limits(seconds=options.timeout)
        self.guard = Guard(options.allow_private)
        self._model_lock = threading.Lock()
        self._model: Model | None = None
        self._renderer: Renderer | None = None

    async def snapshot(self, given: Given, url: str = "") -> Snapshot:
        """Raises PagesightError where no Snapshot can be had."""
        source = await asyncio.to_thread(resolve, given, url, self.limits)
        if isinstance(source, Snapshot):
            return source
        if isinstance(source, Address):
            return await self._open(source)
        if self.options.render:
            snapshot = await self.renderer().replay(
                source.content,
                source.address,
                choose(source.content, source.charset),
                source.content_type,
            )
            # A made-up address is nobody's business.
            resolved = snapshot.meta.resolved_url if source.url else ""
            return snapshot.with_meta(url=source.name, resolved_url=resolved)
        return await asyncio.to_thread(self._parse, source, Meta())

    async def _open(self, source: Address) -> Snapshot:
        if self.options.render:
            return await self.renderer().open(source.url)
        from ..render.fetch import fetch

        page, status, cut = await fetch(source.url, self.guard, self.limits)
        meta = Meta(http_status=status, cut=("bytes",) if cut else ())
        return await asyncio.to_thread(self._parse, page, meta)

    def _parse(self, page: StoredPage, meta: Meta) -> Snapshot:
        meta = replace(
            meta,
            url=page.name,
            resolved_url=page.url,
            content_type=page.content_type,
            frames=(page.url,),
        )
        return parse(page.content, choose(page.content, page.charset), meta, self.limits)

    def site(self, snapshots: Iterable[Snapshot]) -> SiteTexts:
        """What the pages of one site have in common, error pages and walls left out."""
        return SiteTexts.of(build_page(one) for one in snapshots if refusal(one) is None)

    def document(self, snapshot: Snapshot, site: SiteTexts | None = None) -> Document:
        """What is content on a page, where `site` says what is on others. Raises ModelError."""
        refused = refusal(snapshot)
        if refused is not None:
            return refused
        page = build_page(snapshot)
        options = self.options
        against = site.against(page) if site is not None else None
        labels = self.model().label(page, options.reasons, options.favour, options.vision, against)
        if is_shell(page, labels.content):
            labels = replace(labels, content=np.zeros(len(page), bool))
        elif is_plain(page) and not labels.content.any():
            labels = replace(labels, content=np.ones(len(page), bool))
        formats = FormatOptions(self.options.links, self.options.images, self.options.tables)
        document = build_document(page, labels, formats)
        if document.status is Status.EMPTY and has_scripts(snapshot):
            return replace(document, error=f"{document.error}; {HINT}")
        return document

    def model(self) -> Model:
        """The model, loaded on its first page."""
        with self._model_lock:
            if self._model is None:
                self._model = Model.load(self.options.model or DEFAULT, self.options.policy)
            return self._model

    def renderer(self) -> Renderer:
        """The browser's renderer, started on its first page."""
        if self._renderer is None:
            from ..render.capture import Renderer

            self._renderer = Renderer(self.settings, self.limits, self.options.allow_private)
        return self._renderer

    async def close(self) -> None:
        """End the browser and the guard. A further page, on whatever loop, starts new ones."""
        renderer, self._renderer = self._renderer, None
        if renderer is not None:
            await renderer.close()
        await self.guard.close()
