"""Stored bytes shown under their own address, in a tab where nothing comes from the network."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import urlsplit

from .served import Served
from .settle import settle_stored
from .tab import Tab

# Refused by the renderer itself, what a page asks for costs nothing; asking the closed port for it
# was a third of a page's time. Frames are left to the interception: a policy would fill them with
# an error page.
NO_LOADING = {
    "name": "Content-Security-Policy",
    "value": "default-src 'unsafe-inline' 'unsafe-eval' data: blob:; frame-src *",
}
# What a page asks of its own host is answered with the files that are served with it, or refused.
OWN_FILES = NO_LOADING | {"value": NO_LOADING["value"].replace("src ", "src 'self' ", 1)}


class Strayed(Exception):
    """The tab shows another document than the one that was asked for."""


class StoredPages:
    """Shows one page after the other in a tab whose context leads to a closed port.

    Only the page's own document is answered, and for a page with files of its own those; frames,
    and whatever the page forwards to, are refused here. A policy keeps it from asking for more;
    what it would get out all the same ends at the closed port.
    """

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self._response: dict[str, Any] | None = None
        self._served: Served | None = None
        self._all_paused = False
        self._address = ""
        self._request = ""

    async def start(self) -> None:
        """Prepare a new tab. One page must not know of another: cookies are off."""
        self.tab.session.on("Fetch.requestPaused", self._paused)
        documents = {"urlPattern": "*", "resourceType": "Document"}
        await self.tab.send("Fetch.enable", patterns=[documents])
        await self.tab.send("Emulation.setDocumentCookieDisabled", disabled=True)

    async def serve(self, served: Served | None) -> None:
        """The files that the next pages may load from their own host; None for no files."""
        if served is not None and not self._all_paused:
            await self.tab.send("Fetch.enable", patterns=[{"urlPattern": "*"}])
            self._all_paused = True
        self._served = served

    async def load(self, content: bytes, url: str, content_type: str) -> None:
        """Show a page and wait until it is done. Raises Strayed, Navigated, Gone."""
        policy = NO_LOADING if self._served is None else OWN_FILES
        self._response = _answer(content, content_type, policy)
        # A fragment might make it a jump within the page that is shown now.
        answer = await self.tab.navigate(url.partition("#")[0])
        if answer.get("errorText") or answer.get("loaderId") != self._request:
            raise Strayed(answer.get("errorText") or "another page came in between")
        await settle_stored(self.tab.evaluate, loads=self._served is not None)

    def check(self, resolved_url: str) -> None:
        """Raise Strayed where a capture is not of the page that was loaded."""
        shown, asked = urlsplit(resolved_url), urlsplit(self._address)
        # A script may change the rest of an address without leaving the document.
        if (shown.scheme, shown.netloc) != (asked.scheme, asked.netloc):
            raise Strayed(f"the page went to {resolved_url}")

    def _paused(self, event: dict[str, Any]) -> None:
        if event["frameId"] != self.tab.frame:
            response = None
        elif event["resourceType"] == "Document":
            response = self._own_document(event)
        else:
            response = self._own_file(event["request"]["url"])
        if response is None:
            self.tab.fire("Fetch.failRequest", requestId=event["requestId"], errorReason="Aborted")
        else:
            self.tab.fire("Fetch.fulfillRequest", requestId=event["requestId"], **response)

    def _own_document(self, event: dict[str, Any]) -> dict[str, Any] | None:
        response, self._response = self._response, None
        if response is not None:
            self._address = event["request"]["url"]
            self._request = event.get("networkId", "")
        return response

    def _own_file(self, url: str) -> dict[str, Any] | None:
        if self._served is None or urlsplit(url)[:2] != urlsplit(self._address)[:2]:
            return None
        found = self._served.answer(url)
        return None if found is None else _answer(found[1], found[0])


def _answer(content: bytes, content_type: str, *headers: dict[str, str]) -> dict[str, Any]:
    return {
        "responseCode": 200,
        "responseHeaders": [{"name": "Content-Type", "value": content_type}, *headers],
        "body": base64.b64encode(content).decode(),
    }
