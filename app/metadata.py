"""What a page says of itself: Open Graph, Twitter, Dublin Core, plain `meta`, and JSON-LD."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np

from ..layout.cdom import subtree_ends
from ..render.snapshot import ELEMENT, TEXT, Snapshot
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

_SEPARATOR = re.compile(r"\s+[|\-–—·•»:]+\s+|\s*[|»]\s*")
_ISO_DATE = re.compile(r"(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})(?!\d)")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_MOST_ITEMS = 1_000


@dataclass(frozen=True, slots=True)
class Metadata:
    """Empty strings where a page says nothing.

    date: of publication, ISO 8601 without the time. language: a tag of BCP 47, as declared.
    image, url: absolute; url is the one that the page calls its canonical one.
    """

    title: str = ""
    author: str = ""
    date: str = ""
    language: str = ""
    sitename: str = ""
    description: str = ""
    image: str = ""
    url: str = ""


def read_metadata(snapshot: Snapshot) -> Metadata:
    """The metadata of a page's own document; frames have no say."""
    head = _Head(snapshot)
    article = _article(head.scripts())
    base = snapshot.meta.resolved_url or snapshot.meta.url
    sitename = head.first(_SITENAME) or _name(article.get("publisher"))
    canonical = head.canonical() or head.first(("og:url",))
    return Metadata(
        title=_title(head, article, sitename),
        author=_name(article.get("author")) or _author(head.first(_AUTHOR)),
        date=_date(_word(article.get("datePublished"))) or _date(head.first(_DATE)),
        language=_language(head, article),
        sitename=sitename,
        description=head.first(_DESCRIPTION) or _word(article.get("description")),
        image=absolute(base, head.first(_IMAGE) or _address(article.get("image"))) or "",
        url=absolute(base, canonical) or "",
    )


class _Head:
    """The elements that hold metadata, wherever in the page they stand."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        elements = np.flatnonzero((snapshot.kind == ELEMENT) & (snapshot.frame == 0))
        names = snapshot.name[elements]
        self.by_tag = {
            tag: elements[np.isin(names, numbers)].tolist()
            for tag, numbers in _numbers(snapshot, names).items()
        }
        self.properties: dict[str, str] = {}
        for node in self.by_tag.get("meta", ()):
            attributes = snapshot.attributes(node)
            content = " ".join(attributes.get("content", "").split())
            for key in ("property", "name", "itemprop", "http-equiv"):
                if content and key in attributes:
                    self.properties.setdefault(attributes[key].strip().lower(), content)

    def first(self, names: tuple[str, ...]) -> str:
        """The content of the first property of these names."""
        return next((self.properties[name] for name in names if name in self.properties), "")

    def texts(self, tag: str) -> list[str]:
        """The texts of all elements of a tag, not of what is drawn in an svg."""
        return [self._text(node) for node in self.by_tag.get(tag, ())]

    def scripts(self) -> Iterator[str]:
        """The sources of all JSON-LD."""
        for node in self.by_tag.get("script", ()):
            kind = self.snapshot.attributes(node).get("type", "")
            if kind.partition(";")[0].strip().lower() == "application/ld+json":
                yield self._raw(node)

    def canonical(self) -> str:
        """The canonical address, as written."""
        for node in self.by_tag.get("link", ()):
            attributes = self.snapshot.attributes(node)
            if "canonical" in attributes.get("rel", "").lower().split():
                return attributes.get("href", "")
        return ""

    def declared_language(self) -> str:
        """The root element's `lang`."""
        roots = self.by_tag.get("html", ())
        return self.snapshot.attributes(roots[0]).get("lang", "") if roots else ""
