"""The store of renderings: one key for all that decides them, whole files only."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesight.render.settings import RenderSettings
from pagesight.render.snapshot import Snapshot
from pagesight.render.sources import StoredPage
from pagesight.render.static import parse
from pagesight.render.store import ENVIRONMENT, Store, cache_folder

PAGE = StoredPage("page.html", b"<p>x", "http://a.example/", "utf-8")
SETTINGS = RenderSettings()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache")


@pytest.fixture
def snapshot() -> Snapshot:
    return parse(b"<p>one<p>two", "utf-8")


def files(store: Store) -> list[Path]:
    return [path for path in store.root.rglob("*") if path.is_file()]


def test_put_and_get(store: Store, snapshot: Snapshot) -> None:
    key = store.key(PAGE, SETTINGS, "Chromium/1")
    assert key not in store
    assert store.get(key) is None
    store.put(key, snapshot)
    assert key in store
    found = store.get(key)
    assert found is not None
    assert found.to_bytes() == snapshot.to_bytes()
    other = parse(b"<p>other", "utf-8")
    store.put(key, other)
    found = store.get(key)
    assert found is not None
    assert found.strings == other.strings
    assert len(files(store)) == 1
    assert Store(store.root.parent).get(key) is not None


def test_a_damaged_file_is_as_good_as_none(store: Store, snapshot: Snapshot) -> None:
    key = store.key(PAGE, SETTINGS, "")
    store.put(key, snapshot)
    (path,) = files(store)
    whole = path.read_bytes()
    for content in (
        b"",
        b"x",
        whole[:-1],
        whole[: len(whole) // 2],
        whole.replace(b"head", b"haed"),
    ):
        path.write_bytes(content)
        assert store.get(key) is None
        assert key not in store
    store.put(key, snapshot)
    assert store.get(key) is not None


def test_the_key_is_of_all_that_decides() -> None:
    store = Store(Path("unused"))
    changed = [
        replace(PAGE, content=b"<p>y"),
        replace(PAGE, url="http://a.example/2"),
        replace(PAGE, url=""),
        replace(PAGE, charset="windows-1252"),
        replace(PAGE, charset=""),
        replace(PAGE, content_type="application/xhtml+xml"),
    ]
    keys = [store.key(page, SETTINGS, "Chromium/1") for page in (PAGE, *changed)]
    keys.append(store.key(PAGE, SETTINGS, "Chromium/2"))
    for field in fields(RenderSettings):
        more = replace(SETTINGS, **{field.name: getattr(SETTINGS, field.name) + 1})
        keys.append(store.key(PAGE, more, "Chromium/1"))
    assert len(set(keys)) == len(keys)


def test_the_key_is_not_of_what_does_not_decide() -> None:
    key = Store(Path("a")).key(PAGE, SETTINGS, "Chromium/1")
    assert Store(Path("b")).key(replace(PAGE, name="other"), RenderSettings(), "Chromium/1") == key
    assert len(key) == 64


@given(st.binary(max_size=9), st.binary(max_size=9), st.text(max_size=5), st.text(max_size=5))
def test_keys_differ_where_pages_do(one: bytes, other: bytes, label: str, browser: str) -> None:
    store = Store(Path("unused"))
    first = store.key(StoredPage("", one, "http://a/", label), SETTINGS, browser)
    second = store.key(StoredPage("", other, "http://a/", label), SETTINGS, browser)
    assert (first == second) == (one == other)


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "here"))
    assert cache_folder() == tmp_path / "here"
    assert Store().root == tmp_path / "here" / "snapshots"
    monkeypatch.delenv(ENVIRONMENT)
    assert cache_folder().name == "pagesight"


# Each process puts its own page and reads what is there; it fails on a file that is not whole.
WRITER = """
import sys
from pathlib import Path
from pagesight.render.static import parse
from pagesight.render.store import Store

store, number = Store(Path(sys.argv[1])), int(sys.argv[2])
page = parse(b"".join(b"<p>%d %d" % (number, i) for i in range(200)), "utf-8")
print("ready", flush=True)
sys.stdin.readline()
for _ in range(40):
    store.put("ab" * 32, page)
    assert store.get("ab" * 32) is not None
"""


def test_processes_that_put_the_same_key(store: Store) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(store.root.parent), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    # Only now, so that they are at it at the same time.
    outcomes = [
        (writer.communicate("go\n", timeout=60)[1], writer.returncode) for writer in start(writers)
    ]
    assert outcomes == [("", 0)] * 3
    found = store.get("ab" * 32)
    assert found is not None
    assert len(found.parent) == 4 + 2 * 200
    assert len(files(store)) == 1


def start(writers: list[subprocess.Popen[str]]) -> list[subprocess.Popen[str]]:
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    return writers
