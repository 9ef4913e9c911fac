"""Whether what came from the network is a page, and the error that says why not."""

from __future__ import annotations

from .errors import ForbiddenError, SourceError, UnsupportedError
from .guard import REASON_HEADER, Guard
from .traffic import Answer

PAGE_TYPES = frozenset(
    {"text/html", "application/xhtml+xml", "application/xml", "text/xml", "text/plain"}
)


def check_type(url: str, content_type: str) -> None:
    """Raise UnsupportedError unless Chromium shows this type as a document."""
    mime = content_type.partition(";")[0].strip().lower()
    if mime and mime not in PAGE_TYPES:
        raise UnsupportedError(f"{url}: not a web page but {mime}")


def check_answer(url: str, answer: Answer | None) -> None:
    """Raise SourceError, ForbiddenError or UnsupportedError where no page was answered."""
    if answer is None:
        return
    reason = answer.headers.get(REASON_HEADER)
    if reason is not None:
        raise (ForbiddenError if answer.status == 403 else SourceError)(f"{url}: {reason}")
    check_type(url, answer.mime)


def failure(url: str, target: str, reason: str, answer: Answer | None, guard: Guard) -> SourceError:
    """The error for a navigation that Chromium gave up.

    target: where its redirects led to; reason: Chromium's own word, such as "net::ERR_ABORTED".
    """
    refusal = guard.failure(target or url)
    if refusal is not None and "TUNNEL" in reason:
        kind = ForbiddenError if refusal.forbidden else SourceError
        return kind(f"{url}: {refusal.reason}")
    if "ERR_ABORTED" in reason and answer is not None:
        if answer.status in (204, 205):
            return SourceError(f"{url}: the answer has no content")
        return UnsupportedError(f"{url}: a download of type {answer.mime or 'unknown'}")
    if "HTTP_RESPONSE_CODE" in reason and answer is not None:
        return SourceError(f"{url}: HTTP status {answer.status} and nothing else")
    return SourceError(f"{url}: {reason.removeprefix('net::')}")
