"""The content tree as Markdown, GitHub's flavour.

A writer of its own: markdownify takes a millisecond a paragraph and quadratic time for lists, and
it breaks on row spans, on pipes in cells, on fences in code and on `<` in plain text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree

from .places import BLOCKS, CELLS, HEADINGS, LISTS, MARKS

_SPECIAL = re.compile(r"[\\`*\[\]~]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w+;)|!$")
_AT_LINE_START = re.compile(r"(?=#{1,6}(?:\s|$)|[-+](?:[\s-]|$)|>|=+\s*$|\||:-)")
_NUMBER_AT_LINE_START = re.compile(r"(\d{1,9})(?=[.)](?:\s|$))")
_CLOSING_HASHES = re.compile(r"(?<!\S)(?=#+$)")
_NOT_BARE_IN_LINK = re.compile(r"[\s()<>\\]")
_TIGHT = frozenset({"li", "dl"})
_ROWS = frozenset({"thead", "tbody", "tr"})
# Empty cells that spans may add for each cell that is there.
_MOST_ADDED = 10


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    columns: int
    rows: int


@dataclass(slots=True)
class _Frame:
    """What has been written of an open element."""

    tag: str
    blocks: list[str] = field(default_factory=list)
    is_list: list[bool] = field(default_factory=list)  # of each block
    line: list[str] = field(default_factory=list)  # inline text that no block has ended; br is "\n"
    rows: list[list[_Cell]] = field(default_factory=list)

    def add(self, block: str, is_list: bool = False) -> None:
        if block:
            self.blocks.append(block)
            self.is_list.append(is_list)

    def lines(self) -> list[str]:
        """The inline text so far, taken out."""
        lines = [line.strip() for line in "".join(self.line).split("\n")]
        self.line.clear()
        return [line for line in lines if line]

    def end_line(self) -> None:
        """Make a paragraph of the inline text."""
        self.add("  \n".join(_guarded(line) for line in self.lines()))

    def body(self) -> str:
        """All blocks as one text."""
        self.end_line()
        tight = self.tag in _TIGHT
        gaps = ["", *("\n" if tight and is_list else "\n\n" for is_list in self.is_list[1:])]
        return "".join(gap + block for gap, block in zip(gaps, self.blocks, strict=False))


def to_markdown(tree: etree._Element) -> str:
    """The content as GitHub flavoured Markdown.

    A line break is two spaces at a line's end; a definition is a list item below its term; the
    first row of a table is its head. Subscripts, superscripts and line breaks in cells are HTML.
    """
    writer = _Writer()
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        if event == "start":
            writer.start(element)
        else:
            writer.end(element)
    return writer.frames[0].body()


class _Writer:
    """Writes the elements from the inside out."""

    def __init__(self) -> None:
        self.frames = [_Frame("")]
        self.cells = 0  # depth of cells: no block can stand in them
        self.raw = 0  # depth of code

    def start(self, element: etree._Element) -> None:
        tag = element.tag
        if tag in BLOCKS and tag not in CELLS:
            self.frames[-1].end_line()
        if tag == "tr":
            self.frames[-1].rows.append([])
        if tag in BLOCKS - _ROWS or tag in MARKS:
            self.frames.append(_Frame(tag))
        self.cells += tag in CELLS
        self.raw += tag in ("code", "pre")
        self._write(element.text)

    def end(self, element: etree._Element) -> None:
        tag = element.tag
        self.raw -= tag in ("code", "pre")
        if tag == "br":
            self.frames[-1].line.append(" " if self.raw else "\n")
        elif tag == "img":
            self.frames[-1].line.append(f"![]({_address(element.get('src', ''))})")
        elif tag in MARKS:
            self._end_mark(element, "".join(self.frames.pop().line))
        elif tag in CELLS:
            self.cells -= 1
            self.frames[-2].rows[-1].append(_cell(element, self.frames.pop()))
        elif tag in BLOCKS - _ROWS:
            frame = self.frames.pop()
            block = self._in_cell(frame) if self.cells else self._block(frame)
            self.frames[-1].add(block, tag in LISTS or tag == "dd")
        self._write(element.tail)

    def _write(self, text: str | None) -> None:
        if text:
            self.frames[-1].line.append(text if self.raw else _SPECIAL.sub(r"\\\g<0>", text))

    def _end_mark(self, element: etree._Element, text: str) -> None:
        line = self.frames[-1].line
        before, after = "".join(line[-1:])[-1:], _first_after(element)
        if element.tag == "a":
            text = f"[{text}]({_address(element.get('href', ''))})"
        elif element.tag == "code":
            text = _code(text)
        elif element.tag in ("sub", "sup"):
            text = f"<{element.tag}>{text}</{element.tag}>"
        else:
            text = _emphasised(before, text, after, strong=element.tag == "strong")
        line.append(text)

    def _block(self, frame: _Frame) -> str:
        tag = frame.tag
        if tag in HEADINGS:
            return f"{'#' * int(tag[1])} {_CLOSING_HASHES.sub(_BACKSLASH, ' '.join(frame.lines()))}"
        if tag == "pre":
            return _fenced("".join(frame.line))
        if tag == "table":
            # Of a table whose cells were all dropped, the caption may be left.
            rows = [_table(frame.rows)] if any(frame.rows) else []
            return "\n\n".join([*frame.blocks, *rows])
        if tag in LISTS:
            return "\n".join(frame.blocks)
        if tag == "li":
            return _indented(frame.body(), self._marker())
        if tag == "dd":
            return _indented(frame.body(), "- ")
        if tag == "blockquote":
            return re.sub("^(.?)", lambda m: f"> {m[1]}" if m[1] else ">", frame.body(), flags=re.M)
        return frame.body()

    def _in_cell(self, frame: _Frame) -> str:
        if frame.tag == "pre":
            return "\n".join(_code(line) for line in "".join(frame.line).split("\n") if line)
        return frame.body()

    def _marker(self) -> str:
        """The marker of the next item; a list right after a list has another one than that."""
        items, around = self.frames[-1], self.frames[-2]
        before = around.blocks[-1] if around.is_list[-1:] == [True] else ""
        if items.tag == "ul":
            return "* " if before.startswith("- ") else "- "
        number = len(items.blocks) + 1
        return f"{number}) " if re.match(r"\d+\. ", before) else f"{number}. "


_BACKSLASH = r"\\"


def _guarded(line: str) -> str:
    """A line of text that nobody takes for a heading, a list, a quotation or a table."""
    line = _AT_LINE_START.sub(_BACKSLASH, line, count=1) if _AT_LINE_START.match(line) else line
    number = _NUMBER_AT_LINE_START.match(line)
    return f"{number[0]}\\{line[number.end() :]}" if number else line


def _indented(text: str, marker: str) -> str:
    return marker + re.sub("\n(?!\n|$)", "\n" + " " * len(marker), text)


def _fence_length(text: str, least: int) -> int:
    return max([least, *(len(run) + 1 for run in re.findall("`+", text))])


def _fenced(text: str) -> str:
    fence = "`" * _fence_length(text, 3)
    return f"{fence}\n{text}\n{fence}"


def _code(text: str) -> str:
    fence = "`" * _fence_length(text, 1)
    gap = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{gap}{text}{gap}{fence}"


def _address(address: str) -> str:
    if not _NOT_BARE_IN_LINK.search(address):
        return address
    for character in " <>\\":
        address = address.replace(character, f"%{ord(character):02X}")
    return f"<{address}>"


def _emphasised(before: str, text: str, after: str, strong: bool) -> str:
    """Text with stars around it, or as it is where Markdown would show the stars."""
    stars = "**" if strong else "*" if before.isalnum() or after.isalnum() else "_"
    opens = text[:1].isalnum() or not before.isalnum()
    closes = text[-1:].isalnum() or not after.isalnum()
    if not opens or not closes or (before == "*" and stars[0] == "*"):
        return text
    return stars + text + stars


def _first_after(element: etree._Element) -> str:
    """The character behind an element, a star for the markup of another one."""
    if element.tail:
        return str(element.tail[0])
    following = element.getnext()
    return "*" if following is not None and following.tag in MARKS else ""


def _cell(element: etree._Element, frame: _Frame) -> _Cell:
    lines = (line.strip() for line in frame.body().split("\n"))
    text = "<br>".join(line for line in lines if line).replace("|", r"\|")
    return _Cell(text, int(element.get("colspan", 1)), int(element.get("rowspan", 1)))


def _table(rows: list[list[_Cell]]) -> str:
    grid = _grid(rows)
    width = max(len(row) for row in grid)
    grid[0] += [""] * (width - len(grid[0]))
    lines = [f"| {' | '.join(row)} |" for row in grid]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def _grid(rows: list[list[_Cell]]) -> list[list[str]]:
    """The texts of the cells, with an empty one wherever a cell spans."""
    budget = _MOST_ADDED * sum(len(row) for row in rows)
    taken: dict[int, int] = {}  # column → the first row that no cell from above spans
    grid = []
    for number, row in enumerate(rows):
        texts: list[str] = []
        for cell in row:
            while taken.get(len(texts), 0) > number and budget > 0:
                texts.append("")
                budget -= 1
            columns = cell.columns if budget >= cell.columns else 1
            if cell.rows > 1:
                taken |= {len(texts) + i: number + cell.rows for i in range(columns)}
            texts += [cell.text, *[""] * (columns - 1)]
            budget -= columns - 1
        grid.append(texts)
    return grid
