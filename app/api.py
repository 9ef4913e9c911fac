"""The Python face: `extract` for one page, an Extractor for many, an async twin of it.

The road of a page exists once, in `_Road`: a coroutine from the source to its Snapshot, and a
function from the Snapshot to the Document. The faces differ only in how they wait.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from ..layout.page import build_page
from ..model.predict import POLICIES, Model
from ..render.charset import choose
from ..render.errors import PagesightError
from ..render.guard import Guard
from ..render.loop import LoopThread
from ..render.settings import DEFAULT_SECONDS, Limits, RenderSettings
from ..render.snapshot import Meta, Snapshot
from ..render.sources import Address, Given, StoredPage, resolve
from ..render.static import parse
from .content import FormatOptions
from .document import Document, Status, build_document
from .outcome import HINT, has_scripts, is_shell, refusal

if TYPE_CHECKING:
    from ..render.capture import Renderer


@dataclass(frozen=True, slots=True)
class Options:
    """What an Extractor is asked for; see there."""

    render: bool = True
    policy: str = "web"
    model: str | None = None
    favour: str = ""
    links: bool = False
    images: bool = False
    tables: bool = True
    reasons: bool = True
    allow_private: bool = False
    timeout: float = DEFAULT_SECONDS


class _Road:
    """From a source to its Document; keeps what is warm."""

    def __init__(self, options: Options, settings: RenderSettings | None = None) -> None:
        if options.policy not in POLICIES:
            raise ValueError(f"policy {options.policy!r}: there are {', '.join(POLICIES)}")
        if options.favour not in {"", "precision", "recall"}:
            raise ValueError(f"favour {options.favour!r}: 'precision', 'recall' or ''")
        self.options = options
        # Nothing in a Document comes from the picture, and it costs as much as the rest.
        self.settings = settings or RenderSettings(screenshot_scale=0)
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

    def document(self, snapshot: Snapshot) -> Document:
        """What is content on a page. Raises ModelError."""
        refused = refusal(snapshot)
        if refused is not None:
            return refused
        page = build_page(snapshot)
        labels = self.model().label(page, self.options.reasons, self.options.favour)
        if is_shell(page, labels.content):
            labels = replace(labels, content=np.zeros(len(page), bool))
        formats = FormatOptions(self.options.links, self.options.images, self.options.tables)
        document = build_document(page, labels, formats)
        if document.status is Status.EMPTY and has_scripts(snapshot):
            return replace(document, error=f"{document.error}; {HINT}")
        return document

    def model(self) -> Model:
        """The model, loaded on its first page."""
        with self._model_lock:
            if self._model is None:
                self._model = Model.load(self.options.model or POLICIES[self.options.policy])
            return self._model

    def renderer(self) -> Renderer:
        """The browser's renderer, started on its first page."""
        if self._renderer is None:
            from ..render.capture import Renderer

            self._renderer = Renderer(self.settings, self.limits, self.options.allow_private)
        return self._renderer

    async def close(self) -> None:
        """End the browser and the guard."""
        if self._renderer is not None:
            await self._renderer.close()
        await self.guard.close()


class Extractor:
    """Extracts pages one after the other or from several threads; keeps browser and model warm.

    Args:
        render: lay pages out in a browser; without it only their HTML is parsed.
        policy: what counts as main content, one of `model.predict.POLICIES`.
        model: a model of one's own instead, by the path of its file.
        favour: "precision" keeps what is surely content, "recall" what may be; "" balances.
        links, images: keep their addresses. tables: keep the texts of data tables.
        reasons: say of each block what spoke for it and against it; costs some milliseconds.
        allow_private: let pages reach loopback and private addresses.
        timeout: seconds for each page, from the first request to the last capture.
        settings: viewport and picture of renderings; by default no picture is taken.
    """

    def __init__(
        self,
        *,
        render: bool = True,
        policy: str = "web",
        model: str | None = None,
        favour: str = "",
        links: bool = False,
        images: bool = False,
        tables: bool = True,
        reasons: bool = True,
        allow_private: bool = False,
        timeout: float = DEFAULT_SECONDS,
        settings: RenderSettings | None = None,
    ) -> None:
        options = Options(
            render=render,
            policy=policy,
            model=model,
            favour=favour,
            links=links,
            images=images,
            tables=tables,
            reasons=reasons,
            allow_private=allow_private,
            timeout=timeout,
        )
        self._road = _Road(options, settings)
        self._loop = LoopThread()

    def extract(self, source: Given, url: str | None = None) -> Document:
        """The content of one page.

        Args:
            source: an address, a path, HTML as `str`, raw `bytes` or a Snapshot.
            url: where stored HTML came from; its links are relative to it.

        A page that cannot be had gives a Document whose status and error say why.

        Raises:
            BrowserError: there is no browser to render with.
            ModelError: the model is damaged.
        """
        try:
            snapshot = self.snapshot(source, url)
        except PagesightError as error:
            return _failed(source, error)
        return self._road.document(snapshot)

    def snapshot(self, source: Given, url: str | None = None) -> Snapshot:
        """The rendering of one page, or its static parse. Raises PagesightError."""
        return self._loop.run(self._road.snapshot(source, url or ""))

    def model(self) -> Model:
        """The model, loaded on first use. Raises ModelError."""
        return self._road.model()

    def close(self) -> None:
        """End the browser. A further page starts it again."""
        try:
            self._loop.run(self._road.close())
        finally:
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncExtractor:
    """The asynchronous face of an Extractor, with its arguments; pages may overlap."""

    def __init__(self, **options: object) -> None:
        self._inner = Extractor(**options)  # type: ignore[arg-type]

    async def extract(self, source: Given, url: str | None = None) -> Document:
        """As Extractor.extract."""
        try:
            snapshot = await self.snapshot(source, url)
        except PagesightError as error:
            return _failed(source, error)
        return await asyncio.to_thread(self._inner._road.document, snapshot)

    async def snapshot(self, source: Given, url: str | None = None) -> Snapshot:
        """As Extractor.snapshot."""
        inner = self._inner
        return await asyncio.wrap_future(
            inner._loop.submit(inner._road.snapshot(source, url or ""))
        )

    async def close(self) -> None:
        """As Extractor.close."""
        await asyncio.to_thread(self._inner.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def extract(source: Given, url: str | None = None, **options: object) -> Document:
    """The content of one page; see Extractor for the options and `Extractor.extract`.

    >>> extract("<p>Nothing but a short note.</p>", render=False).status
    <Status.OK: 'ok'>
    """
    with Extractor(**options) as extractor:  # type: ignore[arg-type]
        return extractor.extract(source, url)


def render(source: Given, url: str | None = None, **options: object) -> Snapshot:
    """The rendering of one page, with its picture; see Extractor for the options.

    Raises PagesightError.
    """
    with Extractor(**({"settings": RenderSettings()} | options)) as extractor:  # type: ignore[arg-type]
        return extractor.snapshot(source, url)


def extract_snapshot(snapshot: Snapshot, **options: object) -> Document:
    """The content of a saved rendering: the same as when it was rendered, without a browser."""
    return _Road(Options(**options)).document(snapshot)  # type: ignore[arg-type]


def _failed(source: Given, error: PagesightError) -> Document:
    from ..render.errors import BrowserError

    if isinstance(error, BrowserError):
        raise error
    name = source if isinstance(source, str) and "<" not in source else ""
    return Document.failed(name or (str(source) if hasattr(source, "__fspath__") else None), error)
