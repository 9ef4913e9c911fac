"""What a user names, and the bytes behind it."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.render.errors import (
    ForbiddenError,
    PagesightError,
    SnapshotError,
    SourceError,
    UnsupportedError,
)
from pagesight.render.guard import check_url
from pagesight.render.settings import Limits
from pagesight.render.snapshot import Snapshot
from pagesight.render.sources import Address, StoredPage, is_address, pages_of, resolve
from pagesight.render.static import parse

PAGE = b"<!doctype html><p>caf\xe9"


@pytest.mark.parametrize(
    "text",
    [
        *("https://example.com", "http://a/b?c=<d>", "HTTP://EXAMPLE.COM/", "http://[::1]/"),
        *("file:///etc/passwd", "file:page.html", "FILE:/x", "data:text/html,hello"),
        *("data:text/html;base64,PHA+eA==", "javascript:alert(1)", "about:blank", "view-source:x"),
        *("chrome://version", "mailto:a@b.example", "ws://a/", "x-new+scheme.1:anything"),
    ],
)
def test_addresses(text: str) -> None:
    assert is_address(text)
    assert resolve(text) == Address(text)


@pytest.mark.parametrize(
    "text",
    [
        "file:///etc/passwd",
        "file:page.html",
        "data:text/html,x",
        "javascript:alert(1)",
        "ftp://a/b",
    ],
)
def test_other_schemes_are_refused_later(text: str) -> None:
    source = resolve(text)
    assert isinstance(source, Address)
    with pytest.raises(ForbiddenError, match="only http and https"):
        check_url(source.url)


@pytest.mark.parametrize(
    "html",
    [
        *("<p>x", " \n<!doctype html>", "text <b>and</b> more", "note: <p>x", "a:<p>b"),
        *("data:text/html,<p>x", "1 < 2", "<", "<a href='http://x/'>y</a>"),
    ],
)
def test_html(html: str) -> None:
    assert not is_address(html)
    page = resolve(html, url="http://a.example/")
    assert page == StoredPage("html", html.encode(), "http://a.example/", "utf-8")


def test_html_with_a_lone_surrogate() -> None:
    page = resolve("<p>a\ud800b")
    assert isinstance(page, StoredPage)
    assert page.content == b"<p>a?b"


@pytest.mark.parametrize(
    "text", ["page.html", "c:/page", r"C:\page", ".", "a b: c", ":x", "1:x", "é:x"]
)
def test_all_else_is_a_path(text: str) -> None:
    assert not is_address(text)
    with pytest.raises(SourceError, match=r"no such file|a folder"):
        resolve(text)


@pytest.mark.parametrize("kind", [str, Path, os.fsencode])
def test_files(tmp_path: Path, kind: type) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(PAGE)
    if kind is os.fsencode:
        # Bytes are a page, never a path.
        assert resolve(os.fsencode(path)) == StoredPage("bytes", os.fsencode(path))
        return
    expected = StoredPage(str(path), PAGE, "http://a.example/")
    assert resolve(kind(path), url="http://a.example/") == expected


def test_a_file_whose_name_looks_like_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes:today.html").write_bytes(PAGE)
    Path("a<b.html").write_bytes(PAGE)
    assert resolve("notes:today.html") == Address("notes:today.html")
    for name in ("notes:today.html", "a<b.html"):
        page = resolve(Path(name))
        assert isinstance(page, StoredPage)
        assert page.content == PAGE


@pytest.mark.parametrize("suffix", ["xhtml", "xht", "XHTML", "xhtml.gz"])
def test_xhtml_by_its_name(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"page.{suffix}"
    path.write_bytes(gzip.compress(PAGE) if suffix.endswith("gz") else PAGE)
    page = resolve(path)
    assert isinstance(page, StoredPage)
    assert (page.content, page.content_type) == (PAGE, "application/xhtml+xml")


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"none\.html: no such file$"):
        resolve(tmp_path / "none.html")
    with pytest.raises(SourceError, match=r": a folder, not a page$"):
        resolve(tmp_path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(SourceError, match="symbolic links"):
        resolve(tmp_path / "loop")
    with pytest.raises(SourceError, match="too long"):
        resolve("x" * 5000)
    with pytest.raises(SourceError, match="no path: embedded null"):
        resolve("a\0b")
    with pytest.raises(SourceError, match="no path"):
        resolve("lone \ud800")
    (tmp_path / "page.html").write_bytes(PAGE)
    with pytest.raises(SourceError, match="Not a directory"):
        resolve(tmp_path / "page.html" / "x")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"%PDF-1.7\n", "a PDF"),
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"GIF89a", "a GIF image"),
        (b"PK\x03\x04rest", "a ZIP archive"),
        (b"\x7fELF\x02", "a program"),
        (b"RIFF\0\0\0\0WEBP", "binary data"),
        (b"<p>text\0", "binary data"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_no_web_pages(tmp_path: Path, content: bytes, what: str, packed: bool) -> None:
    (tmp_path / "page.html").write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(UnsupportedError, match=f"page.html: not a web page but {what}$"):
        resolve(tmp_path / "page.html")
    with pytest.raises(UnsupportedError, match=f"^bytes: not a web page but {what}$"):
        resolve(gzip.compress(content) if packed else content)


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-be"])
def test_utf16_is_no_binary_data(codec: str) -> None:
    content = "\ufeff<p>x".encode(codec) if codec == "utf-16-be" else "<p>x".encode(codec)
    assert resolve(content) == StoredPage("bytes", content)


def test_a_zero_byte_far_in_is_no_binary_data() -> None:
    content = b"<p>" + b"x" * 2000 + b"\0"
    assert resolve(content) == StoredPage("bytes", content)
    assert resolve(b"") == StoredPage("bytes", b"")


def test_gzip(tmp_path: Path) -> None:
    path = tmp_path / "page.html.gz"
    path.write_bytes(gzip.compress(PAGE))
    assert resolve(path) == StoredPage(str(path), PAGE)
    assert resolve(gzip.compress(b"")) == StoredPage("bytes", b"")
    # What `cat` and parallel packers write has several members; zeros may follow.
    members = gzip.compress(b"<p>one") + gzip.compress(b"") + gzip.compress(b"<p>two")
    assert resolve(members) == StoredPage("bytes", b"<p>one<p>two")
    assert resolve(members + b"\0" * 9) == StoredPage("bytes", b"<p>one<p>two")


def test_a_gzip_bomb_is_bounded() -> None:
    bomb = gzip.compress(b"<p>" + b"x" * 50_000_000)
    for content in (bomb, bomb + bomb, gzip.compress(b"<p>") + bomb):
        page = resolve(content, limits=Limits(bytes=1000))
        assert isinstance(page, StoredPage)
        assert len(page.content) == 1001  # so that the cut is seen


def test_a_damaged_gzip() -> None:
    packed = gzip.compress(os.urandom(300).hex().encode())
    for end in (2, 9, 12, len(packed) // 2, len(packed) - 1):
        with pytest.raises(SourceError, match=r"^bytes: damaged gzip file: "):
            resolve(packed[:end])
    with pytest.raises(SourceError, match="damaged gzip file"):
        resolve(packed[:-6] + b"\0\0\0\0\0\0")
    with pytest.raises(SourceError, match="damaged gzip file"):
        resolve(packed + packed[:20])


def test_no_more_than_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"x" * 5000)
    page = resolve(path, limits=Limits(bytes=2000))
    assert isinstance(page, StoredPage)
    assert len(page.content) == 2001


class Stdin:
    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Stdin(PAGE))
    assert resolve("-", url="http://a.example/") == StoredPage("-", PAGE, "http://a.example/")
    monkeypatch.setattr("sys.stdin", Stdin(gzip.compress(PAGE)))
    assert resolve("-") == StoredPage("-", PAGE)
    monkeypatch.setattr("sys.stdin", Stdin(b"x" * 50))
    page = resolve("-", limits=Limits(bytes=10))
    assert isinstance(page, StoredPage)
    assert page.content == b"x" * 11
    monkeypatch.setattr("sys.stdin", Stdin(b"%PDF-1"))
    with pytest.raises(UnsupportedError, match=r"^-: not a web page but a PDF$"):
        resolve("-")


@pytest.mark.parametrize("name", ["page.snapshot", "PAGE.SNAPSHOT"])
def test_snapshots(tmp_path: Path, name: str) -> None:
    snapshot = parse(b"<p>x", "utf-8")
    assert resolve(snapshot) is snapshot
    snapshot.save(tmp_path / name)
    # The limit is on pages: a snapshot is read whole.
    loaded = resolve(tmp_path / name, limits=Limits(bytes=10))
    assert isinstance(loaded, Snapshot)
    assert loaded.to_bytes() == snapshot.to_bytes()
    (tmp_path / name).write_bytes(snapshot.to_bytes()[:-9])
    with pytest.raises(SnapshotError, match=f"{name}: not a snapshot, or a damaged one"):
        resolve(tmp_path / name)
    with pytest.raises(SourceError, match="no such file"):
        resolve(tmp_path / "none.snapshot")


def test_an_address_for_each_stored_page() -> None:
    one, other = StoredPage("a", b"<p>1"), StoredPage("b", b"<p>2")
    assert one.address != other.address
    assert one.address == StoredPage("c", b"<p>1").address
    check_url(one.address)
    assert one.address.endswith(".invalid/")
    assert StoredPage("a", b"", "http://a.example/x").address == "http://a.example/x"


def test_pages_of_a_folder(tmp_path: Path) -> None:
    wanted = ["B.HTML", "a.htm", "b.html.gz", "c.d.xhtml", "s.snapshot", "sub/x.xht", "sub/y.Html"]
    others = [".p.snapshot.1.part", "a.txt", "html", "page.gz", "html.gz", "x.htmlx", "sub/i.png"]
    (tmp_path / "sub").mkdir()
    (tmp_path / "folder.html").mkdir()
    for name in (*wanted, *others):
        (tmp_path / name).write_bytes(PAGE)
    found = [path.relative_to(tmp_path).as_posix() for path in pages_of(tmp_path)]
    assert found == wanted
    assert [*pages_of(tmp_path / "none")] == []


@given(
    st.one_of(st.binary(max_size=80), st.binary(max_size=80).map(lambda b: b"\x1f\x8b\x08\0" + b))
)
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_a_page_or_an_error_of_one_line(content: bytes) -> None:
    message, page = "", None
    try:
        page = resolve(content, limits=Limits(bytes=100))
    except PagesightError as error:
        message = str(error)
    assert bool(message) == (page is None)
    assert "\n" not in message
    assert page is None or (isinstance(page, StoredPage) and len(page.content) <= 101)
