"""The result: one page's content, what is known of it, and what was decided of each block."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from enum import StrEnum
from typing import Any

import numpy as np

from ..layout.page import Labels, Page
from ..render.errors import DeadlineError, PagesightError, UnsupportedError
from ..render.snapshot import Snapshot
from .blocks import DIGITS, BlockList
from .blocks import Block as Block
from .content import FormatOptions, build_content
from .formats import from_bytes, to_bytes, to_html, to_text
from .markdown import to_markdown
from .metadata import read_metadata


class Status(StrEnum):
    """How an extraction ended.

    ok: with content. partial: with what was there at a limit. empty: the page holds no content.
    blocked: a wall or an error page stands in its place. unsupported: it is no web page.
    timeout: nothing was there at the deadline. error: `Document.error` says what went wrong.
    """

    OK = "ok"
    PARTIAL = "partial"
    EMPTY = "empty"
    BLOCKED = "blocked"
    UNSUPPORTED = "unsupported"
    TIMEOUT = "timeout"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Document:
    """What `extract` returns. `markdown`, `html` and `blocks` are made when they are asked for.

    error: one line, None where the status is ok.
    date: of publication, ISO 8601 without the time. language: a tag of BCP 47.
    page_type: what kind of page it is, one of `model.kinds.KINDS`; None if no model told.
    confidence: the word F1 that the labels can be expected to have, 0 to 1; None without any text.
    """

    status: Status
    error: str | None = None
    url: str | None = None
    resolved_url: str | None = None
    title: str | None = None
    author: str | None = None
    date: str | None = None
    language: str | None = None
    sitename: str | None = None
    description: str | None = None
    image: str | None = None
    text: str = ""
    page_type: str | None = None
    confidence: float | None = None
    _blocks: BlockList = field(default_factory=BlockList, repr=False)
    _tree: bytes = field(default=b"", repr=False)  # the content, see `formats.to_bytes`
    _markdown: str | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def failed(cls, url: str | None, error: PagesightError) -> Document:
        """The result where there is none."""
        status = Status.ERROR
        if isinstance(error, UnsupportedError):
            status = Status.UNSUPPORTED
        elif isinstance(error, DeadlineError):
            status = Status.TIMEOUT
        return cls(status, error=str(error), url=url)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What was decided of each text of the page, in reading order."""
        return self._blocks.listed()

    @property
    def markdown(self) -> str:
        """The content as GitHub flavoured Markdown."""
        if self._markdown is None:
            object.__setattr__(self, "_markdown", to_markdown(from_bytes(self._tree)))
        return self._markdown or ""

    @property
    def html(self) -> str:
        """The content as a fragment of safe HTML."""
        return to_html(from_bytes(self._tree))

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON, under the names of the contract and in its order."""
        result = {name: getattr(self, name) for name in _NAMES}
        result["status"] = str(self.status)
        result["blocks"] = [asdict(block) for block in self.blocks]
        return result

    def to_diffbot(self) -> dict[str, Any]:
        """What is known, under the names of Diffbot's Article API."""
        article = {
            "type": "article",
            "pageUrl": self.url,
            "resolvedPageUrl": self.resolved_url,
            "title": self.title,
            "text": self.text,
            "html": self.html,
            "author": self.author,
            "date": self.date and _http_date(self.date),
            "humanLanguage": self.language and self.language.partition("-")[0].lower(),
            "siteName": self.sitename,
            "images": self.image and [{"url": self.image, "primary": True}],
        }
        known = {name: value for name, value in article.items() if value}
        request = {"pageUrl": self.url, "api": "article", "version": 3}
        answer: dict[str, Any] = {"request": request, "objects": [known] if self.text else []}
        return answer | ({"error": self.error} if self.error else {})


_NAMES = (
    "status",
    "error",
    "url",
    "resolved_url",
    "title",
    "author",
    "date",
    "language",
    "sitename",
    "description",
    "image",
    "text",
    "markdown",
    "html",
    "page_type",
    "confidence",
    "blocks",
)


def build_document(
    page: Page,
    labels: Labels,
    options: FormatOptions | None = None,
) -> Document:
    """The Document of a page that the model has labelled; its status is ok, partial or empty."""
    snapshot, about = page.snapshot, read_metadata(page.snapshot)
    tree = build_content(page, labels.content, options or FormatOptions())
    text = to_text(tree)
    status, error = _status(snapshot, text)
    return Document(
        status,
        error=error,
        url=snapshot.meta.url or None,
        resolved_url=snapshot.meta.resolved_url or about.url or None,
        title=about.title,
        author=about.author,
        date=about.date,
        language=about.language,
        sitename=about.sitename,
        description=about.description,
        image=about.image,
        text=text,
        page_type=labels.kind or None,
        confidence=_confidence(page, labels),
        _blocks=BlockList(labelled=(page, labels)),
        _tree=to_bytes(tree),
    )


def _status(snapshot: Snapshot, text: str) -> tuple[Status, str | None]:
    if snapshot.meta.cut:
        return Status.PARTIAL, f"cut at the limit of {', '.join(snapshot.meta.cut)}"
    return (Status.OK, None) if text else (Status.EMPTY, "no content found")


def _confidence(page: Page, labels: Labels) -> float | None:
    """The expected F1 of the words kept, by the blocks' probabilities; None for an empty page.

    One more word that is right: where nothing is kept, that is the answer where all are unlikely.
    """
    if not len(page):
        return None
    words = np.fromiter((len(text.split()) for text in page.text), np.float64, len(page))
    likely = words * labels.probability
    kept = labels.content
    expected = (2 * likely[kept].sum() + 1) / (words[kept].sum() + likely.sum() + 1)
    return round(float(expected), DIGITS)


def _http_date(day: str) -> str:
    moment = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return format_datetime(moment, usegmt=True)
