"""One page of the browser, driven through one CDP session of its own.

Few commands a page: each costs a trip through playwright's driver and the browser.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from playwright.async_api import BrowserContext, CDPSession, Error, Page

from .settle import Navigated

T = TypeVar("T")
Send = Callable[[str, dict[str, Any]], Awaitable[Any]]

_WORLD = "pagesight"
# What Chromium answers when the document is replaced under a command.
_NAVIGATED = (
    "Cannot find context",
    "context was destroyed",
    "navigated or closed",
    "Promise was collected",
    "uniqueContextId not found",
)
_CLOSE_SECONDS = 3.0


class Gone(Exception):
    """The tab crashed, or its browser did."""


class Tab:
    """A page, its session, and the names that Chromium has for its parts."""

    def __init__(self, context: BrowserContext, page: Page, session: CDPSession, frame: str):
        self.context = context
        self.session = session
        self.frame = frame
        self.stopped = asyncio.Event()
        self.arrived = False  # whether the address it was sent to has answered with a document
        self._send = _plain_send(session)
        self._world: int | None = None
        self._gone = asyncio.Event()
        self._fired: set[asyncio.Future[Any]] = set()
        page.on("crash", lambda _: self._gone.set())
        page.on("close", lambda _: self._gone.set())

    @classmethod
    async def open(cls, context: BrowserContext) -> Tab:
        """A new page; pages that it opens itself are closed at once."""
        page = await context.new_page()
        context.on("page", lambda popup: asyncio.ensure_future(_close_quietly(popup)))
        session = await context.new_cdp_session(page)
        tree = await session.send("Page.getFrameTree")
        return cls(context, page, session, str(tree["frameTree"]["frame"]["id"]))

    @property
    def gone(self) -> bool:
        """Whether the page crashed or was closed."""
        return self._gone.is_set()

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A CDP command and its answer. Raises Navigated, Gone, playwright's Error."""
        try:
            answer: dict[str, Any] = await self._send(method, parameters)
        except Error as error:
            if any(text in error.message for text in _NAVIGATED):
                self._world = None
                raise Navigated from error
            if self._gone.is_set():
                raise Gone from error
            raise
        return answer

    def fire(self, method: str, **parameters: Any) -> None:
        """A CDP command whose answer nobody waits for."""
        future = asyncio.ensure_future(self.session.send(method, parameters))
        self._fired.add(future)
        future.add_done_callback(self._forget)

    async def evaluate(self, expression: str) -> Any:
        """The value of an expression, out of reach of the page's own scripts."""
        if self._world is None:
            world = await self.send(
                "Page.createIsolatedWorld", frameId=self.frame, worldName=_WORLD
            )
            self._world = int(world["executionContextId"])
        answer = await self.send(
            "Runtime.evaluate",
            expression=expression,
            contextId=self._world,
            awaitPromise=True,
            returnByValue=True,
        )
        return answer["result"].get("value")

    async def navigate(self, url: str) -> dict[str, Any]:
        """Go to an address and wait until its document is there, or has failed."""
        self.arrived = False
        answer = await self.send("Page.navigate", url=url)
        self._world = None
        self.arrived = not answer.get("errorText")
        return answer

    def stop(self) -> None:
        """End scripts and loading, without waiting for a page that may not answer."""
        self.stopped.set()
        self.fire("Emulation.setScriptExecutionDisabled", value=True)
        self.fire("Runtime.terminateExecution")
        self.fire("Page.stopLoading")

    async def wait(self, task: asyncio.Task[T], until: float) -> bool:
        """Whether a task ended before loop time `until` and before a `stop`. Raises Gone."""
        watches = [asyncio.ensure_future(self._gone.wait())]
        if not self.stopped.is_set():
            watches.append(asyncio.ensure_future(self.stopped.wait()))
        try:
            rest = max(0.0, until - asyncio.get_running_loop().time())
            await asyncio.wait({task, *watches}, timeout=rest, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for watch in watches:
                watch.cancel()
        if self._gone.is_set():
            raise Gone
        return task.done()

    async def close(self) -> bool:
        """Close the page's whole context; whether that worked."""
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.context.close()
        except TimeoutError:
            return False
        except Error:
            return self._gone.is_set()
        return True

    def _forget(self, future: asyncio.Future[Any]) -> None:
        self._fired.discard(future)
        if not future.cancelled():
            future.exception()


def _plain_send(session: CDPSession) -> Send:
    """`session.send` without its value by value copy of each answer: half of Python's cost a page.

    That is no public part of playwright, so what is not as known here falls back to `send`.
    """
    inner = getattr(session, "_impl_obj", None)
    if inner is None:
        return session.send
    # Newer versions want a timeout as well.
    more = [None] * (len(inspect.signature(inner.send).parameters) - 2)
    return lambda method, parameters: inner.send(method, parameters, *more)


async def _close_quietly(page: Page) -> None:
    try:
        await page.close()
    except Error:
        return
