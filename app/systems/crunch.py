"""Crunch: what is left of a page when its links, lists of links, advertisements and forms are gone.

S. Gupta, G. Kaiser, D. Neistadt, P. Grimm, "DOM-based Content Extraction of HTML Documents" (WWW
2003), with the settings that the authors' program starts with: it walks down the tree
and drops table cells with many links for their words, all other links, forms and their controls.

Two of its filters show in a page's layout, but not in its text. What comes from a host on its list
of advertisers is a link, a picture or a frame, and these are gone anyway; what else is an
advertisement is told here by a class or id that begins with such a word (but those of `html` and
`body`, which tell of the whole page). A table is empty that has no text left.
"""

from __future__ import annotations

import re

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
_ADVERTISING = re.compile(
    r"(?<!\S)(?:ads?|advert(?:s|ise(?:r|ment)s?|ising)?|banners?|sponsor(?:ed|s)?)(?![a-z])",
    re.IGNORECASE,
)


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
    """Whether an element is named as an advertisement."""
    names = (element.get("class", ""), element.get("id", ""))
    return element.tag not in _PAGE and any(map(_ADVERTISING.search, names))
