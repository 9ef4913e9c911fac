"""A snapshot's file: what was saved is what is read, and damage is always told as such."""

from __future__ import annotations

import dataclasses
import io
import json
import random
import threading
import time
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pagesight.layout.features import extract
from pagesight.layout.page import build_page
from pagesight.render.builder import SnapshotBuilder
from pagesight.render.capture import Renderer
from pagesight.render.errors import SnapshotError
from pagesight.render.loop import LoopThread
from pagesight.render.snapshot import (
    STYLES,
    Meta,
    Snapshot,
)

COLUMNS = [
    field.name for field in fields(Snapshot) if field.name not in ("meta", "strings", "screenshot")
]
# What UTF-8 can hold; the makers replace lone surrogates.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
METAS = st.builds(
    Meta,
    url=TEXTS,
    resolved_url=TEXTS,
    http_status=st.integers(0, 599),
    maker=st.sampled_from(["static", "chromium"]),
    viewport=st.tuples(st.integers(0, 4000), st.integers(0, 4000)),
    screenshot_scale=st.floats(0, 2),
    frames=st.lists(TEXTS, min_size=1, max_size=3).map(tuple),
    cut=st.lists(st.sampled_from(["deadline", "bytes", "nodes"])).map(tuple),
)


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """Small trees with a layout that fits them."""
    meta, builder = draw(METAS), SnapshotBuilder()
    elements, frames = [builder.add(-1, "#document")], [0]
    for _ in range(draw(st.integers(0, 8))):
        parent = draw(st.sampled_from(elements))
        frames.append(draw(st.integers(0, len(meta.frames) - 1)))
        if draw(st.booleans()):
            builder.add(parent, "#text", draw(TEXTS))
        else:
            attributes = draw(st.dictionaries(TEXTS, TEXTS, max_size=3))
            elements.append(add(builder, parent, draw(st.sampled_from(["p", "b"])), attributes))
    plain = builder.build(meta)
    strings = tuple(dict.fromkeys((*plain.strings, *"abc")))
    styles, rows = draw(st.integers(1, 3)), draw(st.integers(0, 4))
    lines = draw(st.integers(0, 3)) if rows else 0
    rng = random.Random(draw(st.integers(0, 99)))
    values = [[strings.index(rng.choice("abc")) for _ in STYLES] for _ in range(styles)]
    return replace(
        plain,
        strings=strings,
        screenshot=draw(st.binary(max_size=9)),
        frame=ints(frames),
        styles=np.array(values, np.int32),
        row_node=ints(rng.randrange(len(frames)) for _ in range(rows)),
        row_box=boxes(rng, rows),
        row_style=ints(rng.randrange(styles) for _ in range(rows)),
        row_paint=ints(range(rows)),
        line_row=ints(rng.randrange(rows) for _ in range(lines)),
        line_box=boxes(rng, lines),
    )


def add(builder: SnapshotBuilder, parent: int, tag: str, attributes: dict[str, str]) -> int:
    """Append an element with attributes."""
    number = builder.add(parent, tag)
    builder.attr_count[-1] = len(attributes)
    builder.attr_name += attributes
    builder.attr_value += attributes.values()
    return number


def ints(numbers: Any) -> npt.NDArray[np.int32]:
    return np.array([*numbers], np.int32)


def boxes(rng: random.Random, size: int) -> npt.NDArray[np.float32]:
    return np.array(
        [[rng.uniform(-9, 999) for _ in range(4)] for _ in range(size)], np.float32
    ).reshape(-1, 4)


def assert_equal(one: Snapshot, other: Snapshot) -> None:
    assert (one.meta, one.strings, one.screenshot) == (other.meta, other.strings, other.screenshot)
    for name in COLUMNS:
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype, name
        np.testing.assert_array_equal(a, b, err_msg=name)


@cache
def sample() -> Snapshot:
    builder = SnapshotBuilder()
    root = builder.add(-1, "#document")
    part = add(builder, root, "p", {"class": "lead", "id": ""})
    builder.add(part, "#text", "Grüße, 世界")
    builder.add(part, "#text", "")
    builder.add(builder.add(root, "b"), "#text", "and more")
    plain = builder.build(Meta(url="http://a.example/", frames=("http://a.example/",)))
    return replace(plain, screenshot=b"\xff\xd8")


@given(snapshots())
@settings(max_examples=60, deadline=None)
def test_saved_and_loaded_is_the_same(snapshot: Snapshot) -> None:
    content = snapshot.to_bytes()
    loaded = Snapshot.from_bytes(content)
    assert_equal(loaded, snapshot)
    assert loaded.to_bytes() == content


def test_through_a_file(tmp_path: Path) -> None:
    path = tmp_path / "page.snapshot"
    sample().save(path)
    assert path.read_bytes() == sample().to_bytes()
    assert_equal(Snapshot.load(str(path)), sample())
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.snapshot"]


def test_bytes_do_not_depend_on_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = sample().to_bytes()
    later = time.time() + 1e8
    monkeypatch.setattr(time, "time", lambda: later)
    assert sample().to_bytes() == now


def test_accessors() -> None:
    page = sample()
    assert [page.tag(node) for node in range(6)] == [
        "#document",
        "p",
        "#text",
        "#text",
        "b",
        "#text",
    ]
    assert [page.text(node) for node in range(6)] == ["", "", "Grüße, 世界", "", "", "and more"]
    assert page.attributes(1) == {"class": "lead", "id": ""}
    assert page.attributes(4) == {}
    assert [*page.ancestors(5)] == [4, 0]
    assert not page.rendered
    changed = page.with_meta(maker="chromium", cut=("nodes",))
    assert changed.rendered
    assert changed.meta == replace(page.meta, maker="chromium", cut=("nodes",))
    assert page.meta.cut == ()


@pytest.mark.parametrize("made", ["built", "loaded"])
def test_immutable(made: str) -> None:
    page = sample() if made == "built" else Snapshot.from_bytes(sample().to_bytes())
    for name in COLUMNS:
        column = getattr(page, name)
        with pytest.raises(ValueError, match="read-only"):
            column[...] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        page.screenshot = b""  # type: ignore[misc]


def rewritten(**changes: Any) -> bytes:
    """The sample's file with other arrays, None for none."""
    with np.load(io.BytesIO(sample().to_bytes())) as file:
        arrays = {key: file[key] for key in file.files} | changes
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{k: v for k, v in arrays.items() if v is not None})
    return buffer.getvalue()


def head(**changes: Any) -> npt.NDArray[np.uint8]:
    with np.load(io.BytesIO(sample().to_bytes())) as file:
        facts = json.loads(file["head"].tobytes()) | changes
    return encoded({key: value for key, value in facts.items() if value is not None})


def encoded(value: Any) -> npt.NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def test_rewriting_without_a_change_is_harmless() -> None:
    assert_equal(Snapshot.from_bytes(rewritten(head=head())), sample())


@pytest.mark.parametrize("changes", [{"format": 0}, {"format": 2}, {"styles": ["display"]}])
def test_other_versions_are_told_apart_from_damage(changes: dict[str, Any]) -> None:
    with pytest.raises(SnapshotError, match=r"^old: snapshot of format \d, this is format 1$"):
        Snapshot.from_bytes(rewritten(head=head(**changes)), name="old")


@pytest.mark.parametrize(
    "changes",
    [
        {"head": None},
        {"head": encoded([])},
        {"head": encoded({})},
        {"head": np.frombuffer(b"{", np.uint8)},
        {"head": np.frombuffer(b"\xff", np.uint8)},
        {"head": head(styles=None)},
        {"head": head(styles=3)},
        {"head": head(meta=None)},
        {"head": head(meta=[])},
        {"head": head(meta={"surprise": 1})},
        {"head": head(meta={"frames": 7})},
        {"text_sizes": np.array([1000], np.int32)},
        {"text_bytes": np.frombuffer(b"\xff" * 200, np.uint8)},
        {"screenshot": None},
        {"parent": np.zeros(6, np.int32)},
        {"parent": np.array([-1, 0, 0, 0, -2, 0], np.int32)},
        {"kind": np.zeros(5, np.uint8)},
        {"value": np.zeros(6, np.float32)},
        {"name": np.full(6, 99, np.int32)},
        {"attr_start": np.array([0, 1, 0, 2, 2, 2, 2], np.int32)},
        {"attr_start": np.array([0, 0, 0, 0, 0, 0, 0], np.int32)},
        {"attr_value": np.array([-2, 0], np.int32)},
        {"frame": np.full(6, 1, np.int32)},
        {"row_node": np.array([-1], np.int32)},
        {"row_box": np.zeros((1, 4), np.float32)},
        {"row_style": np.zeros(1, np.int32)},
        {"line_row": np.zeros(1, np.int32), "line_box": np.zeros((1, 4), np.float32)},
        {"styles": np.zeros((1, 3), np.int32)},
        {"kind": np.array([{}] * 6, object)},
    ],
    ids=lambda changes: ",".join(changes),
)
def test_what_does_not_fit_together(changes: dict[str, Any]) -> None:
    with pytest.raises(SnapshotError, match=r"^x: .*damaged"):
        Snapshot.from_bytes(rewritten(**changes), name="x")


WILD = st.one_of(
    st.lists(st.integers(-3, 12), max_size=9).map(lambda v: np.array(v, np.int32)),
    st.lists(st.integers(0, 255), max_size=9).map(lambda v: np.array(v, np.uint8)),
    st.tuples(st.integers(0, 3), st.sampled_from([1, 4, len(STYLES)])).map(
        lambda shape: np.ones(shape, np.float32)
    ),
)


# Not `parent`: that nodes stand in pre-order is taken on trust.
TRIED = [*COLUMNS[1:], "text_sizes"]


@given(st.dictionaries(st.sampled_from(TRIED), WILD, min_size=1, max_size=2))
@example({"kind": np.array([0, 3, 3, 0, 0, 0], np.int32)})
@settings(max_examples=100, deadline=None)
def test_columns_of_another_program(changes: dict[str, Any]) -> None:
    """What `load` lets pass can be worked with."""
    try:
        page = Snapshot.from_bytes(rewritten(**changes))
    except SnapshotError:
        return
    for node in range(len(page.parent)):
        assert isinstance(page.tag(node) + page.text(node), str)
        assert len(page.attributes(node)) <= len(page.attr_name)
    features = extract(build_page(page))
    assert np.isfinite(features.blocks).all()


def test_cut_files_at_every_length() -> None:
    content = sample().to_bytes()
    for size in {*range(0, len(content), 13), *range(len(content) - 30, len(content))}:
        with pytest.raises(SnapshotError, match="not a snapshot, or a damaged one"):
            Snapshot.from_bytes(content[:size])


@given(st.data())
@settings(max_examples=250, deadline=None)
def test_flipped_bytes(data: st.DataObject) -> None:
    """An error, or the very same page where the byte says nothing, such as a file's date."""
    content = bytearray(sample().to_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        loaded = Snapshot.from_bytes(bytes(content))
    except SnapshotError:
        return
    assert_equal(loaded, sample())


@given(
    st.binary(max_size=64), st.sampled_from([b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"\x80\x04"])
)
@settings(max_examples=60, deadline=None)
def test_other_files(content: bytes, start: bytes) -> None:
    with pytest.raises(SnapshotError, match=r"^snapshot: not a snapshot"):
        Snapshot.from_bytes(start + content)


def test_a_lone_array_is_no_snapshot() -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(3))
    with pytest.raises(SnapshotError, match="not a snapshot"):
        Snapshot.from_bytes(buffer.getvalue())


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Snapshot.load(tmp_path / "none.snapshot")


def test_a_failed_save_leaves_all_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "taken.snapshot"
    (folder / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match=r"taken\.snapshot"):
        sample().save(folder)
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken.snapshot"]
    with pytest.raises(FileNotFoundError):
        sample().save(tmp_path / "no" / "folder.snapshot")


def test_threads_that_save_the_same_file(tmp_path: Path) -> None:
    path, failures = tmp_path / "page.snapshot", []

    def save() -> None:
        try:
            for _ in range(15):
                sample().save(path)
        except OSError as error:
            failures.append(error)

    threads = [threading.Thread(target=save) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.snapshot"]
    assert_equal(Snapshot.load(path), sample())


def test_a_rendered_page_keeps_its_layout(
    loop: LoopThread, renderer: Renderer, tmp_path: Path
) -> None:
    html = b"""<!doctype html><p id=a class='' hidden>gone<p style='width: 60px; color: red'>a text
    of several lines<b title='"&amp;&#0;'>!</b><iframe srcdoc='<main><dfn>new tags</dfn></main>'>"""
    page = loop.run(renderer.replay(html, "http://page.example/", "utf-8"))
    assert len(page.row_node) > 3
    assert len(page.line_row) > 3
    assert page.screenshot.startswith(b"\xff\xd8")
    hidden = next(
        node for node in range(len(page.parent)) if page.attributes(node).get("id") == "a"
    )
    assert page.attributes(hidden) == {"id": "a", "class": "", "hidden": ""}
    page.save(tmp_path / "page.snapshot")
    loaded = Snapshot.load(tmp_path / "page.snapshot")
    assert_equal(loaded, page)
    assert loaded.rendered
    assert "rgb(255, 0, 0)" in loaded.strings
