"""The Python face: `extract` for one page, an Extractor for many, an async twin of it.

What they do exists once, in `road`: the faces differ only in how they wait.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

from ..model.predict import Model
from ..render.errors import BrowserError, PagesightError
from ..render.loop import LoopThread
from ..render.settings import DEFAULT_SECONDS, RenderSettings
from ..render.snapshot import Snapshot
from ..render.sources import Given, host_of
from .document import Document
from .road import Options, Road


class Extractor:
    """Extracts pages one after the other or from several threads; keeps browser and model warm.

    Args:
        render: lay pages out in a browser; without it only their HTML is parsed.
        policy: what counts as main content: "web", "article" or "cleaneval", or what a model of
            one's own has learned; by default the first that the model knows, "web".
        model: a model of one's own instead, by the path of its file.
        favour: "precision" keeps what is surely content, "recall" what may be; "" balances.
        links, images: keep their addresses. tables: keep the texts of data tables.
        vision: let the page's picture count too, which makes rendering half as long again.
        reasons: say of each block what spoke for it and against it; costs some milliseconds.
        allow_private: let pages reach loopback and private addresses.
        timeout: seconds for each page, from the first request to the last capture.
        settings: viewport and picture of renderings; by default there is one with `vision` only.
    """

    def __init__(
        self,
        *,
        render: bool = True,
        policy: str = "",
        model: str | None = None,
        favour: str = "",
        links: bool = False,
        images: bool = False,
        tables: bool = True,
        vision: bool = False,
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
            vision=vision,
            reasons=reasons,
            allow_private=allow_private,
            timeout=timeout,
        )
        self._road = Road(options, settings)
        self._loop = LoopThread()

    def extract(self, source: Given, url: str | None = None) -> Document:
        """The content of one page.

        Args:
            source: an address, a path, HTML as `str`, raw `bytes` or a Snapshot.
            url: where stored HTML came from; its links are relative to it.

        A page that cannot be had gives a Document whose status and error say why.

        Raises:
            BrowserError: there is no browser to render with.
            ModelError: the model is damaged, or does not know the policy.
        """
        try:
            snapshot = self.snapshot(source, url)
        except PagesightError as error:
            return _failed(source, error)
        return self._road.document(snapshot)

    def extract_site(self, sources: Iterable[Given], url: str | None = None) -> Iterator[Document]:
        """The content of the pages of one site, or of a few, in their order.

        What stands on other pages of a page's host as well counts as template, so that all pages
        are read before the first one is given; they wait in a temporary folder. Pages whose host
        nobody told are taken for one site.

        Args:
            sources, url: as for `extract`, which gives the same for a page that is alone.

        Raises: as `extract`.
        """
        with TemporaryDirectory(prefix="pagesight-") as folder:
            pages = [
                self._keep(source, url, Path(folder, str(number)))
                for number, source in enumerate(sources)
            ]
            hosts: defaultdict[str, list[_Kept]] = defaultdict(list)
            for page in pages:
                if isinstance(page, _Kept):
                    hosts[page.host].append(page)
            sites = {
                host: self._road.site(page.snapshot() for page in kept)
                for host, kept in hosts.items()
            }
            for page in pages:
                if isinstance(page, _Kept):
                    yield self._road.document(page.snapshot(), sites[page.host])
                else:
                    yield page

    def _keep(self, source: Given, url: str | None, path: Path) -> _Kept | Document:
        """The rendering of one page in a file, or why there is none."""
        try:
            snapshot = self.snapshot(source, url)
        except PagesightError as error:
            return _failed(source, error)
        snapshot.save(path)
        return _Kept(path, host_of(snapshot.meta.resolved_url))

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


@dataclass(frozen=True, slots=True)
class _Kept:
    """The rendering of one page, in a file."""

    path: Path
    host: str

    def snapshot(self) -> Snapshot:
        return Snapshot.load(self.path)


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
    return Road(Options(**options)).document(snapshot)  # type: ignore[arg-type]


def _failed(source: Given, error: PagesightError) -> Document:
    if isinstance(error, BrowserError):
        raise error
    is_name = isinstance(source, os.PathLike) or (isinstance(source, str) and "<" not in source)
    return Document.failed(str(source) if is_name else None, error)
