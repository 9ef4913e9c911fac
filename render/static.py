"""The static maker: an HTML5 parse without a browser, for speed and where no browser is there."""

from __future__ import annotations

import re
from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .builder import TEXT_NAME, SnapshotBuilder
from .charset import as_utf8
from .settings import Limits
from .snapshot import Meta, Snapshot

# HTML5 tree construction may walk the whole stack of open elements at each tag: that many steps
# take about a second. Browsers bound the depth at 512 instead; the deepest real page seen needed
# a thousandth of this, one full of self-closed shapes, which count as open here, most of it.
MAX_STEPS = 150_000_000
_HARMLESS_TAGS = 10_000

_TAG = re.compile(rb"<(/?)([a-zA-Z][^\s/>]*)")
_CLOSED_BY_OTHERS = frozenset(
    b"area base br col embed hr img input link meta param source track wbr p li dt dd tr td th "
    b"thead tbody tfoot option optgroup colgroup rt rp html body head".split()
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
    content = as_utf8(content, charset)
    shallow = content[: _end_of_bounded_work(content)]
    builder = SnapshotBuilder()
    builder.add(-1, "#document")
    root = LexborHTMLParser(shallow).root
    whole = root is None or _add_tree(builder, root, limits.nodes)
    if not whole or len(shallow) < len(content):
        cut.append("nodes")
    return builder.build(replace(meta, cut=tuple(dict.fromkeys(cut))))


def _add_tree(page: SnapshotBuilder, root: LexborNode, most: int) -> bool:
    """Add a tree below the document; False where the page was cut at `most` nodes."""
    parents, names, counts = page.parent, page.name, page.attr_count
    add_keys, add_values = page.attr_name.extend, page.attr_value.extend
    numbers: dict[int, int] = {}  # of elements, by their identity in the parser
    known: dict[int, str] = {}  # names by the parser's numbers of tags
    # What is left of the tree and of each open shadow root, and which node that hangs below.
    walks = [(root.traverse(include_text=True), 0)]
    while walks:
        nodes, top = walks[-1]
        for node in nodes:
            name = known.get(node.tag_id)
            if name is None:
                name = known[node.tag_id] = _name(node.tag)
            if not name:
                continue
            number = len(parents)
            if number >= most:
                return False
            above = node.parent
            parents.append(top if above is None else numbers.get(above.mem_id, top))
            names.append(name)
            if name == TEXT_NAME:
                page.text.append(node.text_content or "")
                continue
            attributes = node.attributes
            if name == "template" and "shadowrootmode" in attributes:
                # It stands in its host, as Chromium lays it out. Contents of other templates are
                # no part of the page.
                names[-1], attributes = "#document-fragment", {}
                inside = node.template_fragments()
                walks += [(content.traverse(include_text=True), number) for content in inside]
            else:
                numbers[node.mem_id] = number
            counts.append(len(attributes))
            add_keys(attributes)
            add_values(attributes.values())
            if walks[-1][0] is not nodes:
                break
        else:
            walks.pop()
    return True


def _name(tag: str | None) -> str:
    """The name of a node in a Snapshot, "" for comments and the like, which it leaves out."""
    if tag == "-text":
        return TEXT_NAME
    return "" if tag is None or tag[0] in "-!" else tag.lower()


def _end_of_bounded_work(content: bytes) -> int:
    """How much of the source can be parsed within MAX_STEPS, estimated from above."""
    if content.count(b"<") <= _HARMLESS_TAGS:
        return len(content)
    depth = steps = 0
    for match in _TAG.finditer(content):
        if match[2].lower() not in _CLOSED_BY_OTHERS:
            depth = max(0, depth - 1) if match[1] else depth + 1
        steps += depth
        if steps > MAX_STEPS:
            return match.start()
    return len(content)
