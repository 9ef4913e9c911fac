"""The characters of an HTML source that can become text, each with its place in the source."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq

Int32 = npt.NDArray[np.int32]

NO_PLACE = -1

_ATTRIBUTES = r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')|=)*+(?:>|\Z)"""
_MARKUP = re.compile(
    rf"""
      <!--(?:-?>|.*?(?:--!?>|\Z))
    | <(?P<raw>script|style|title|textarea|xmp|iframe|noframes|noembed)(?=[\s/>]){_ATTRIBUTES}
      .*?(?=</(?P=raw)[\s/>]|\Z)
    | </?[a-z]{_ATTRIBUTES}
    | <(?:[!?]|/[^a-z])[^>]*(?:>|\Z)
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_ENTITY = re.compile(r"&(?:\#[0-9]+|\#x[0-9a-f]+|[a-z][a-z0-9]*);?", re.IGNORECASE)
# NUL characters are dropped by HTML parsers.
_SOLID = re.compile(r"[^\s\0]+")


@dataclass(frozen=True, slots=True)
class SourceText:
    """Text of an HTML source without markup and white space, entities decoded.

    `text` has n characters. `places` [n] are their positions in the source, NO_PLACE for those
    that an entity stands for. `starts` [s] are the offsets in `text` of the s runs of text that
    no markup interrupts.
    """

    text: str
    places: Int32
    starts: tuple[int, ...]

    def runs(self) -> tuple[str, ...]:
        """The text of each run [s]."""
        bounds = pairwise((*self.starts, len(self.text)))
        return tuple(self.text[start:end] for start, end in bounds)


def solid(text: str) -> str:
    """A text without its white space, since parsers and alignments differ in it.

    >>> solid(" white  space ")
    'whitespace'
    """
    return "".join(_SOLID.findall(text))


def source_text(source: str) -> SourceText:
    """Split an HTML source into markup and text, as an HTML5 tokenizer does but for rare states."""
    pieces: list[tuple[str, int]] = []
    starts: list[int] = []
    length = 0
    for start, end in _text_ranges(source):
        run = list(_pieces(source, start, end))
        if run:
            starts.append(length)
            length += sum(len(text) for text, _ in run)
            pieces += run
    return SourceText("".join(text for text, _ in pieces), _places(pieces), tuple(starts))


def _places(pieces: list[tuple[str, int]]) -> Int32:
    lengths = np.array([len(text) for text, _ in pieces], np.int32)
    # [n] over the characters: the place of the piece, and the offset in it
    bases = np.repeat(np.array([place for _, place in pieces], np.int32), lengths)
    offsets = np.arange(len(bases)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.where(bases == NO_PLACE, NO_PLACE, bases + offsets).astype(np.int32)


def _text_ranges(source: str) -> Iterator[tuple[int, int]]:
    position = 0
    for markup in _MARKUP.finditer(source):
        if markup.start() > position:
            yield position, markup.start()
        position = markup.end()
    if position < len(source):
        yield position, len(source)


def _pieces(source: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Solid pieces of the source from start to end, each with its place."""
    for entity in _ENTITY.finditer(source, start, end):
        literal = entity.group()
        decoded = html.unescape(literal)
        if decoded == literal:
            continue
        yield from _solid_pieces(source, start, entity.start())
        # "&ampere" is an ampersand and a literal "ere".
        tail = _shared_end(decoded, literal)
        if meant := solid(decoded[: len(decoded) - tail]):
            yield meant, NO_PLACE
        start = entity.end() - tail
    yield from _solid_pieces(source, start, end)


def _shared_end(first: str, second: str) -> int:
    length = 0
    while length < len(first) and first[-1 - length] == second[-1 - length]:
        length += 1
    return length


def _solid_pieces(source: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    for piece in _SOLID.finditer(source, start, end):
        yield piece.group(), piece.start()


def locate(page: SourceText, leaf_texts: Sequence[str]) -> Int32:
    """Start and end of each leaf in the page's text -> [b, 2], both NO_PLACE where not found.

    Leaves that are whole runs of text are matched in order. A parser may have merged or split
    the others: they are looked for between their neighbours. Or it moved them, as it moves text
    out of a table: they are looked for anywhere no other leaf is.
    """
    leaves = [solid(text) for text in leaf_texts]
    starts = _match_runs(page, leaves)
    starts = _match_between(page.text, leaves, starts)
    starts = _match_moved(page.text, leaves, starts)
    lengths = np.array([len(leaf) for leaf in leaves], np.int32)
    ends = np.where(starts == NO_PLACE, NO_PLACE, starts + lengths)
    return np.stack([starts, ends], axis=1)


def _match_runs(page: SourceText, leaves: list[str]) -> Int32:
    starts = np.full(len(leaves), NO_PLACE, np.int32)
    for block in LCSseq.opcodes(leaves, page.runs()):
        if block.tag == "equal":
            runs = page.starts[block.dest_start : block.dest_end]
            starts[block.src_start : block.src_end] = runs
    return starts


def _match_between(text: str, leaves: list[str], starts: Int32) -> Int32:
    found = starts.copy()
    # [b] where the next leaf that is found starts
    bounds = np.minimum.accumulate(np.where(starts == NO_PLACE, len(text), starts)[::-1])[::-1]
    cursor = 0
    for number, leaf in enumerate(leaves):
        if found[number] == NO_PLACE and leaf:
            found[number] = text.find(leaf, cursor, int(bounds[number]))
        if found[number] != NO_PLACE:
            cursor = int(found[number]) + len(leaf)
    return found


def _match_moved(text: str, leaves: list[str], starts: Int32) -> Int32:
    found = starts.copy()
    free = np.ones(len(text), np.bool_)
    for start, leaf in zip(starts, leaves, strict=True):
        if start != NO_PLACE:
            free[start : start + len(leaf)] = False
    for number in np.flatnonzero(starts == NO_PLACE):
        leaf = leaves[number]
        start = text.find(leaf) if leaf else NO_PLACE
        while start != NO_PLACE and not free[start : start + len(leaf)].all():
            start = text.find(leaf, start + 1)
        found[number] = start
        free[start : start + len(leaf)] = False
    return found
