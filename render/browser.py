"""Find a Chromium, launch it, keep it for a number of pages, replace it when it dies.

The browser never resolves a name and never reaches an address by itself: all that leaves it goes
through the proxy of its context.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, Error, Playwright, async_playwright

from .errors import BrowserError
from .settings import RenderSettings

if sys.platform != "win32":
    import resource

PATH_VARIABLE = "PAGESIGHT_BROWSER"

_SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
_BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
# Newest last: playwright's folders end in a revision.
_DOWNLOADS = (
    "chromium_headless_shell-*/*/*headless[_-]shell*",
    "chromium-*/chrome-*/chrome",
    "chromium-*/chrome-*/*.app/Contents/MacOS/*",
    "chromium-*/chrome-*/chrome.exe",
)
_FLAGS = (
    # A pop-up stops the timers of the page that opened it until somebody has dealt with it.
    "--block-new-web-contents",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-quic",
    "--disable-sync",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--mute-audio",
    "--no-pings",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # One process for a page and its frames, so that one snapshot and one session hold them all.
    "--disable-site-isolation-trials",
)
_STACK_BYTES = 64 * 1024 * 1024
_LAUNCH_SECONDS = 30.0
_CLOSE_SECONDS = 5.0


def find_browser() -> Path | None:
    """The Chromium to use: the configured one, a headless shell, a download, a full browser.

    Raises BrowserError where the environment names a path that is not there.
    """
    configured = os.environ.get(PATH_VARIABLE)
    if configured:
        path = Path(configured)
        if not path.is_file():
            raise BrowserError(f"{PATH_VARIABLE}={configured}: there is no such file")
        return path
    return _on_path(_SHELLS) or _downloaded() or _on_path(_BROWSERS)


def _on_path(names: tuple[str, ...]) -> Path | None:
    found = (shutil.which(name) for name in names)
    return next((Path(path) for path in found if path), None)


def _downloaded() -> Path | None:
    """What `playwright install` left. Looked up by name, since asking playwright starts it."""
    configured = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    root = Path(configured) if configured else Path.home() / ".cache/ms-playwright"
    for pattern in _DOWNLOADS:
        paths = [path for path in root.glob(pattern) if os.access(path, os.X_OK) and path.is_file()]
        if paths:
            return max(paths, key=lambda path: path.stat().st_mtime)
    return None


@dataclass(slots=True, eq=False)
class Chromium:
    """One running browser process.

    version: product and build, such as "HeadlessChrome/140.0.7339.16".
    sandboxed: whether its renderers are confined by the system.
    pages, users: pages ever opened in it, leases open now.
    """

    browser: Browser
    version: str
    sandboxed: bool
    pid: int
    pages: int = 0
    users: int = 0

    @property
    def alive(self) -> bool:
        """Whether the process still answers."""
        return self.browser.is_connected()

    async def context(self, settings: RenderSettings, proxy: str) -> BrowserContext:
        """A fresh profile in which every connection goes to `proxy`, those to loopback too."""
        return await self.browser.new_context(
            viewport={"width": settings.width, "height": settings.height},
            proxy={"server": proxy, "bypass": "<-loopback>"},
            device_scale_factor=1,
            locale="en-US",
            timezone_id="UTC",
            reduced_motion="reduce",
            service_workers="block",
            accept_downloads=False,
            permissions=[],
        )

    async def close(self) -> None:
        """End the process, by force where it does not follow."""
        try:
            await asyncio.wait_for(self.browser.close(), _CLOSE_SECONDS)
        except (TimeoutError, Error):
            self.kill()

    def kill(self) -> None:
        """End the process at once; its children notice and follow."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


class BrowserKeeper:
    """Lends one browser to many users; a worn or dead one is replaced at the next lease."""

    def __init__(self, recycle_after: int = 200) -> None:
        self.recycle_after = recycle_after
        self._playwright: Playwright | None = None
        self._current: Chromium | None = None
        self._lock = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def lease(self) -> AsyncIterator[Chromium]:
        """A living browser for one page. Raises BrowserError."""
        async with self._lock:
            chromium = await self._fresh()
            chromium.pages += 1
            chromium.users += 1
        try:
            yield chromium
        finally:
            chromium.users -= 1
            if chromium is not self._current and not chromium.users:
                await chromium.close()

    async def version(self) -> str:
        """The build, launching a browser if none has run yet. Raises BrowserError."""
        async with self._lock:
            return (self._current or await self._fresh()).version

    async def close(self) -> None:
        """End the browser and playwright's driver."""
        async with self._lock:
            current, self._current = self._current, None
            playwright, self._playwright = self._playwright, None
        if current:
            await current.close()
        if playwright:
            await playwright.stop()

    async def _fresh(self) -> Chromium:
        old = self._current
        if old and old.alive and old.pages < self.recycle_after:
            return old
        self._current = None
        if old and not old.users:
            await old.close()
        self._current = await self._launch()
        return self._current

    async def _launch(self) -> Chromium:
        path = find_browser()
        if path is None:
            raise BrowserError("no Chromium found: run `pagesight setup`")
        if self._playwright is None:
            self._playwright = await _driver()
        # Chromium refuses to sandbox for root; in some containers the kernel refuses.
        if os.name != "posix" or os.geteuid():
            with contextlib.suppress(Error):
                return await _started(self._playwright, path, sandboxed=True)
        try:
            return await _started(self._playwright, path, sandboxed=False)
        except Error as error:
            reason = str(error).splitlines()[0]
            raise BrowserError(f"{path}: does not start: {reason}") from error


async def _driver() -> Playwright:
    try:
        with _deep_stack():
            return await async_playwright().start()
    except Exception as error:  # playwright has no type of its own for a driver that does not run
        raise BrowserError("playwright does not run: run `pagesight setup`") from error


@contextlib.contextmanager
def _deep_stack() -> Iterator[None]:
    """Give programs started meanwhile a large stack.

    Chromium lays out recursively: with the usual 8 MB, 3,000 nested elements crash a tab.
    """
    if sys.platform == "win32":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    unlimited = resource.RLIM_INFINITY
    deep = _STACK_BYTES if hard == unlimited else min(_STACK_BYTES, hard)
    if soft == unlimited or soft >= deep:
        yield
        return
    resource.setrlimit(resource.RLIMIT_STACK, (deep, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


async def _started(playwright: Playwright, path: Path, *, sandboxed: bool) -> Chromium:
    browser = await playwright.chromium.launch(
        executable_path=path,
        chromium_sandbox=sandboxed,
        args=list(_FLAGS),
        ignore_default_args=["--disable-popup-blocking"],
        handle_sigint=False,
        handle_sigterm=False,
        handle_sighup=False,
        timeout=_LAUNCH_SECONDS * 1000,
    )
    session = await browser.new_browser_cdp_session()
    version = await session.send("Browser.getVersion")
    processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    pid = next(int(process["id"]) for process in processes if process["type"] == "browser")
    await session.detach()
    return Chromium(browser, str(version["product"]), sandboxed, pid)
