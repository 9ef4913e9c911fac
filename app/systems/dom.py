"""Page source as an lxml tree, for the systems written here.

The tree is that of an HTML5 parser: libxml2's own loses content on pages with stray tags.
"""

from __future__ import annotations

import re

from lxml import etree, html

from ...render.snapshot import ELEMENT, TEXT, Snapshot
from ...render.static import parse

# Their text is never read by a person.
UNSEEN = frozenset(
    {"head", "script", "style", "noscript", "template", "iframe", "object", "select", "textarea"}
)

UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML cannot hold."""

_NAME = re.compile(r"[A-Za-z_][\w.-]*\Z", re.ASCII)
_FRAME = {"iframe": "div", "frame": "div", "frameset": "div"}


def parse_html(source: str) -> html.HtmlElement:
    """The tree of a page's source; an empty `html` where there is none."""
    return tree_of(parse(source.encode("utf-8", "replace"), "utf-8"))


def tree_of(snapshot: Snapshot) -> html.HtmlElement:
    """The elements, attributes and texts of a Snapshot as one tree.

    Shadow roots and the documents of frames stand where people see them; pseudo elements, comments
    and attributes with names that XML does not know are left out.
    """
    has_document = {int(above) for above in snapshot.parent[1:][snapshot.kind[1:] == 9]}
    root: html.HtmlElement | None = None
    elements: dict[int, html.HtmlElement] = {}
    for node in range(len(snapshot.parent)):
        above = elements.get(int(snapshot.parent[node]))
        kind = int(snapshot.kind[node])
        if kind == ELEMENT:
            tag = snapshot.tag(node)
            if not _NAME.match(tag):
                tag = "span"
            elif node in has_document:
                tag = _FRAME.get(tag, tag)
            elif tag in ("html", "body") and above is not None and above.tag != "html":
                tag = "div"  # of a frame
            element = html.Element(tag) if above is None else etree.SubElement(above, tag)
            root = element if root is None else root
            for name, value in snapshot.attributes(node).items():
                if _NAME.match(name):
                    element.set(name, UNPRINTABLE.sub("", value))
            elements[node] = element
        elif kind == TEXT and above is not None:
            _append_text(above, UNPRINTABLE.sub("", snapshot.text(node)))
        elif above is not None and kind not in (8, 255):
            elements[node] = above  # a document or a shadow root: its nodes belong to its host
    return root if root is not None else html.Element("html")


def write_html(snapshot: Snapshot) -> str:
    """The rendered DOM as a page's source, for systems that read HTML."""
    return "<!DOCTYPE html>\n" + etree.tostring(
        tree_of(snapshot), method="html", encoding="unicode"
    )


def _append_text(element: html.HtmlElement, text: str) -> None:
    if len(element):
        element[-1].tail = (element[-1].tail or "") + text
    else:
        element.text = (element.text or "") + text
