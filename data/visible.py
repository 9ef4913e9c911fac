"""The text that a reader sees in one part of a page, from its source alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from selectolax.lexbor import LexborHTMLParser, LexborNode

_UNSEEN = "script, style, template, noscript, head, svg, iframe, object, audio, video"
_HIDDEN = re.compile(r"(display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w+")

_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset"
    " figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main nav ol p pre"
    " section summary table tbody td tfoot th thead tr ul".split()
)


def visible_text(html: str, main: str, drop: Iterable[str] = ()) -> str:
    """The text of the elements that CSS selector `main` finds, without those of `drop`.

    Block elements stand on lines of their own; white space is one blank but in `pre`; what is
    hidden in the source is left out.
    """
    tree = LexborHTMLParser(html)
    left_out = {node.mem_id for selector in (_UNSEEN, *drop) for node in tree.css(selector)}
    lines: list[str] = []
    end = None
    for node in tree.css(main):
        # In document order: what stands in a found element follows it.
        if end is None or not _inside(node, end):
            lines += _lines(node, left_out)
            end = node
    return "\n".join(line for line in lines if line.strip())


def count_words(text: str) -> int:
    """How many words a text has."""
    return len(_WORD.findall(text))


def _inside(node: LexborNode, outer: LexborNode) -> bool:
    above = node.parent
    while above is not None and above.mem_id != outer.mem_id:
        above = above.parent
    return above is not None


def _lines(root: LexborNode, left_out: set[int]) -> list[str]:
    lines, line, kept = [], "", 0
    # Of an element that has been entered, its tag waits for its end.
    waiting: list[LexborNode | str] = [root]
    while waiting:
        node = waiting.pop()
        tag = node if isinstance(node, str) else str(node.tag)
        if isinstance(node, LexborNode) and tag == "-text":
            text = node.text_content or ""
            if not kept:
                text = _SPACE.sub(" ", text)
                text = text.lstrip() if not line or line.endswith(" ") else text
            first, *more = text.split("\n")
            line += first
            for part in more:
                lines.append(line.rstrip())
                line = part
            continue
        if isinstance(node, LexborNode):
            if node.mem_id in left_out or _hidden(node):
                continue
            waiting += [tag, *reversed(_shown(node))]
        if tag == "pre":
            kept += 1 if isinstance(node, LexborNode) else -1
        if tag in _BLOCKS or tag == "br":
            lines.append(line.rstrip())
            line = ""
    return [*lines, line.rstrip()]


def _shown(node: LexborNode) -> list[LexborNode]:
    """The children; of closed details only what opens them."""
    closed = node.tag == "details" and "open" not in node.attributes
    children = node.iter(include_text=True)
    return [child for child in children if not closed or child.tag == "summary"]


def _hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    return "hidden" in attributes or bool(_HIDDEN.search(attributes.get("style") or ""))
