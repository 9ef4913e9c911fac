"""What a user names as a source, and the bytes behind it."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from .errors import SourceError, UnsupportedError
from .settings import Limits
from .snapshot import Snapshot

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:(//|[^\s<]*\Z)")
_PAGE_SUFFIXES = frozenset({".html", ".htm", ".xhtml", ".xht", ".snapshot"})
_SIGNATURES = (
    (b"%PDF-", "a PDF"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x7fELF", "a program"),
)
_SNIFFED = 1024


@dataclass(frozen=True, slots=True)
class Address:
    """A page to fetch."""

    url: str


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page whose bytes are at hand.

    name: as the user named it; url: where it came from, "" where nobody said; charset: the
    transport's label, "" for none.
    """

    name: str
    content: bytes
    url: str = ""
    charset: str = ""
    content_type: str = "text/html"

    @property
    def address(self) -> str:
        """A URL to render it at: its own, or one that no other page has and that leads nowhere."""
        return self.url or f"http://{hashlib.sha256(self.content).hexdigest()[:16]}.invalid/"


Source: TypeAlias = Address | StoredPage | Snapshot
Given: TypeAlias = "str | bytes | os.PathLike[str] | Snapshot"


def resolve(given: Given, url: str = "", limits: Limits | None = None) -> Source:
    """The source behind what a user gave.

    A `str` is an address where it starts with a scheme, HTML where it has a `<`, and a path
    otherwise; "-" is standard input; a file may be a page, gzipped or not, or a saved snapshot.

    Raises:
        SourceError: there is no such file.
        UnsupportedError: the bytes are no web page.
        SnapshotError: the file is a damaged snapshot.
    """
    limits = limits or Limits()
    if isinstance(given, Snapshot):
        return given
    if isinstance(given, bytes):
        return _stored("bytes", given, url, limits)
    if isinstance(given, str) and is_address(given):
        return Address(given)
    if isinstance(given, str) and ("<" in given or not given.strip()):
        return StoredPage("html", given.encode("utf-8", "replace"), url, "utf-8")
    if given == "-":
        return _stored("-", sys.stdin.buffer.read(limits.bytes + 1), url, limits)
    return _read(Path(given), url, limits)


def is_address(text: str) -> bool:
    """Whether a text names something by scheme, such as `https:` or `file:`."""
    # One letter before the colon is a drive, not a scheme.
    return bool(_SCHEME.match(text)) and text[1:2] != ":"


def host_of(url: str) -> str:
    """The host of an address, "" where there is none that can be read."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def pages_of(folder: Path) -> Iterator[Path]:
    """The pages and snapshots below a folder, in order of their paths."""
    for path in sorted(folder.rglob("*")):
        if _page_suffix(path) in _PAGE_SUFFIXES and path.is_file():
            yield path


def _page_suffix(path: Path) -> str:
    """The suffix in lower case, of what is packed where it is gzipped."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix == ".gz" else suffix


def _read(path: Path, url: str, limits: Limits) -> StoredPage | Snapshot:
    try:
        with path.open("rb") as file:
            content = file.read(max(limits.bytes, _SNIFFED) + 1)
    except FileNotFoundError:
        raise SourceError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise SourceError(f"{path}: a folder, not a page") from None
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise SourceError(f"{str(path)!r}: no path: {error}") from error
    if path.suffix.lower() == ".snapshot":
        return Snapshot.load(path)
    is_xml = _page_suffix(path) in {".xhtml", ".xht"}
    kind = "application/xhtml+xml" if is_xml else "text/html"
    return _stored(str(path), content, url, limits, kind)


def _stored(
    name: str, content: bytes, url: str, limits: Limits, content_type: str = "text/html"
) -> StoredPage:
    if content.startswith(b"\x1f\x8b"):
        content = _gunzip(name, content, limits.bytes + 1)
    for signature, what in _SIGNATURES:
        if content.startswith(signature):
            raise UnsupportedError(f"{name}: not a web page but {what}")
    head = content[:_SNIFFED]
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnsupportedError(f"{name}: not a web page but binary data")
    return StoredPage(name, content, url, "", content_type)


def _gunzip(name: str, content: bytes, most: int) -> bytes:
    """At most `most` bytes: a small file may unpack to a huge one. It may have several members."""
    unpacked = b""
    try:
        while content.startswith(b"\x1f\x8b") and len(unpacked) < most:
            unpack = zlib.decompressobj(wbits=31)
            unpacked += unpack.decompress(content, most - len(unpacked))
            if not unpack.eof and len(unpacked) < most:
                raise SourceError(f"{name}: damaged gzip file: it ends too early")
            content = unpack.unused_data
    except zlib.error as error:
        raise SourceError(f"{name}: damaged gzip file: {error}") from error
    return unpacked
