"""What a page declares of itself to machines: what kind of page it is.

By its address, schema.org types (JSON-LD and microdata), Open Graph, the program that made it, and
the classes of its root. They decide on no block alone; they tell a shop's shelf from a thread.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import numpy.typing as npt

from ...render.snapshot import TEXT, Snapshot
from ..cdom import covered
from .schema import FeatureSet, Float32
from .survey import Survey, attribute

Int64 = npt.NDArray[np.int64]

TYPES = {  # of schema.org
    "article": r"article|posting$|report|review$|recipe|howto|^book$|profilepage",
    "product": r"product|offer|vehicle|accommodation|softwareapplication",
    "list": r"itemlist|collection|searchresults|offercatalog|^blog$",
    "forum": r"discussion|qapage|question|answer|comment",
    "service": r"service|business|organization|faq|jobposting|event|course|place",
}
ADDRESSES = {
    "article": r"\b(?:blog|news|article|story|post|magazine|opinion)s?\b|/(?:19|20)\d\d/",
    "product": r"/(?:products?|p|dp|itm|item|pdp|prd|sku|ip)/|[-_/]p[-_/]?\d{4}",
    "list": r"\b(?:collections?|categor(?:y|ies)|search|browse|catalog|shop|store|tags?|topics?|"
    r"best|top|list|archive|directory|jobs?|results?|cat|c|department|gallery)\b",
    "forum": r"\b(?:forums?|threads?|topic|showthread|viewtopic|community|questions?|comments|"
    r"discuss(?:ions?)?|boards?|r|t|talk|answers)\b",
    "documentation": r"\b(?:docs?|documentation|reference|manual|guides?|api|wiki|help|learn|"
    r"tutorials?|support|kb|readthedocs|developers?|library)\b",
    "service": r"\b(?:services?|solutions?|pricing|about|features?|platform|plans|contact|company|"
    r"industries|practice|treatments?|programs?|what-we-do)\b",
}
GENERATORS = {
    "blog": r"wordpress|ghost|blogger|hugo|jekyll|hexo|gatsby|medium|substack",
    "forum": r"discourse|vbulletin|phpbb|xenforo|invision|flarum|nodebb|smf|vanilla|mybb",
    "shop": r"shopify|woocommerce|magento|prestashop|bigcommerce|opencart|shopware",
    "documentation": r"sphinx|mkdocs|docusaurus|docutils|vitepress|javadoc|doxygen|mdbook|gitbook",
}
ROOTS = {  # classes and ids of `html` and `body`
    "article": r"\b(?:single|post|story|blog-?post|entry|news)\b|article",
    "product": r"product|pdp|\bitem\b",
    "list": r"archive|category|collection|listing|search|\bhome\b|index|catalog|plp|browse",
    "forum": r"topic|thread|forum|discuss|question",
    "service": r"landing|\bpage\b|page-template|service|elementor-page",
    "documentation": r"\bdocs?\b|documentation|reference|wiki|manual",
}
PROPERTIES = {  # of microdata
    "body": r"articlebody|^text$|reviewbody|entry-?content",
    "description": r"description",
    "name": r"^(?:name|headline)$",
    "offer": r"price|offers|availability|sku|brand",
    "review": r"^reviews?$|rating",
    "person": r"author|publisher|creator",
    "trail": r"breadcrumb|itemlistelement",
}
_GRAPH = ("article", "product", "website")

DECLARED = FeatureSet(
    "declared",
    1,
    (
        *(f"type.{kind}" for kind in TYPES),
        *(f"address.{kind}" for kind in ADDRESSES),
        "address.known",
        "address.depth",  # parts of its path, in fours
        "address.root",
        "address.slug",  # words of its last part, in fives
        "address.query",
        "address.number",  # of four digits or more in its last part
        *(f"generator.{kind}" for kind in GENERATORS),
        *(f"graph.{kind}" for kind in _GRAPH),
        *(f"root.{kind}" for kind in ROOTS),
        "price",  # among the metadata
        *(f"property.{kind}" for kind in PROPERTIES),  # above the block
    ),
)

_MOST_ITEMS = 2_000  # of a page's JSON-LD
_LONGEST = 2_000  # characters of a name or an address that are read
_SLUG_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d{4}")


def declared_features(survey: Survey) -> Float32:
    """[b, len(DECLARED)]: all but the last, the properties, are the same for all blocks."""
    out = np.zeros((len(survey.page), len(DECLARED)), np.float32)
    if not len(out):
        return out
    snapshot, first = survey.page.snapshot, len(DECLARED) - len(PROPERTIES)
    graph, generator, price = _metas(survey)
    types = " ".join(_types(survey))
    out[:, :first] = [
        *_matches(TYPES, types.lower().split()),
        *_address(snapshot.meta.resolved_url or snapshot.meta.url),
        *_matches(GENERATORS, [generator]),
        *(kind in graph for kind in _GRAPH),
        *_matches(ROOTS, [_root_names(survey)]),
        price,
    ]
    _mark_properties(survey, out[:, first:])
    return out


def _matches(patterns: dict[str, str], texts: list[str]) -> list[bool]:
    return [any(re.search(pattern, text) for text in texts) for pattern in patterns.values()]


def _address(url: str) -> list[float]:
    try:
        address = urlsplit(url if url.startswith(("http://", "https://")) else "")
    except ValueError:  # of brackets that hold no address of a host
        address = urlsplit("")
    if not address.scheme:
        return [0.0] * (len(ADDRESSES) + 6)
    path = unquote(address.path[:_LONGEST]).lower()
    parts = [part for part in path.split("/") if part]
    last = parts[-1] if parts else ""
    whole = f"{address.netloc.lower()}{path}?{address.query[:_LONGEST].lower()}"
    return [
        *map(float, _matches(ADDRESSES, [whole])),
        1.0,
        len(parts) / 4,
        float(not parts),
        len(_SLUG_WORD.findall(last)) / 5,
        float(bool(address.query)),
        float(bool(_NUMBER.search(last))),
    ]


def _nodes(survey: Survey, *tags: str) -> list[int]:
    return np.flatnonzero(survey.tags.named(*tags)).tolist()


def _metas(survey: Survey) -> tuple[str, str, bool]:
    """Open Graph's type, the generator, and whether there is a price, from the `meta` elements."""
    graph, generators, price = "", [], False
    for node in _nodes(survey, "meta"):
        attributes = survey.page.snapshot.attributes(node)
        key = (attributes.get("property") or attributes.get("name") or "").lower()
        content = attributes.get("content", "")[:_LONGEST].lower()
        if key == "og:type":
            graph = content
        elif key == "generator":
            generators.append(content)
        price = price or "price" in key
    return graph, " ".join(generators), price


def _root_names(survey: Survey) -> str:
    names = []
    for node in _nodes(survey, "html", "body")[:2]:
        attributes = survey.page.snapshot.attributes(node)
        names += [attributes.get("class", "")[:_LONGEST], attributes.get("id", "")[:_LONGEST]]
    return " ".join(names).lower()


def _types(survey: Survey) -> Iterator[str]:
    """The names of schema.org's types, of JSON-LD and of microdata."""
    snapshot = survey.page.snapshot
    for value in _values(snapshot, "itemtype"):
        yield value[:_LONGEST].rsplit("/", 1)[-1]
    for node in _nodes(survey, "script"):
        if "ld+json" in snapshot.attributes(node).get("type", "").lower():
            inside = slice(node + 1, int(survey.page.tree.end[node]))
            texts = np.flatnonzero(snapshot.kind[inside] == TEXT) + node + 1
            yield from _types_of("".join(snapshot.text(text) for text in texts.tolist()))


def _types_of(source: str) -> Iterator[str]:
    try:
        items: list[Any] = [json.loads(source, strict=False)]
    except (ValueError, RecursionError):
        return
    for _ in range(_MOST_ITEMS):
        if not items:
            return
        item = items.pop()
        if isinstance(item, list):
            items += item
        elif isinstance(item, dict):
            kind = item.get("@type")
            yield from (
                one for one in (kind if isinstance(kind, list) else [kind]) if isinstance(one, str)
            )
            items += [value for value in item.values() if isinstance(value, dict | list)]


def _values(snapshot: Snapshot, key: str) -> list[str]:
    values = attribute(snapshot, key)
    return [snapshot.strings[value] for value in np.unique(values[values >= 0]).tolist()]


def _mark_properties(survey: Survey, out: Float32) -> None:
    """Mark the blocks below each of PROPERTIES, in [b, properties]."""
    snapshot, tree = survey.page.snapshot, survey.page.tree
    value = attribute(snapshot, "itemprop")
    used = np.unique(value[value >= 0])
    bits = np.array([_property_bits(snapshot.strings[v]) for v in used.tolist()], np.int64)
    for column in range(len(PROPERTIES)):
        chosen = used[(bits >> column) & 1 == 1] if len(used) else used
        if len(chosen):
            starts = np.flatnonzero(np.isin(value, chosen)).astype(np.int32)
            out[:, column] = covered(starts, tree.end)[tree.leaf_node]


@lru_cache(maxsize=1 << 12)
def _property_bits(name: str) -> int:
    lowered = name[:_LONGEST].lower()
    return sum(
        1 << number
        for number, pattern in enumerate(PROPERTIES.values())
        if re.search(pattern, lowered)
    )
