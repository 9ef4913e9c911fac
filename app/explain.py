"""Why the model decided as it did: the page's picture with its blocks, as one file.

The HTML opens offline and loads nothing. All that comes from the page travels as JSON in an inert
script element, and reaches the view as text only.
"""

from __future__ import annotations

import base64
import io
import json
from importlib.resources import files
from typing import Any

from ..layout.overlay import colour, draw
from ..layout.page import Labels, Page
from ..render.errors import PagesightError
from .blocks import Block
from .document import Document

_MARK = "{{data}}"
# Enough to see which block it is.
_MOST_CHARACTERS = 600
# What could end the script element, or a line of a script.
_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def explain_html(page: Page, document: Document) -> str:
    """A self-contained HTML file that shows each block on the page's picture, and what was kept.

    Raises PagesightError for a page that was not rendered.
    """
    _check_rendered(page)
    template = files(__package__).joinpath("explain.html").read_text("utf-8")
    head, _, tail = template.partition(_MARK)
    return head + json.dumps(_data(page, document), ensure_ascii=False).translate(_ESCAPES) + tail


def explain_png(page: Page, labels: Labels) -> bytes:
    """The page's picture with its blocks, as a PNG. Raises PagesightError, SnapshotError."""
    _check_rendered(page)
    buffer = io.BytesIO()
    draw(page, labels).save(buffer, "PNG")
    return buffer.getvalue()


def _check_rendered(page: Page) -> None:
    if not page.snapshot.rendered:
        raise PagesightError("explain needs a rendering: a page that is only parsed has no picture")


def _data(page: Page, document: Document) -> dict[str, Any]:
    """What `explain.html` reads; lengths are CSS pixels. The stage is as wide as the viewport."""
    meta, picture = page.snapshot.meta, base64.b64encode(page.snapshot.screenshot).decode()
    return {
        "title": document.title or "",
        "url": document.resolved_url or document.url or "",
        "status": document.status,
        "confidence": document.confidence,
        "width": meta.viewport[0],
        "height": max(meta.page_size[1], 1),
        "picture": f"data:image/jpeg;base64,{picture}" if picture else "",
        "blocks": [_shown(block) for block in document.blocks],
    }


def _shown(block: Block) -> dict[str, Any]:
    short = block.text[:_MOST_CHARACTERS]
    return {
        "id": block.id,
        "text": short if short == block.text else short + " …",
        "kept": block.label == "content",
        "probability": block.probability,
        "reason": block.reason,
        "box": block.bbox,
        "path": block.xpath or "",
        "colour": "{} {} {}".format(*colour(block.probability)),
    }
