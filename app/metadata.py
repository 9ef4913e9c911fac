"""What a page says of itself: Open Graph, Twitter, Dublin Core, plain `meta`, and JSON-LD."""

from __future__ import annotations

import html
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np

from ..layout.cdom import named
from ..render.snapshot import TEXT, Snapshot
from .places import absolute

# The first that is there wins; names in lower case.
_TITLE = ("og:title", "twitter:title", "dc.title", "dcterms.title", "parsely-title")
_AUTHOR = ("author", "article:author", "dc.creator", "dcterms.creator", "byl", "parsely-author")
_DATE = (
    "article:published_time",
    "datepublished",
    "og:published_time",
    "dc.date.issued",
    "dcterms.issued",
    "dc.date",
    "dcterms.created",
    "parsely-pub-date",
    "pubdate",
    "date",
)
_SITENAME = ("og:site_name", "application-name", "dc.publisher", "dcterms.publisher")
_DESCRIPTION = ("og:description", "description", "twitter:description", "dc.description")
_IMAGE = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src")
_TAGS = frozenset({"html", "title", "h1", "meta", "link", "script"})

_ARTICLE = re.compile(r"(?:\w*Article|\w*Posting|Report)\Z")
_SEPARATOR = r"(?:\s+[-–—·•:]\s+|\s*[|»]\s*)"
_PARTED = re.compile(_SEPARATOR)
_ISO_DATE = re.compile(r"(\d{4})([-/.]?)(\d{2})\2(\d{2})(?!\d)")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*\Z")
# Of one page's JSON-LD.
_MOST_ITEMS = 1_000


@dataclass(frozen=True, slots=True)
class Metadata:
    """None where a page says nothing.

    date: of publication, ISO 8601 without the time. language: a tag of BCP 47, as declared.
    image, url: absolute; url is the one that the page calls its canonical one.
    """

    title: str | None = None
    author: str | None = None
    date: str | None = None
    language: str | None = None
    sitename: str | None = None
    description: str | None = None
    image: str | None = None
    url: str | None = None


def read_metadata(snapshot: Snapshot) -> Metadata:
    """The metadata of a page's own document; frames have no say."""
    head = _Head(snapshot)
    article = _article(head.json_ld())
    base = snapshot.meta.resolved_url or snapshot.meta.url
    sitename = head.first(_SITENAME) or _names(article.get("publisher"))
    canonical, image = head.canonical(), head.first(_IMAGE) or _address(article.get("image"))
    return Metadata(
        title=_title(head, _word(article.get("headline")), sitename) or None,
        author=_names(article.get("author")) or _names(head.first(_AUTHOR)) or None,
        date=_date(_word(article.get("datePublished"))) or _date(head.first(_DATE)),
        language=_language(head, _word(article.get("inLanguage"))),
        sitename=sitename or None,
        description=head.first(_DESCRIPTION) or _word(article.get("description")) or None,
        image=absolute(base, image) if image else None,
        url=absolute(base, canonical) if canonical else None,
    )


class _Head:
    """The elements that hold metadata, wherever in the page they stand."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.nodes: dict[str, list[int]] = {tag: [] for tag in _TAGS}
        wanted = np.flatnonzero(named(snapshot, _TAGS) & (snapshot.frame == 0))
        for node, name in zip(wanted.tolist(), snapshot.name[wanted].tolist(), strict=True):
            self.nodes[snapshot.strings[name]].append(node)
        self.properties: dict[str, str] = {}
        for node in self.nodes["meta"]:
            attributes = snapshot.attributes(node)
            content = " ".join(attributes.get("content", "").split())
            for key in ("property", "name", "itemprop", "http-equiv"):
                if content and key in attributes:
                    self.properties.setdefault(attributes[key].strip().lower(), content)

    def first(self, names: Iterable[str]) -> str:
        """The content of the first property of these names."""
        return next((self.properties[name] for name in names if name in self.properties), "")

    def titles(self) -> Iterator[str]:
        """The texts of `title`, not of those inside of pictures."""
        nodes = self.nodes["title"]
        return (self._text(node) for node in nodes if not self._is_drawn(node))

    def headings(self) -> Iterator[str]:
        """The texts of `h1`."""
        return (self._text(node) for node in self.nodes["h1"])

    def json_ld(self) -> Iterator[str]:
        """The sources of all JSON-LD."""
        for node in self.nodes["script"]:
            kind = self.snapshot.attributes(node).get("type", "")
            if kind.partition(";")[0].strip().lower() == "application/ld+json":
                yield self._raw(node)

    def canonical(self) -> str:
        """The canonical address, as written."""
        for node in self.nodes["link"]:
            attributes = self.snapshot.attributes(node)
            if "canonical" in attributes.get("rel", "").lower().split():
                return attributes.get("href", "")
        return self.first(("og:url",))

    def language(self) -> str:
        """The root element's `lang`."""
        roots = self.nodes["html"]
        return self.snapshot.attributes(roots[0]).get("lang", "") if roots else ""

    def _is_drawn(self, node: int) -> bool:
        return any(self.snapshot.tag(above) == "svg" for above in self.snapshot.ancestors(node))

    def _text(self, node: int) -> str:
        return " ".join(self._raw(node).split())

    def _raw(self, node: int) -> str:
        parent, texts = self.snapshot.parent, []
        below = node + 1
        # In pre-order a subtree ends where a parent stands before its root.
        while below < len(parent) and parent[below] >= node:
            if self.snapshot.kind[below] == TEXT:
                texts.append(self.snapshot.text(below))
            below += 1
        return "".join(texts)


def _article(sources: Iterable[str]) -> dict[str, Any]:
    """The first article that the JSON-LD describes, an empty one if there is none."""
    items: deque[Any] = deque()
    for source in sources:
        try:
            items.append(json.loads(source, strict=False))
        except (ValueError, RecursionError):
            continue
    for _ in range(_MOST_ITEMS):
        if not items:
            break
        item = items.popleft()
        if isinstance(item, list):
            items.extend(item)
        elif isinstance(item, dict):
            kinds = item.get("@type")
            for kind in kinds if isinstance(kinds, list) else [kinds]:
                if isinstance(kind, str) and _ARTICLE.search(kind):
                    return item
            items.extend(item[key] for key in ("@graph", "mainEntity") if key in item)
    return {}


def _word(value: Any) -> str:
    return " ".join(html.unescape(value).split()) if isinstance(value, str) else ""


def _names(value: Any) -> str:
    """The names of people or of an organisation, however they are written."""
    values = value if isinstance(value, list) else [value]
    named = [_word(v.get("name") if isinstance(v, dict) else v) for v in values]
    kept = [name for name in named if name and "://" not in name]
    return ", ".join(dict.fromkeys(kept))


def _address(value: Any) -> str:
    """The address of an image, of the first one if there are several."""
    first = value[0] if isinstance(value, list) and value else value
    return _word(first.get("url") if isinstance(first, dict) else first)


def _title(head: _Head, headline: str, sitename: str) -> str:
    """The page's title without the name of the site, where it is plain what that is."""
    title = head.first(_TITLE) or headline or next(head.titles(), "")
    if sitename and sitename in title:
        site = re.escape(sitename)
        title = re.sub(rf"{_SEPARATOR}{site}\Z|\A{site}{_SEPARATOR}", "", title) or title
    for heading in head.headings():
        if heading and title.startswith(heading) and _PARTED.match(title, len(heading)):
            return heading
    return title


def _language(head: _Head, declared: str) -> str | None:
    for source in (head.language(), head.first(("content-language", "og:locale")), declared):
        tag = source.partition(",")[0].strip().replace("_", "-")
        if _LANGUAGE.match(tag):
            return tag
    return None


def _date(text: str) -> str | None:
    found = _ISO_DATE.match(text)
    try:
        if found:
            return date(int(found[1]), int(found[3]), int(found[4])).isoformat()
        return parsedate_to_datetime(text).date().isoformat()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
