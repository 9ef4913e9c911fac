"""Stored bytes shown under their own address, in a tab where nothing can be loaded."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import urlsplit

from .settle import settle_stored
from .tab import Tab

# Refused by the renderer itself, what a page asks for costs nothing; asking the closed port for it
# was a third of a page's time. Frames are left to the interception: a policy would fill them with
# an error page.
NO_LOADING = {
    "name": "Content-Security-Policy",
    "value": "default-src 'unsafe-inline' 'unsafe-eval' data: blob:; frame-src *",
}


class Strayed(Exception):
    """The tab shows another document than the one that was asked for."""


class StoredPages:
    """Shows one page after the other in a tab whose context leads to a closed port.

    Only the page's own document is answered; frames, and whatever the page forwards to, are
    refused here. A policy keeps it from asking for more; what it would get out all the same ends
    at the closed port.
    """

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self._response: dict[str, Any] | None = None
        self._address = ""
        self._request = ""

    async def start(self) -> None:
        """Prepare a new tab. One page must not know of another: cookies are off."""
        self.tab.session.on("Fetch.requestPaused", self._answer)
        documents = {"urlPattern": "*", "resourceType": "Document"}
        await self.tab.send("Fetch.enable", patterns=[documents])
        await self.tab.send("Emulation.setDocumentCookieDisabled", disabled=True)

    async def load(self, content: bytes, url: str, content_type: str) -> None:
        """Show a page and wait until it is done. Raises Strayed, Navigated, Gone."""
        self._response = {
            "responseCode": 200,
            "responseHeaders": [{"name": "Content-Type", "value": content_type}, NO_LOADING],
            "body": base64.b64encode(content).decode(),
        }
        # A fragment might make it a jump within the page that is shown now.
        answer = await self.tab.navigate(url.partition("#")[0])
        if answer.get("errorText") or answer.get("loaderId") != self._request:
            raise Strayed(answer.get("errorText") or "another page came in between")
        await settle_stored(self.tab.evaluate)

    def check(self, resolved_url: str) -> None:
        """Raise Strayed where a capture is not of the page that was loaded."""
        shown, asked = urlsplit(resolved_url), urlsplit(self._address)
        # A script may change the rest of an address without leaving the document.
        if (shown.scheme, shown.netloc) != (asked.scheme, asked.netloc):
            raise Strayed(f"the page went to {resolved_url}")

    def _answer(self, event: dict[str, Any]) -> None:
        response, own = self._response, event["frameId"] == self.tab.frame
        if response is None or not own:
            self.tab.fire("Fetch.failRequest", requestId=event["requestId"], errorReason="Aborted")
            return
        self._response = None
        self._address = event["request"]["url"]
        self._request = event.get("networkId", "")
        self.tab.fire("Fetch.fulfillRequest", requestId=event["requestId"], **response)
