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

HINT = "the page is made by scripts: render it"


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


def is_shell(page: Page, content: npt.NDArray[np.bool_]) -> bool:
    """Whether what was kept of a page is no more than what stands there until scripts have run."""
    if page.snapshot.rendered or not named(page.snapshot, frozenset({"script"})).any():
        return False
    words = sum(len(page.text[block].split()) for block in np.flatnonzero(content).tolist())
    return words < _SHELL_WORDS
