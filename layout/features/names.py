"""What authors call the parts of a page: words in tags, classes, ids and roles above a block.

Pages of 2007 wrote `<div id="nav">` where later ones write `<nav>`: one column stands for both, so
that a model trained on the former reads the latter.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ...render.snapshot import ELEMENT, Snapshot
from ..cdom import covered, depths, named
from ..page import Page
from .schema import FeatureSet, Float32

Int32 = npt.NDArray[np.int32]

PATTERNS = {
    "navigation": "nav|menu|crumb|^pager?$|paginat|sitemap|skip",
    "header": "^header|headerbar|banner|masthead|logo|brand|topbar|toolbar",
    "footer": "foot|bottom|colophon|copyright|legal|disclaimer",
    "side": "side|^rail|gutter|complementary|^(left|right)",
    "related": "relat|recommend|popular|trending|^most|^more|also|latest|recent|archive|teaser",
    "share": "shar(e|ing)|social|follow|subscri|newsletter|^rss|^feed|bookmark|mail|print",
    "advertisement": "advert|^ads?$|banner|sponsor|promo|affiliat|taboola|outbrain",
    "consent": "cookie|consent|gdpr|privacy|modal|popup|overlay|dialog|notice|alert",
    "comment": "comment|repl(y|ies)|respon[ds]e|discuss|disqus|thread|forum|message",
    "form": "form|search|login|signin|regist|account|input|button|^btn|dropdown|select",
    "article": "article|story|stories|^post|entry|blog|^news$",
    "content": "content|^main|^body|text|^copy|primary|cent(er|re)|middle",
    "heading": "title|headline|heading|^h[1-6]$|subject",
    "byline": "meta|byline|author|^date|^time|publish|posted|credit|source",
    "topic": "^tags?$|categor|topic|label|keyword|filter",
    "item": "list|item|card|grid|tile|^row|product|result",
    "box": "box|widget|module|block|panel|portlet|^tabs?$",
    "figure": "figure|caption|image|^img|photo|pict|gallery|media|video|thumb",
    "quote": "quote|excerpt|summary|abstract|^intro|^lead|descr",
    "code": "^code|^pre$|syntax|highlight|example|source",
    "hidden": "hid(e|den)|invisible|^sr$|screenread|noprint|collapse",
}

NAMES = FeatureSet(
    "names",
    1,
    (
        *PATTERNS,
        "title_words",  # share of the block's words that stand in the page's title
        "title_covered",  # share of the title's words that stand in the block
        "in_heading",
        "in_list",
        "in_table",
    ),
)

_COMPILED = [re.compile(pattern) for pattern in PATTERNS.values()]
_WORD = re.compile(r"\w+")
_NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_ROOT_TAGS = frozenset({"html", "body"})
_TELLING_TAGS = frozenset(
    "address article aside blockquote button code dialog figcaption figure footer form h1 h2 h3 h4 "
    "h5 h6 header label main menu nav pre search select summary time".split()
)
_DECAY = 0.85  # how much of a name's say is left one element further down
_STRUCTURE = (
    frozenset({"h1", "h2", "h3", "h4", "h5", "h6"}),
    frozenset({"li", "dd", "dt"}),
    frozenset({"td", "th"}),
)


def name_features(page: Page) -> Float32:
    """[b, len(NAMES)] from 0 to 1; a name on the block's own element counts 1, higher up less."""
    snapshot, leaf = page.snapshot, page.tree.leaf_node
    out = np.zeros((len(page), len(NAMES)), np.float32)
    if not len(page):
        return out
    # [patterns, b] depth of the nearest element that matches
    nearest = np.full((len(PATTERNS), len(page)), -np.inf)
    depth = depths(snapshot.parent)
    leaves_before = np.searchsorted(leaf, np.arange(len(depth) + 1))
    first, last = leaves_before.tolist(), leaves_before[page.tree.end].tolist()
    for node, columns in _matches(page):
        # In pre-order, the deeper of two nested elements comes later and overwrites.
        for column in columns:
            nearest[column, first[node] : last[node]] = depth[node]
    out[:, : len(PATTERNS)] = _DECAY ** (depth[leaf][:, None] - 1 - nearest.T)
    out[:, len(PATTERNS) : len(PATTERNS) + 2] = _title_overlap(page)
    for column, tags in enumerate(_STRUCTURE, start=len(PATTERNS) + 2):
        starts = np.flatnonzero(named(snapshot, tags)).astype(np.int32)
        out[:, column] = covered(starts, page.tree.end)[leaf]
    return out


def _matches(page: Page) -> list[tuple[int, list[int]]]:
    """Elements above a block, in pre-order, with the numbers of the patterns that they match."""
    snapshot, members = page.snapshot, page.tree.member_node
    wanted = np.fromiter(
        (text in {"class", "id", "role"} for text in snapshot.strings), bool, len(snapshot.strings)
    )
    chosen = np.flatnonzero(wanted[snapshot.attr_name])
    owner = np.searchsorted(snapshot.attr_start, chosen, side="right") - 1
    names: dict[int, list[int]] = {}
    for node, value in zip(owner.tolist(), snapshot.attr_value[chosen].tolist(), strict=True):
        if value >= 0:
            names.setdefault(node, []).append(value)
    known: dict[tuple[int, ...], list[int]] = {}
    found = []
    elements = members[snapshot.kind[members] == ELEMENT]
    for node, name in zip(elements.tolist(), snapshot.name[elements].tolist(), strict=True):
        key = (name, *names.get(node, ()))
        if key not in known:
            known[key] = _numbers_of([snapshot.strings[i] for i in key])
        if known[key]:
            found.append((node, known[key]))
    return found


def _numbers_of(names: list[str]) -> list[int]:
    """The patterns that match an element's tag or a word of its class, id or role."""
    # The root's names tell of the site, not of a part of the page.
    if names[0] in _ROOT_TAGS:
        return []
    tokens = {token for name in names[1:] for token in name[:200].split()}
    numbers = {number for token in tokens for number in _token_numbers(token)}
    if names[0] in _TELLING_TAGS:
        numbers.update(_pattern_numbers(names[0]))
    return sorted(numbers)


@lru_cache(maxsize=1 << 16)
def _token_numbers(token: str) -> frozenset[int]:
    """Which patterns match a word of a class, an id or a role, such as `postBody-2`."""
    words = {word.lower() for word in _NAME_WORD.findall(token)}
    return frozenset(number for word in words for number in _pattern_numbers(word))


@lru_cache(maxsize=1 << 16)
def _pattern_numbers(word: str) -> tuple[int, ...]:
    """Which patterns match a word; sites use a few words again and again."""
    return tuple(number for number, pattern in enumerate(_COMPILED) if pattern.search(word))


def _title_overlap(page: Page) -> Float32:
    """[b, 2] of words shared with the title."""
    out = np.zeros((len(page), 2), np.float32)
    title = _title_words(page.snapshot)
    if not title:
        return out
    for block, text in enumerate(page.text):
        words = set(_WORD.findall(text[:400].lower()))
        shared = len(words & title)
        if shared:
            out[block] = shared / len(words), shared / len(title)
    return out


def _title_words(snapshot: Snapshot) -> set[str]:
    for node in np.flatnonzero(named(snapshot, frozenset({"title"}))).tolist():
        texts = np.flatnonzero(snapshot.parent == node).tolist()
        return set(_WORD.findall(" ".join(snapshot.text(text) for text in texts).lower()))
    return set()
