"""A Snapshot: one page as it was laid out, in columns.

Nodes stand in pre-order of the composed tree: shadow roots are walked, slots hold what is slotted
into them, a frame's document stands below its frame element. All texts live once in `strings`;
columns of `int32` hold their numbers. Boxes are (x, y, width, height) in CSS pixels of the page,
the ones of frames included.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import SnapshotError
from .files import write_whole

FORMAT = 1

ELEMENT, TEXT, COMMENT, DOCUMENT, FRAGMENT, PSEUDO = 1, 3, 8, 9, 11, 255

STYLES = (
    "display",
    "visibility",
    "opacity",
    "position",
    "z-index",
    "float",
    "overflow-x",
    "overflow-y",
    "clip-path",
    "font-family",
    "font-size",
    "font-weight",
    "font-style",
    "line-height",
    "color",
    "background-color",
    "text-align",
    "text-decoration-line",
    "white-space-collapse",
    "cursor",
)

Int32 = npt.NDArray[np.int32]
UInt8 = npt.NDArray[np.uint8]
Float32 = npt.NDArray[np.float32]

_KINDS = {"row_box": "f", "line_box": "f"}  # of the columns that are not whole numbers


@dataclass(frozen=True, slots=True)
class Meta:
    """What is known of the page as a whole.

    url: as it was asked for; resolved_url: after redirects and scripts.
    http_status: 0 where nothing was fetched. maker: "chromium" or "static".
    browser: the build, such as "HeadlessChrome/140.0.7339.16"; empty for a static parse.
    viewport, page_size: (width, height) in CSS pixels; zeros for a static parse.
    frames: URL of each document, the page's own first.
    cut: why the capture is incomplete: any of "deadline", "bytes", "nodes".
    """

    url: str = ""
    resolved_url: str = ""
    http_status: int = 0
    content_type: str = "text/html"
    maker: str = "static"
    browser: str = ""
    viewport: tuple[int, int] = (0, 0)
    page_size: tuple[int, int] = (0, 0)
    screenshot_scale: float = 0.0
    frames: tuple[str, ...] = ("",)
    cut: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """One page in columns: n nodes, a attributes, m layout rows, k line boxes, s style rows."""

    meta: Meta
    strings: tuple[str, ...]
    parent: Int32  # [n] node number, -1 for the page's document
    kind: UInt8  # [n] DOM nodeType, or PSEUDO
    name: Int32  # [n] string: lower-case tag, "#text", "::before"
    value: Int32  # [n] string of a text, comment or pseudo element; -1 for others
    frame: Int32  # [n] index into meta.frames
    attr_start: Int32  # [n + 1] attributes of node i are attr_start[i]:attr_start[i + 1]
    attr_name: Int32  # [a] string
    attr_value: Int32  # [a] string, -1 for an empty one
    row_node: Int32  # [m] the node of a layout row
    row_box: Float32  # [m, 4]
    row_style: Int32  # [m] row of `styles`; a text has its parent's
    row_paint: Int32  # [m] paint order, larger is nearer to the eye
    line_row: Int32  # [k] the layout row of a line box
    line_box: Float32  # [k, 4]
    styles: Int32  # [s, len(STYLES)] string: computed value
    screenshot: bytes = b""  # JPEG of the page's top at meta.screenshot_scale

    def __post_init__(self) -> None:
        for column in self._columns().values():
            column.setflags(write=False)

    @property
    def rendered(self) -> bool:
        """Whether a browser laid the page out, so that boxes and styles are known."""
        return self.meta.maker == "chromium"

    def text(self, node: int) -> str:
        """The text of a text node as it stands in the DOM."""
        return self.strings[self.value[node]] if self.value[node] >= 0 else ""

    def tag(self, node: int) -> str:
        """The lower-case tag of a node."""
        return self.strings[self.name[node]]

    def attributes(self, node: int) -> dict[str, str]:
        """The attributes of a node."""
        start, end = self.attr_start[node : node + 2].tolist()
        keys, values = self.attr_name[start:end].tolist(), self.attr_value[start:end].tolist()
        texts = self.strings
        return {
            texts[key]: texts[value] if value >= 0 else ""
            for key, value in zip(keys, values, strict=True)
        }

    def ancestors(self, node: int) -> Iterator[int]:
        """The nodes above a node, nearest first."""
        above = int(self.parent[node])
        while above >= 0:
            yield above
            above = int(self.parent[above])

    def with_meta(self, **changes: Any) -> Snapshot:
        """The same page with other facts about it."""
        return replace(self, meta=replace(self.meta, **changes))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one file, whole or not at all. Raises OSError."""
        write_whole(Path(path), self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Snapshot:
        """Read a file that `save` wrote. Raises OSError, SnapshotError."""
        return cls.from_bytes(Path(path).read_bytes(), name=str(path))

    def to_bytes(self) -> bytes:
        """The file's bytes: a zip of arrays, so that each is checked on reading."""
        texts = [text.encode("utf-8", "replace") for text in self.strings]
        head = json.dumps({"format": FORMAT, "styles": STYLES, "meta": asdict(self.meta)})
        arrays = self._columns() | {
            "head": np.frombuffer(head.encode(), np.uint8),
            "text_bytes": np.frombuffer(b"".join(texts), np.uint8),
            "text_sizes": np.array([len(text) for text in texts], np.int32),
            "screenshot": np.frombuffer(self.screenshot, np.uint8),
        }
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes, name: str = "snapshot") -> Snapshot:
        """The reverse of `to_bytes`. Raises SnapshotError."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                arrays = {key: file[key] for key in file.files}
            head = json.loads(arrays["head"].tobytes())
            version, styles = head["format"], tuple(head["styles"])
        except Exception as error:  # zipfile, zlib and numpy raise a dozen kinds on damaged bytes
            raise SnapshotError(f"{name}: not a snapshot, or a damaged one") from error
        if version != FORMAT or styles != STYLES:
            raise SnapshotError(f"{name}: snapshot of format {version}, this is format {FORMAT}")
        try:
            return cls._assemble(head["meta"], arrays)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise SnapshotError(f"{name}: damaged snapshot: {error}") from error

    @classmethod
    def _assemble(cls, meta: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Snapshot:
        blob, ends = arrays["text_bytes"].tobytes(), np.cumsum(arrays["text_sizes"]).tolist()
        starts = [0, *ends[:-1]]
        strings = tuple(blob[a:b].decode() for a, b in zip(starts, ends, strict=False))
        facts: Any = {key: tuple(v) if isinstance(v, list) else v for key, v in meta.items()}
        columns = {field.name: arrays[field.name] for field in fields(cls)[2:-1]}
        snapshot = cls(Meta(**facts), strings, **columns, screenshot=arrays["screenshot"].tobytes())
        snapshot.check()
        return snapshot

    def check(self) -> None:
        """Raise ValueError where the columns do not fit together."""
        n, rows, lines = len(self.parent), len(self.row_node), len(self.line_row)
        attributes = len(self.attr_name)
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("kind", "name", "value", "frame"), (n,))
        shapes |= {"parent": (n,), "attr_start": (n + 1,), "attr_name": (attributes,)}
        shapes |= {"attr_value": (attributes,), "row_node": (rows,), "row_box": (rows, 4)}
        shapes |= {"row_style": (rows,), "row_paint": (rows,), "line_row": (lines,)}
        shapes |= {"line_box": (lines, 4), "styles": (len(self.styles), len(STYLES))}
        for name, column in self._columns().items():
            if column.shape != shapes[name] or column.dtype.kind not in _KINDS.get(name, "iu"):
                raise ValueError(f"the column {name} has the wrong shape or type")
        if n and not ((self.parent >= -1) & (self.parent < np.arange(n))).all():
            raise ValueError("a node stands before its parent")
        if (self.kind[self.parent[self.parent >= 0]] == TEXT).any():
            raise ValueError("a text holds other nodes")
        starts = self.attr_start
        if starts[0] != 0 or starts[-1] != attributes or (np.diff(starts) < 0).any():
            raise ValueError("attributes belong to no node")
        strings = len(self.strings)
        for column, low, size in (
            (self.name, 0, strings),
            (self.value, -1, strings),
            (self.attr_name, 0, strings),
            (self.attr_value, -1, strings),
            (self.styles, -1, strings),
            (self.row_node, 0, n),
            (self.row_style, -1, len(self.styles)),
            (self.line_row, 0, rows),
            (self.frame, 0, len(self.meta.frames)),
        ):
            if column.size and not (int(column.min()) >= low and int(column.max()) < size):
                raise ValueError("a column points outside its table")

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in fields(self)[2:-1]}
