"""Diffbot's Article API, live: a paid service that is sent the page itself.

As documented at docs.diffbot.com (Extract: content not available online; errors 401, 404, 429,
500; multi-page articles; rate limits) in 2025 and 2026.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from ...render.errors import PagesightError
from ...render.files import write_whole
from ...render.store import cache_folder
from .protocol import StudyPage, System

TOKEN = "DIFFBOT_TOKEN"
"""Environment variable with the token of one's account."""
ADDRESS = "DIFFBOT_API"
"""Environment variable with another address of the service, for a proxy of one's own."""

_ADDRESS = "https://api.diffbot.com"
# An address is asked for even where the page has none; it may be made up.
_NO_ADDRESS = "https://page.invalid/"
_TOO_MANY = 429
_OF_SERVER = 500
_HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class Limits:
    """How patient and how polite to be; all in seconds, but for `tries`.

    interval: between two calls of this process; the free plan allows five a minute.
    tries: of a page that meets an error of the server or the plan's limit of calls.
    pause: before the second try, doubled before each further one.
    longest: a server that asks for a longer wait has its wish: the page is given up.
    timeout: for an answer; rendering alone may take Diffbot 30 seconds.
    """

    interval: float = 12.0
    tries: int = 3
    pause: float = 5.0
    longest: float = 120.0
    timeout: float = 90.0


class Diffbot(System):
    """`objects[0].text` of what the service says of a page, each answer kept on disk for good.

    Answers lie in the folder `diffbot` of the cache, by the page's address and source; only what
    is not there is asked for, with the token of DIFFBOT_TOKEN.
    The source is sent as UTF-8; other pages of an article and its comments are not asked for.
    Raises PagesightError if there is neither a token nor any answer, and from `extract` if the
    service refuses a page or cannot be reached; no message holds the token.
    """

    name = "diffbot"
    version = "3+r1"  # of the service's interface and of the call
    live = True
    deadline = 600.0  # all tries and waits of a page

    def __init__(self, limits: Limits = Limits(), cache: Path | None = None) -> None:
        self._limits = limits
        self._folder = (cache or cache_folder()) / "diffbot"
        if not _token() and not any(self._folder.glob("*.json")):
            raise _no_token()
        # It reports whole addresses, and the token is part of them.
        logging.getLogger("httpx").addFilter(_has_no_token)

    def extract(self, page: StudyPage) -> str:
        """The text of a page, "" where the service finds none or the page is blank."""
        if not page.html.strip():
            return ""
        digest = hashlib.sha256(f"{page.url}\n{page.html}".encode("utf-8", "replace")).hexdigest()
        path = self._folder / f"{digest}.json"
        answer = _read(path)
        if answer is None:
            token = _token()
            if not token:
                raise _no_token()
            answer = self._ask(page, token)
            _write(path, json.dumps(answer).replace(json.dumps(token)[1:-1], _HIDDEN))
        return _text(answer)

    def warm_up(self) -> None:
        """Nothing: every call costs."""

    def _ask(self, page: StudyPage, token: str) -> dict[str, Any]:
        for earlier in range(self._limits.tries):
            _wait_for_turn(self._limits.interval)
            response = self._post(page, token)
            answer, code, fault = _parse(response)
            if answer is not None:
                return answer
            wait = self._limits.pause * 2**earlier
            if code == _TOO_MANY:
                wait = max(wait, _seconds(response.headers.get("Retry-After", "")))
            passing = code == _TOO_MANY or code >= _OF_SERVER
            if not passing or wait > self._limits.longest or earlier + 1 == self._limits.tries:
                break
            time.sleep(wait)
        raise _error(fault, token)

    def _post(self, page: StudyPage, token: str) -> httpx.Response:
        address = os.environ.get(ADDRESS) or _ADDRESS
        try:
            return httpx.post(
                f"{address.rstrip('/')}/v3/article",
                params={
                    "token": token,
                    "url": page.url or _NO_ADDRESS,
                    "paging": "false",
                    "discussion": "false",
                },
                content=page.html.encode("utf-8", "replace"),
                headers={"Content-Type": "text/html; charset=utf-8"},
                timeout=self._limits.timeout,
            )
        except httpx.TimeoutException:
            # It may have been paid for: it is not asked again before the next run.
            raise _error(f"no answer within {self._limits.timeout:g} s", token) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            # The error holds the request, and that the token.
            raise _error(f"no answer: {error or type(error).__name__}", token) from None


_turn = threading.Lock()
_last = -1e9


def _wait_for_turn(interval: float) -> None:
    """Return `interval` seconds after the last call of this process, whoever made it."""
    global _last
    with _turn:
        time.sleep(max(0.0, _last + interval - time.monotonic()))
        _last = time.monotonic()


def _parse(response: httpx.Response) -> tuple[dict[str, Any] | None, int, str]:
    """The answer if it is one, the code of the error, and what is wrong."""
    status = response.status_code
    try:
        answer = response.json()
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        kind = response.headers.get("Content-Type", "no type")
        return None, status, f"status {status}, and no JSON object but {kind}"
    # The gateways before the service have names of their own for the same.
    code = answer.get("errorCode", answer.get("code"))
    if status == httpx.codes.OK and code is None:
        return answer, status, ""
    code = code if isinstance(code, int) else status
    reason = answer.get("error") or answer.get("message") or response.reason_phrase
    return None, code, f"error {code}: {reason}"


def _text(answer: dict[str, Any]) -> str:
    match answer:
        case {"objects": [{"text": str(text)}, *_]}:
            return text
    return ""


def _seconds(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() else 0.0


def _token() -> str:
    return os.environ.get(TOKEN, "").strip()


def _no_token() -> PagesightError:
    return PagesightError(
        f"diffbot: set {TOKEN} to the token of an account, or compare recorded outputs instead"
    )


def _error(fault: str, token: str) -> PagesightError:
    hidden = fault.replace(token, _HIDDEN).replace(quote(token, ""), _HIDDEN)
    return PagesightError(f"diffbot: {' '.join(hidden.split())}")


def _has_no_token(record: logging.LogRecord) -> bool:
    return "token=" not in record.getMessage()


def _read(path: Path) -> dict[str, Any] | None:
    try:
        answer = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode("utf-8", "replace"))
