"""The collapsed DOM against plain recursion on small trees, and against a page done by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Union

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.layout.cdom import (
    BLOCK_TAGS,
    DROPPED,
    Cdom,
    collapse,
    covered,
    depths,
    depths_within,
    is_blank,
    named,
    subtree_ends,
)
from pagesight.render.builder import SnapshotBuilder
from pagesight.render.capture import Renderer
from pagesight.render.loop import LoopThread
from pagesight.render.snapshot import DOCUMENT, ELEMENT, TEXT, Meta, Snapshot
from pagesight.render.static import parse

# The tree as lists: a text, or a tag and what stands below it.
Tree = Union[str, tuple[str, list["Tree"]]]  # noqa: UP007 a forward reference


def test_a_page_by_hand() -> None:
    """
    html ─ head ─ title ─ "dropped"                 title is no text of the page
         └ body ┬ div ─ p ─ b ─ "one"               A: div p b #text, one child after the other
                ├ ul ┬ li ┬ "two"
                │    │    └ a ─ "three"
                │    ├ " "                           blank
                │    ├ li ─ img                      nothing is left of it
                │    └ li ─ "four"
                ├ script ─ "dropped"
                └ p ┬ i ─ "five"
                    ├ br
                    └ "six"

    Groups in pre-order, with their leaves and their parents:
      0 [html body] 0-6 ─┬ 1 [div p b "one"] 0-1
                         ├ 2 [ul] 1-4 ─┬ 3 [li] 1-3 ─┬ 4 ["two"] 1-2
                         │             │             └ 5 [a "three"] 2-3
                         │             └ 6 [li "four"] 3-4
                         └ 7 [p] 4-6 ─┬ 8 [i "five"] 4-5
                                      └ 9 ["six"] 5-6
    """
    page = parse(
        b"<title>dropped</title><body><div><p><b>one</b></p></div><ul><li>two<a>three</a></li> "
        b"<li><img></li><li>four</li></ul><script>dropped</script><p><i>five</i><br>six</p>",
        "utf-8",
    )
    tree = collapse(page)
    assert [page.text(node) for node in tree.leaf_node] == [
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
    ]
    assert tree.leaves == 6
    groups: list[list[str]] = [[] for _ in tree.group_parent]
    for node, group in zip(tree.member_node, tree.member_group, strict=True):
        groups[group].append(page.tag(node) if page.kind[node] == ELEMENT else page.text(node))
    groups[0].remove("")  # the document itself
    assert groups == [
        ["html", "body"],
        ["div", "p", "b", "one"],
        ["ul"],
        ["li"],
        ["two"],
        ["a", "three"],
        ["li", "four"],
        ["p"],
        ["i", "five"],
        ["six"],
    ]
    assert tree.group_parent.tolist() == [-1, 0, 0, 2, 3, 3, 2, 0, 7, 7]
    assert tree.group_depth.tolist() == [0, 1, 1, 2, 3, 3, 2, 1, 2, 2]
    assert tree.first_leaf.tolist() == [0, 0, 1, 1, 1, 2, 3, 4, 4, 5]
    assert tree.last_leaf.tolist() == [6, 1, 4, 3, 2, 3, 4, 6, 5, 6]
    assert tree.leaf_group.tolist() == [1, 4, 5, 6, 8, 9]
    assert tree.common_ancestor.tolist() == [0, 3, 2, 0, 7]
    #                                     one   two  three  four  five   six
    assert tree.break_before.tolist() == [True, True, False, True, True, True]


@dataclass
class Group:
    """A group as the recursion finds it."""

    members: list[int]
    first: int
    last: int
    children: list[Group] = field(default_factory=list)


class Reference:
    """The collapsed DOM by the words of the paper, with recursion and lists."""

    def __init__(self, page: Snapshot) -> None:
        self.page = page
        self.below: dict[int, list[int]] = {}
        for node, parent in enumerate(page.parent.tolist()):
            self.below.setdefault(parent, []).append(node)
        self.leaves: list[int] = []
        self.root = self.collapse(0)
        self.groups = [*self.walk(self.root, -1)] if self.root else []

    def collapse(self, node: int) -> Group | None:
        if self.page.kind[node] == TEXT:
            if not self.page.text(node).strip(" \n\u200b\xa0"):
                return None
            self.leaves.append(node)
            return Group([node], len(self.leaves) - 1, len(self.leaves))
        if self.page.tag(node) in DROPPED:
            return None
        kept = [group for child in self.below.get(node, []) if (group := self.collapse(child))]
        if len(kept) < 2:
            for group in kept:
                group.members.insert(0, node)
            return kept[0] if kept else None
        return Group([node], kept[0].first, kept[-1].last, kept)

    def walk(self, group: Group, parent: int) -> Iterator[tuple[Group, int, int]]:
        """Groups in pre-order, each with its number and its parent's."""
        self.count = getattr(self, "count", -1) + 1
        number = self.count
        yield group, number, parent
        for child in group.children:
            yield from self.walk(child, number)

    def tour(self, node: int = 0) -> Iterator[int]:
        """The Euler tour: each node as it is entered, and again as it is left."""
        yield node
        for child in self.below.get(node, []):
            yield from self.tour(child)
        yield node

    def breaks(self) -> list[bool]:
        found, since = [], True
        for node in self.tour():
            since = since or self.page.tag(node) in BLOCK_TAGS
            if node in self.leaves and len(found) == self.leaves.index(node):
                found.append(since)
                since = False
        return found

    def ancestor(self, leaf: int) -> int:
        """The lowest group that holds a leaf and the next one."""
        holding = [n for g, n, _ in self.groups if g.first <= leaf and g.last > leaf + 1]
        return holding[-1]


TAGS = ["p", "div", "b", "a", "span", "ul", "li", "br", "script", "h1", "td", "select", "x-y"]
TREES = st.recursive(
    st.sampled_from(["one", "two words", " ", "\u200b", "\xa0\n", ""]),
    lambda below: st.tuples(st.sampled_from(TAGS), st.lists(below, max_size=4)),
    max_leaves=25,
)


def snapshot_of(trees: list[Tree]) -> Snapshot:
    builder = SnapshotBuilder()
    root = builder.add(-1, "#document")
    todo: list[tuple[int, Tree]] = [(root, tree) for tree in trees[::-1]]
    while todo:
        parent, tree = todo.pop()
        if isinstance(tree, str):
            builder.add(parent, "#text", tree)
        else:
            node = builder.add(parent, tree[0])
            todo += [(node, below) for below in tree[1][::-1]]
    return builder.build(Meta())


@given(st.lists(TREES, max_size=4))
@settings(max_examples=300, deadline=None)
def test_against_recursion(trees: list[Tree]) -> None:
    page = snapshot_of(trees)
    tree, wanted = collapse(page), Reference(page)
    assert tree.leaf_node.tolist() == wanted.leaves
    assert tree.break_before.tolist() == wanted.breaks()
    assert tree.group_parent.tolist() == [parent for _, _, parent in wanted.groups]
    assert tree.first_leaf.tolist() == [group.first for group, _, _ in wanted.groups]
    assert tree.last_leaf.tolist() == [group.last for group, _, _ in wanted.groups]
    members = [(node, number) for group, number, _ in wanted.groups for node in group.members]
    assert [*zip(tree.member_node.tolist(), tree.member_group.tolist(), strict=True)] == members
    own = {group.members[-1]: number for group, number, _ in wanted.groups}
    assert tree.leaf_group.tolist() == [own[leaf] for leaf in wanted.leaves]
    pairs = range(max(len(wanted.leaves) - 1, 0))
    assert tree.common_ancestor.tolist() == [wanted.ancestor(leaf) for leaf in pairs]
    depth: list[int] = []
    for _, _, parent in wanted.groups:
        depth.append(depth[parent] + 1 if parent >= 0 else 0)
    assert tree.group_depth.tolist() == depth


# Parents of a tree in pre-order: each is on the path to the node before.
@st.composite
def parents(draw: st.DrawFn, max_size: int = 30) -> list[int]:
    found: list[int] = []
    for node in range(draw(st.integers(0, max_size))):
        path, above = [-1], node - 1
        while above >= 0:
            path.append(above)
            above = found[above]
        found.append(draw(st.sampled_from(path)))
    return found


def ancestors(parent: list[int], node: int) -> list[int]:
    return [parent[node], *ancestors(parent, parent[node])] if parent[node] >= 0 else []


@given(parents(), st.data())
@settings(max_examples=150, deadline=None)
def test_arrays_of_trees(parent: list[int], data: st.DataObject) -> None:
    column, size = np.array(parent, np.int32), len(parent)
    above = [ancestors(parent, node) for node in range(size)]
    assert depths(column).tolist() == [len(nodes) for nodes in above]
    counted = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    weighted = depths(column, np.array(counted, bool)).tolist()
    assert weighted == [sum(counted[a] for a in nodes) for nodes in above]
    ends = subtree_ends(column)
    assert depths_within(ends, np.array(counted, bool)).tolist() == weighted
    assert ends.tolist() == [
        max([node, *(other for other in range(size) if node in above[other])]) + 1
        for node in range(size)
    ]
    starts = data.draw(st.lists(st.integers(0, size - 1), unique=True) if size else st.just([]))
    inside = covered(np.array(starts, np.int32), ends).tolist()
    assert inside == [bool({node, *above[node]} & {*starts}) for node in range(size)]


def test_deep_trees_need_no_recursion() -> None:
    size = 100_000
    chain = np.arange(-1, size - 1, dtype=np.int32)
    assert depths(chain).tolist() == [*range(size)]
    assert subtree_ends(chain).tolist() == [size] * size


def assert_empty(tree: Cdom) -> None:
    assert tree.leaves == 0
    for name in ("leaf_group", "member_node", "group_parent", "first_leaf", "break_before"):
        assert getattr(tree, name).shape == (0,)
    assert tree.common_ancestor.shape == (0,)


@pytest.mark.parametrize(
    "html", ["", " ", "<p> </p><br>", "<script>x</script>", "<title>x</title>"]
)
def test_pages_without_text(html: str) -> None:
    assert_empty(collapse(parse(html.encode(), "utf-8")))


def test_no_nodes_at_all() -> None:
    assert_empty(collapse(SnapshotBuilder().build(Meta())))


def test_one_leaf_is_one_group() -> None:
    tree = collapse(parse(b"<main><p><i>x", "utf-8"))
    assert tree.group_parent.tolist() == [-1]
    assert tree.leaf_group.tolist() == [0]
    assert tree.common_ancestor.shape == (0,)
    assert tree.break_before.tolist() == [True]


@pytest.mark.parametrize(
    ("text", "blank"),
    [
        *(("", True), (" \t\n\f\r", True), ("\xa0", True), ("\u200b", True), ("\ufeff \xad", True)),
        *(("\u3000", True), (" \u200d\xa0\u2060", True), (".", False), (" x ", False)),
        *(("\u200bx", False), ("0", False), ("\u0301", False)),
    ],
)
def test_what_nobody_sees_is_blank(text: str, blank: bool) -> None:
    assert is_blank(text) is blank


def test_named_is_of_elements_alone() -> None:
    builder = SnapshotBuilder()
    builder.add(builder.add(builder.add(-1, "a"), "a"), "a")
    page = replace(builder.build(Meta()), kind=np.array([DOCUMENT, ELEMENT, TEXT], np.uint8))
    assert named(page, frozenset({"a", "b"})).tolist() == [False, True, False]
    assert not named(page, frozenset()).any()


def test_markup_that_was_not_parsed_is_no_text() -> None:
    html = "<iframe><p>a</p></iframe><noembed><p>b</p></noembed><p>c<noframes><p>d</p></noframes>"
    page = parse(html.encode(), "utf-8")
    assert [page.text(node) for node in collapse(page).leaf_node] == ["c"]


def test_breaks_of_a_rendered_page(loop: LoopThread, renderer: Renderer) -> None:
    """The display that was computed tells blocks, not the tag."""
    html = b"""<!doctype html><style>.i{display:inline} .b{display:block} .ib{display:inline-block}
    .c{display:contents} .f{display:flex}</style><body><span>1</span><span>2</span><span class=b>3
    </span><span>4</span><p class=i>5</p><p class=i>6</p><b class=ib>7</b><br>8<i class=c>9</i><i
    class=f><u>10</u><u>11</u></i>"""
    page = loop.run(renderer.replay(html, "http://page.example/", "utf-8"))
    tree = collapse(page)
    broken = {
        int(page.text(node)): bool(flag)
        for node, flag in zip(tree.leaf_node, tree.break_before, strict=True)
    }
    assert [number for number, flag in broken.items() if flag] == [1, 3, 4, 8, 10, 11]
