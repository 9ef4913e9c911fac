"""Told apart from success: error pages, walls, and pages that are empty until scripts have run."""

from __future__ import annotations

from http import HTTPStatus

import numpy as np
import numpy.typing as npt

from ..layout.cdom import named
from ..layout.page import Page
from ..render.snapshot import Snapshot
from .document import Document, Status

# The server knows the page and does not give it to this visitor.
_WALLS = frozenset({401, 402, 403, 407, 429, 451})
# A shell says "loading" or "enable JavaScript"; a page worth reading says more.
_SHELL_WORDS = 30
# With its menus and its footer.
_PAGE_WORDS = 150
_HOLDERS = frozenset({"article", "div", "main", "section"})

# What a page has that is more than a text.
_FURNITURE = frozenset({"a", "button", "form", "input", "nav", "script", "select"})

HINT = "the page may be made by scripts: render it"


def refusal(snapshot: Snapshot) -> Document | None:
    """The Document of a page that was answered with an HTTP error, None for any other."""
    code = snapshot.meta.http_status
    if code < 400:
        return None
    known = code in HTTPStatus.__members__.values()
    reason = f"HTTP {code} {HTTPStatus(code).phrase}" if known else f"HTTP {code}"
    return Document(
        Status.BLOCKED if code in _WALLS else Status.ERROR,
        error=f"{snapshot.meta.url}: {reason}",
        url=snapshot.meta.url,
        resolved_url=snapshot.meta.resolved_url or None,
    )


def has_scripts(snapshot: Snapshot) -> bool:
    """Whether a static parse may lack what scripts would have made."""
    return not snapshot.rendered and bool(named(snapshot, frozenset({"script"})).any())


def is_plain(page: Page) -> bool:
    """Whether a page is nothing but a text, without a link or a script: all of it is meant."""
    return not named(page.snapshot, _FURNITURE).any()


def is_shell(page: Page, content: npt.NDArray[np.bool_]) -> bool:
    """Whether what was kept of a page is no more than what stands there until scripts have run.

    Few words are kept, and there is a place for more: an element with an id and nothing in it, or
    a word for those whose scripts are off.
    """
    words = np.fromiter((len(text.split()) for text in page.text), np.int64, len(page))
    if words[content].sum() >= _SHELL_WORDS or words.sum() >= _PAGE_WORDS:
        return False
    if not has_scripts(page.snapshot):
        return False
    if named(page.snapshot, frozenset({"noscript"})).any():
        return True
    holders = np.flatnonzero(named(page.snapshot, _HOLDERS) & _is_bare(page)).tolist()
    return any("id" in page.snapshot.attributes(node) for node in holders)


def _is_bare(page: Page) -> npt.NDArray[np.bool_]:
    """Which of the n nodes have nothing but white space in them."""
    counted = np.concatenate(([0], np.cumsum(~page.tree.blank)))
    following = np.arange(1, len(page.tree.end) + 1)
    return counted[page.tree.end] == counted[following]
