"""What a live page asks of the network, as its CDP session tells it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import CDPSession

_LONG_LIVED = frozenset({"WebSocket", "EventSource", "Ping", "Prefetch", "Other"})


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to a navigation of the page itself; header names are in lower case."""

    url: str
    status: int
    mime: str
    headers: dict[str, str] = field(repr=False)


class Traffic:
    """Requests in flight, bytes so far, and how the page's own address was answered.

    `on_excess` is called once, when more than `bytes_max` bytes (unpacked) have come.
    """

    def __init__(self, frame: str, bytes_max: int, on_excess: Callable[[], None]) -> None:
        self.frame = frame
        self.bytes_max = bytes_max
        self.on_excess = on_excess
        self.bytes = 0
        self.started = 0
        self.target = ""  # where the page's latest navigation has got to, redirects followed
        self.answers: list[Answer] = []
        self._pending: dict[str, float] = {}
        self._changed = asyncio.Event()

    def listen(self, session: CDPSession) -> None:
        """Subscribe to the events; the Network domain has still to be enabled."""
        session.on("Network.requestWillBeSent", self._request)
        session.on("Network.responseReceived", self._response)
        session.on("Network.dataReceived", self._data)
        session.on("Network.loadingFinished", self._done)
        session.on("Network.loadingFailed", self._done)

    def busy(self, patience: float) -> bool:
        """Whether a request younger than `patience` seconds is in flight."""
        oldest = time.monotonic() - patience
        return any(began > oldest for began in self._pending.values())

    async def idle(self, patience: float, until: float) -> None:
        """Wait until no request younger than `patience` is in flight, or loop time `until`."""
        clock = asyncio.get_running_loop().time
        while self.busy(patience) and clock() < until:
            self._changed.clear()
            youngest = max(self._pending.values()) + patience - time.monotonic()
            try:
                async with asyncio.timeout(max(0.01, min(youngest, until - clock()))):
                    await self._changed.wait()
            except TimeoutError:
                continue

    def answer(self, url: str) -> Answer | None:
        """The response that the document at `url` came in, else the latest of the page."""
        address = url.partition("#")[0]
        same = [a for a in self.answers if a.url.partition("#")[0] == address]
        return next(reversed(same or self.answers), None)

    def _request(self, event: dict[str, Any]) -> None:
        kind = event.get("type", "")
        if kind == "Document" and event.get("frameId") == self.frame:
            self.target = event["request"]["url"]
        if kind in _LONG_LIVED or event["request"]["url"].startswith(("data:", "blob:")):
            return
        self.started += 1
        self._pending[event["requestId"]] = time.monotonic()

    def _response(self, event: dict[str, Any]) -> None:
        if event.get("type") != "Document" or event.get("frameId") != self.frame:
            return
        response = event["response"]
        headers = {name.lower(): value for name, value in response["headers"].items()}
        mime = response["mimeType"]
        if mime == "text/plain":
            # Shown as such is also what has no display of its own, a feed for one.
            mime = headers.get("content-type", mime).partition(";")[0].strip().lower()
        self.answers.append(Answer(response["url"], int(response["status"]), mime, headers))

    def _data(self, event: dict[str, Any]) -> None:
        before = self.bytes
        self.bytes += max(event["dataLength"], event["encodedDataLength"])
        if before <= self.bytes_max < self.bytes:
            self.on_excess()

    def _done(self, event: dict[str, Any]) -> None:
        if self._pending.pop(event["requestId"], None) is not None:
            self._changed.set()
