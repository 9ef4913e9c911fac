"""Crunch: what is left of a page when its links, lists of links, advertisements and forms are gone.

S. Gupta, G. Kaiser, D. Neistadt, P. Grimm, "DOM-based Content Extraction of HTML Documents" (WWW
2003, section 3), with the settings that the authors' program starts with: it walks down the tree
and drops table cells with many links for their words, all other links, forms and their controls.

Two of its filters are not here as they were. The list of advertisement servers was a file of
thousands of hosts; here a host is one of advertisements by a word in it, and an element by a class
or id that begins with such a word (but `html` and `body`, whose names tell of the whole page). The
removal of empty tables shows in the page's layout only: a table is empty that has no text left.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
from lxml import html

from .dom import parse_html
from .protocol import StudyPage, System
from .texts import Tree, read_tree

Bool = npt.NDArray[np.bool_]

LINKS_PER_WORD = 0.25
"""A cell with more links for each of its words that is in no link is a list of links."""
LETTERS_PER_WORD = 5
"""Letters that make a word."""
_FORMS = frozenset({"form", "input", "button", "select", "textarea"})
_PAGE = frozenset({"html", "body"})
_WORDS = (
    r"(?:ads?|adserv(?:er|ing)?|advert(?:s|ise(?:r|ment)s?|ising)?|banners?|doubleclick"
    r"|sponsor(?:ed|s)?)(?![a-z])"
)
_NAMED = re.compile(r"(?<!\S)" + _WORDS, re.IGNORECASE)
_HOSTED = re.compile(r"(?<![a-z])" + _WORDS, re.IGNORECASE)


class Crunch(System):
    """Keeps the text that no filter removes."""

    name = "crunch"
    version = "1"

    def extract(self, page: StudyPage) -> str:
        """The text that is left, a line a block."""
        tree = read_tree(parse_html(page.html))
        is_link = np.array(
            [e.tag == "a" and e.get("href") is not None for e in tree.elements], np.bool_
        )
        removed = is_link | link_lists(tree, is_link) | tree.named(_FORMS)
        removed |= np.array([is_advertisement(element) for element in tree.elements], np.bool_)
        return tree.text(~tree.below(removed))


def link_lists(tree: Tree, is_link: Bool) -> Bool:
    """Which elements [n] are table cells with too many links for their words.

    Links and words are those of the page as it came, advertisements and forms included.
    """
    in_link = tree.below(is_link)
    letters = np.zeros(len(tree), np.int64)
    for at, text in tree.texts:
        if text != "\n" and not in_link[at]:
            letters[at] += len(text.strip())
    words = tree.totals(letters) / LETTERS_PER_WORD
    is_cell: Bool = tree.named(frozenset({"td"}))
    return is_cell & (tree.totals(is_link.astype(np.int64)) > LINKS_PER_WORD * words)


def is_advertisement(element: html.HtmlElement) -> bool:
    """Whether what an element shows comes from, or is named as, an advertiser's."""
    if element.tag in _PAGE:
        return False
    named = f"{element.get('class', '')} {element.get('id', '')}"
    return bool(_NAMED.search(named) or _HOSTED.search(_host(element)))


def _host(element: html.HtmlElement) -> str:
    address = element.get("href") or element.get("src") or ""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
