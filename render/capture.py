"""The Chromium road: an address or stored bytes in, the Snapshot of the laid-out page out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any

from playwright.async_api import Error

from .browser import BrowserKeeper, Chromium
from .errors import RenderError
from .guard import ClosedPort, Guard, check_url
from .served import Served
from .settings import Limits, RenderSettings
from .settle import Navigated, settle_live
from .shot import capture
from .snapshot import Meta, Snapshot
from .stored import StoredPages, Strayed
from .tab import Gone, Tab
from .traffic import Traffic
from .verdict import check_answer, check_type, failure

Attempt = Callable[[Chromium, float], Awaitable[Snapshot]]

# A browser that takes longer than this for an empty tab is stuck.
_TAB_SECONDS = 30.0
_SECONDS_LEFT = 1.0

# The tab or its browser died, or it shows another page: worth another tab.
_LOST = (Gone, Strayed, Navigated, Error)


class Renderer:
    """Renders addresses (`open`) and stored bytes (`replay`); keeps a browser for both.

    Start and close it on one event loop; many pages may be rendered at the same time.
    """

    def __init__(
        self,
        settings: RenderSettings | None = None,
        limits: Limits | None = None,
        allow_private: bool = False,
    ) -> None:
        self.settings = settings or RenderSettings()
        self.limits = limits or Limits()
        self.guard = Guard(allow_private)
        self._keeper = BrowserKeeper()
        self._nowhere = ClosedPort()
        self._spare: list[tuple[Chromium, StoredPages]] = []

    async def start(self) -> None:
        """Start the guard and the browser ahead of the first page. Raises BrowserError."""
        await self.guard.start()
        await self._keeper.version()

    async def version(self) -> str:
        """The browser's build, such as "HeadlessChrome/140.0.7339.16". Raises BrowserError."""
        return await self._keeper.version()

    async def close(self) -> None:
        """End the browser and the guard. The next page starts them again."""
        self._spare.clear()
        await self._keeper.close()
        await self.guard.close()
        self._nowhere.close()

    async def open(self, url: str) -> Snapshot:
        """Fetch an address and render it. A page answered with an HTTP error is a page too.

        Raises SourceError, UnsupportedError, ForbiddenError, RenderError, DeadlineError.
        """
        check_url(url)
        await self.guard.start()
        return await self._twice(url, lambda *place: self._open_once(url, *place))

    async def replay(
        self,
        content: bytes,
        url: str,
        charset: str,
        content_type: str = "text/html",
        served: Served | None = None,
    ) -> Snapshot:
        """Render stored bytes as the page at `url`; nothing is loaded but what is `served`.

        charset: as the HTTP header would give it; empty leaves it to the page and to Chromium.
        Raises UnsupportedError, RenderError, DeadlineError.
        """
        check_url(url)
        check_type(url, content_type)
        header = f"{content_type}; charset={charset}" if charset else content_type
        page = content[: self.limits.bytes], url, header, served
        return await self._twice(url, lambda *place: self._replay_once(*page, *place))

    async def _twice(self, url: str, once: Attempt) -> Snapshot:
        """Try a page again where its tab was lost, in a new one and the time that is left."""
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            return await self._leased(once, self.limits.seconds)
        except _LOST:
            left = max(_SECONDS_LEFT, self.limits.seconds - (clock() - began))
        try:
            return await self._leased(once, left)
        except _LOST as error:
            reason = str(error).partition("\n")[0] or "it crashed"
            raise RenderError(f"{url}: the browser failed on this page: {reason}") from error

    async def _leased(self, once: Attempt, seconds: float) -> Snapshot:
        async with self._keeper.lease() as chromium:
            return await once(chromium, seconds)

    async def _open_once(self, url: str, chromium: Chromium, seconds: float) -> Snapshot:
        tab = await self._new_tab(chromium, self.guard.url)
        until = asyncio.get_running_loop().time() + seconds
        traffic = Traffic(tab.frame, self.limits.bytes, tab.stop)
        try:
            cut = await _load(tab, self._visit(url, tab, traffic), until)
            if traffic.bytes > traffic.bytes_max:
                cut = ("bytes",)
            meta = self._meta(url, chromium, cut)
            snapshot = await capture(tab, meta, self.settings, self.limits, until)
        finally:
            await _discard(tab, chromium)
        answer = traffic.answer(snapshot.meta.resolved_url)
        if snapshot.meta.resolved_url.startswith("chrome-error:"):
            raise failure(url, traffic.target, "net::ERR_TUNNEL", answer, self.guard)
        check_answer(url, answer)
        if answer is None:
            return snapshot
        return snapshot.with_meta(http_status=answer.status, content_type=answer.mime)

    async def _visit(self, url: str, tab: Tab, traffic: Traffic) -> None:
        traffic.listen(tab.session)
        await tab.send("Network.enable")
        result = await tab.navigate(url)
        answer = traffic.answer(url)
        if result.get("isDownload") or result.get("errorText"):
            reason = result.get("errorText") or "net::ERR_ABORTED"
            raise failure(url, traffic.target, reason, answer, self.guard)
        check_answer(url, answer)
        await settle_live(tab.evaluate, traffic)

    async def _replay_once(
        self,
        content: bytes,
        url: str,
        header: str,
        served: Served | None,
        chromium: Chromium,
        seconds: float,
    ) -> Snapshot:
        pages = await self._stored_pages(chromium)
        until = asyncio.get_running_loop().time() + seconds
        kept = False
        try:
            await pages.serve(served)
            cut = await _load(pages.tab, pages.load(content, url, header), until)
            if len(content) == self.limits.bytes:
                cut = (*cut, "bytes")
            meta = self._meta(url, chromium, cut)
            meta = replace(meta, content_type=header.partition(";")[0])
            snapshot = await capture(pages.tab, meta, self.settings, self.limits, until)
            pages.check(snapshot.meta.resolved_url)
            kept = not pages.tab.stopped.is_set()
        finally:
            if kept:
                self._spare.append((chromium, pages))
            else:
                await _discard(pages.tab, chromium)
        return snapshot

    async def _stored_pages(self, chromium: Chromium) -> StoredPages:
        """A tab for stored pages: one that is free, or a new one."""
        while self._spare:
            home, pages = self._spare.pop()
            if home is chromium and not pages.tab.gone:
                return pages
            await pages.tab.close()
        pages = StoredPages(await self._new_tab(chromium, self._nowhere.url))
        await pages.start()
        return pages

    async def _new_tab(self, chromium: Chromium, proxy: str) -> Tab:
        try:
            async with asyncio.timeout(_TAB_SECONDS):
                return await Tab.open(await chromium.context(self.settings, proxy))
        except TimeoutError:
            chromium.kill()
            raise Gone from None

    def _meta(self, url: str, chromium: Chromium, cut: tuple[str, ...]) -> Meta:
        return Meta(
            url=url,
            maker="chromium",
            browser=chromium.version,
            viewport=(self.settings.width, self.settings.height),
            cut=cut,
        )


async def _load(tab: Tab, work: Coroutine[Any, Any, None], until: float) -> tuple[str, ...]:
    """Do what loads a page, up to the deadline; why it was cut, if it was."""
    task = asyncio.ensure_future(work)
    try:
        if await tab.wait(task, until):
            task.result()
            return ()
    finally:
        task.cancel()
    if tab.stopped.is_set():
        return ()
    tab.stop()
    return ("deadline",)


async def _discard(tab: Tab, chromium: Chromium) -> None:
    if not await tab.close():
        chromium.kill()
