"""What authors call the parts of a page: words in tags, classes, ids and roles above a block.

Pages of 2007 wrote `<div id="nav">` where later ones write `<nav>`: one column stands for both, so
that a model trained on the former reads the latter.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache, reduce
from operator import or_

import numpy as np
import numpy.typing as npt

from ...render.snapshot import TEXT
from .schema import FeatureSet, Float32
from .survey import Survey, attribute

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
_ANY = re.compile("|".join(PATTERNS.values()))
_WORD = re.compile(r"\w+")
_NAME_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_ROOT_TAGS = frozenset({"html", "body"})
_TELLING_TAGS = frozenset(
    "address article aside blockquote button code dialog figcaption figure footer form h1 h2 h3 h4 "
    "h5 h6 header label main menu nav pre search select summary time".split()
)
_DECAY = 0.85  # how much of a name's say is left one element further down
_STRUCTURE = (
    ("h1", "h2", "h3", "h4", "h5", "h6"),
    ("li", "dd", "dt"),
    ("td", "th"),
)
_SIGNS = len(PATTERNS) + len(_STRUCTURE)
_LONGEST_NAME = 200  # characters that are looked at of a class, an id or a role
_BEGINNING = 400  # characters of a block that are held against the title


def name_features(survey: Survey) -> Float32:
    """[b, len(NAMES)] from 0 to 1; a name on the block's own element counts 1, higher up less."""
    page = survey.page
    out = np.zeros((len(page), len(NAMES)), np.float32)
    if not len(page):
        return out
    size = len(PATTERNS)
    leaf_depth = survey.depth[page.tree.leaf_node]
    nearest = _nearest(survey)
    # The last entry stands for "none".
    decay = np.append(_DECAY ** np.arange(leaf_depth.max() + 1), 0)
    out[:, :size] = decay[np.where(nearest < 0, -1, leaf_depth[:, None] - 1 - nearest)[:, :size]]
    out[:, size : size + 2] = _title_overlap(survey)
    out[:, size + 2 :] = nearest[:, size:] >= 0
    return out


def _nearest(survey: Survey) -> Int32:
    """The depth of the nearest element above each block that has each sign, or -1, [b, signs].

    The signs are those of PATTERNS, then those of _STRUCTURE.
    """
    snapshot, tree = survey.page.snapshot, survey.page.tree
    # A shadow root and a frame's document lead on to the elements above them.
    node = tree.member_node[snapshot.kind[tree.member_node] != TEXT]  # [e] in pre-order
    rank = np.full(len(snapshot.parent) + 1, len(node), np.int32)  # the last: "no parent"
    rank[node] = np.arange(len(node))
    matches = (_matches(survey, node)[:, None] >> np.arange(_SIGNS)) & 1
    depth = np.full((len(node) + 1, _SIGNS), -1, np.int32)
    np.copyto(depth[:-1], survey.depth[node, None], where=matches > 0)
    above = np.append(rank[snapshot.parent[node]], len(node))
    # The nearest is the deepest. By pointer doubling: after k rounds 2^k nodes are looked at.
    while (above < len(node)).any():
        depth, above = np.maximum(depth, depth[above]), above[above]
    return depth[rank[snapshot.parent[tree.leaf_node]]]


def _matches(survey: Survey, node: Int32) -> Int32:
    """The signs that the tag, class, id or role of each of e nodes is, a bit each, [e]."""
    snapshot = survey.page.snapshot
    named = [survey.classes, attribute(snapshot, "id"), attribute(snapshot, "role")]
    value = np.stack([column[node] for column in named])  # [3, e]
    known = np.zeros(len(snapshot.strings) + 1, np.int32)  # the last entry stands for "none"
    known[value] = 1
    used = np.flatnonzero(known[:-1])
    known[used] = [_name_bits(snapshot.strings[number]) for number in used.tolist()]
    known[-1] = 0
    of_tag = np.zeros(len(snapshot.strings), np.int32)
    for tag, number in survey.tags.number.items():
        of_tag[number] = _tag_bits().get(tag, 0)
    matched = np.bitwise_or.reduce(known[value], axis=0) | of_tag[snapshot.name[node]]
    # The root's names tell of the site, not of a part of the page.
    return np.where(survey.tags.named(*_ROOT_TAGS)[node], 0, matched)


@cache
def _tag_bits() -> dict[str, int]:
    """The patterns that match a tag, and the structure that it makes, a bit each."""
    bits = {tag: _word_bits(tag) for tag in _TELLING_TAGS}
    for number, tags in enumerate(_STRUCTURE, start=len(PATTERNS)):
        bits |= {tag: bits.get(tag, 0) | 1 << number for tag in tags}
    return bits


def _name_bits(name: str) -> int:
    """The patterns that match a class, an id or a role, a bit each."""
    return reduce(or_, map(_token_bits, name[:_LONGEST_NAME].split()), 0)


@lru_cache(maxsize=1 << 16)
def _token_bits(token: str) -> int:
    """The patterns that match a word of a name such as `postBody-2`, a bit each."""
    return reduce(or_, map(_word_bits, map(str.lower, _NAME_WORD.findall(token))), 0)


@lru_cache(maxsize=1 << 16)
def _word_bits(word: str) -> int:
    """The patterns that match a word, a bit each; sites use a few words again and again."""
    if not _ANY.search(word):
        return 0
    return sum(1 << number for number, pattern in enumerate(_COMPILED) if pattern.search(word))


def _title_overlap(survey: Survey) -> Float32:
    """[b, 2] of words shared with the title."""
    page = survey.page
    out = np.zeros((len(page), 2), np.float32)
    title = _title_words(survey)
    if not title:
        return out
    for block, (text, words) in enumerate(zip(page.text, survey.words, strict=True)):
        own = _beginning(text, words)
        shared = len(own & title)
        if shared:
            out[block] = shared / len(own), shared / len(title)
    return out


def _beginning(text: str, words: list[str]) -> set[str]:
    """The words at the beginning of a block, in lower case."""
    # Lower case may part words of other alphabets.
    if len(text) <= _BEGINNING and text.isascii():
        return set(map(str.lower, words))
    return set(_WORD.findall(text[:_BEGINNING].lower()))


def _title_words(survey: Survey) -> set[str]:
    snapshot = survey.page.snapshot
    for node in np.flatnonzero(survey.tags.named("title")).tolist():
        texts = np.flatnonzero(snapshot.parent == node).tolist()
        return set(_WORD.findall(" ".join(snapshot.text(text) for text in texts).lower()))
    return set()
