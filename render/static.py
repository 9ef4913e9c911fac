"""The static maker: an HTML5 parse without a browser, for speed and where no browser is there."""

from __future__ import annotations

import re
from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .builder import SnapshotBuilder
from .charset import decode
from .settings import Limits
from .snapshot import DOCUMENT, ELEMENT, FRAGMENT, TEXT, Meta, Snapshot

# HTML5 tree construction may walk the whole stack of open elements at each tag: that many steps
# take about a second. Browsers bound the depth at 512 instead; the deepest real page seen needed
# a thousandth of this, one full of self-closed shapes, which count as open here, most of it.
MAX_STEPS = 150_000_000
_HARMLESS_TAGS = 10_000

_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
_CLOSED_BY_OTHERS = frozenset(
    "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th "
    "thead tbody tfoot option optgroup colgroup rt rp html body head".split()
)


def parse(
    content: bytes,
    charset: str,
    meta: Meta | None = None,
    limits: Limits | None = None,
) -> Snapshot:
    """The DOM of `content` as an HTML5 parser with scripts switched off builds it.

    Args:
        content: the page's bytes; cut at `limits.bytes`.
        charset: a label of the Encoding Standard, see `charset.choose`.
        meta: what is known of the page; its `cut` grows by the limits that were met.
        limits: `bytes` and `nodes` are observed. There is no deadline: the parser's
            work is bounded before it starts.
    """
    limits, meta = limits or Limits(), meta or Meta()
    cut = list(meta.cut)
    if len(content) > limits.bytes:
        content, cut = content[: limits.bytes], [*cut, "bytes"]
    text = decode(content, charset)
    shallow = text[: _end_of_bounded_work(text)]
    builder = SnapshotBuilder()
    builder.add(-1, DOCUMENT, "#document")
    root = LexborHTMLParser(shallow).root
    whole = root is None or _add_tree(builder, root, 0, limits.nodes)
    if not whole or len(shallow) < len(text):
        cut.append("nodes")
    return builder.build(replace(meta, cut=tuple(dict.fromkeys(cut))))


def _add_tree(builder: SnapshotBuilder, root: LexborNode, parent: int, most: int) -> bool:
    """Add a subtree below `parent`; False where it was cut at `most` nodes."""
    numbers: dict[int, int] = {}
    for node in root.traverse(include_text=True):
        if len(builder.parent) >= most:
            return False
        above = node.parent
        number = numbers.get(above.mem_id, parent) if above is not None else parent
        tag = node.tag or "-"
        if tag == "-text":
            builder.add(number, TEXT, "#text", node.text_content or "")
        elif tag == "template" and "shadowrootmode" in node.attributes:
            # A declarative shadow root stands in its host, as Chromium lays it out.
            if not _add_shadow(builder, node, number, most):
                return False
        elif tag[0] not in "-!":
            # The contents of other templates are no part of the page.
            attributes = [(key, value or "") for key, value in node.attributes.items()]
            numbers[node.mem_id] = builder.add(number, ELEMENT, tag.lower(), None, attributes)
    return True


def _add_shadow(builder: SnapshotBuilder, template: LexborNode, host: int, most: int) -> bool:
    root = builder.add(host, FRAGMENT, "#document-fragment")
    children = template.template_fragments() or ()
    return all(_add_tree(builder, child, root, most) for child in children)


def _end_of_bounded_work(text: str) -> int:
    """How much of the source can be parsed within MAX_STEPS, estimated from above."""
    if text.count("<") <= _HARMLESS_TAGS:
        return len(text)
    depth = steps = 0
    for match in _TAG.finditer(text):
        if match[2].lower() not in _CLOSED_BY_OTHERS:
            depth = max(0, depth - 1) if match[1] else depth + 1
        steps += depth
        if steps > MAX_STEPS:
            return match.start()
    return len(text)
