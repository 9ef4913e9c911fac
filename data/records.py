"""What every data set gives: page records, named splits, and files plain or gzipped."""

import gzip
import hashlib
import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from ..render.errors import DatasetError
from ..render.served import Served

ALL = "all"
PARTS = ("train", "validation", "test")

DROPPED = "\u25a1"
"""Stands in a mask for a character that is no content."""

# Page ids of each part of a split; the parts do not overlap.
Partition: TypeAlias = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PageRecord:
    """One page of a data set, with what its publishers say is the content.

    `content` is what to parse or render, `charset` its encoding or "" where the data set does not
    say. `gold` is the content as plain text, None where there is none (an empty string says that
    the page has no content). `mask` has one character for each character of the decoded content:
    the character itself where it is content, `DROPPED` where not. `marked` is the gold text with
    CleanEval's marks of segments. `with_snippets` must be in an extraction, `without_snippets` must
    not. `served` holds the style sheets, scripts and images that its rendering may load, None
    where the page came without them.
    """

    id: str
    url: str
    content: bytes
    charset: str
    gold: str | None
    mask: str | None = None
    marked: str | None = None
    page_type: str = ""
    title: str | None = None
    author: str | None = None
    date: str | None = None
    with_snippets: tuple[str, ...] = ()
    without_snippets: tuple[str, ...] = ()
    served: Served | None = None


class Dataset(ABC):
    """Pages in published order, read one at a time, and the splits over them.

    Every split has the parts of `PARTS`; `ALL` is the one split without parts.
    """

    name: ClassVar[str]

    def __init__(self, root: Path, order: tuple[str, ...], partitions: Mapping[str, Partition]):
        self.root = root
        self._order = order
        self._partitions = partitions

    @property
    def splits(self) -> tuple[str, ...]:
        """Names that `ids` takes."""
        return (ALL, *self._partitions)

    def ids(self, split: str = ALL, part: str = "") -> tuple[str, ...]:
        """Page ids of one part of a split, or of the whole of it, in published order.

        Raises DatasetError for an unknown split or part.
        """
        if split == ALL and not part:
            return self._order
        partition = self._partitions.get(split)
        if partition is None or part not in ("", *partition):
            known = ", ".join(self.splits)
            raise DatasetError(f"{self.name}: no split {split!r} {part!r}; there are {known}")
        wanted = set(partition[part]) if part else set().union(*partition.values())
        return tuple(id for id in self._order if id in wanted)

    @abstractmethod
    def load(self, id: str) -> PageRecord:
        """Read one page; raises DatasetError if a file of it is missing or damaged."""


def bucket(key: str, count: int) -> int:
    """Which of `count` equal buckets a key falls in: the same on every machine and run."""
    digest = hashlib.sha256(f"pagesight:{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % count


def read_bytes(path: Path) -> bytes:
    """Bytes of a file that lies there plain or as `.gz`; raises DatasetError."""
    try:
        if path.is_file():
            return path.read_bytes()
        return gzip.decompress(path.with_name(path.name + ".gz").read_bytes())
    except FileNotFoundError:
        raise DatasetError(f"{path}: no such file, nor with .gz") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"{path}: cannot be read: {error}") from error


def read_json(path: Path) -> Any:
    """A JSON file, plain or `.gz`; raises DatasetError."""
    try:
        return json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path}: no JSON: {error}") from error


def require(path: Path) -> Path:
    """The path, if it is there, plain or as `.gz`; raises DatasetError."""
    if not path.exists() and not path.with_name(path.name + ".gz").exists():
        raise DatasetError(f"{path}: missing; the data set is not laid out as published")
    return path
