"""The static road to an address: the bytes as the server gives them, through the guard."""

from __future__ import annotations

import asyncio

import httpx

from .errors import DeadlineError, ForbiddenError, SourceError
from .guard import REASON_HEADER, Guard, check_url
from .settings import Limits
from .sources import StoredPage
from .verdict import check_type

USER_AGENT = "Mozilla/5.0 (compatible; pagesight)"
_MAX_REDIRECTS = 10


async def fetch(url: str, guard: Guard, limits: Limits) -> tuple[StoredPage, int, bool]:
    """Fetch an address without a browser: the page, its HTTP status, and whether it was cut.

    Raises:
        ForbiddenError: the scheme or an address on the way is refused.
        UnsupportedError: the answer is no web page.
        DeadlineError: no whole answer came within `limits.seconds`.
        SourceError: the host is dead, or its answer is broken.
    """
    check_url(url)
    await guard.start()
    try:
        async with asyncio.timeout(limits.seconds):
            return await _fetch(url, guard, limits)
    except TimeoutError:
        raise DeadlineError(f"{url}: no answer within {limits.seconds:g} s") from None
    except httpx.InvalidURL as error:
        raise SourceError(f"{url}: {error}") from error
    except httpx.HTTPError as error:
        target = str(error.request.url) if error._request is not None else url
        refusal = guard.failure(target)
        kind = ForbiddenError if refusal and refusal.forbidden else SourceError
        reason = refusal.reason if refusal else str(error) or type(error).__name__
        raise kind(f"{url}: {reason}") from error


async def _fetch(url: str, guard: Guard, limits: Limits) -> tuple[StoredPage, int, bool]:
    async with (
        httpx.AsyncClient(
            proxy=guard.url,
            trust_env=False,
            follow_redirects=True,
            max_redirects=_MAX_REDIRECTS,
            timeout=limits.seconds,
            headers={"User-Agent": USER_AGENT, "Accept-Language": "en-US,en;q=0.8"},
            event_hooks={"request": [_check_scheme]},
        ) as client,
        client.stream("GET", url) as answer,
    ):
        reason = answer.headers.get(REASON_HEADER)
        if reason is not None:
            raise (ForbiddenError if answer.status_code == 403 else SourceError)(f"{url}: {reason}")
        content_type = answer.headers.get("content-type", "text/html")
        check_type(url, content_type)
        content = bytearray()
        async for piece in answer.aiter_bytes():
            content += piece
            if len(content) > limits.bytes:
                break
        page = StoredPage(
            name=url,
            content=bytes(content[: limits.bytes]),
            url=str(answer.url),
            charset=answer.charset_encoding or "",
            content_type=content_type.partition(";")[0].strip().lower(),
        )
        return page, answer.status_code, len(content) > limits.bytes


async def _check_scheme(request: httpx.Request) -> None:
    """Redirects may lead to other schemes; httpx refuses them with words of its own."""
    check_url(str(request.url))
