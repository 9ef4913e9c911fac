"""Geometry features: layouts worked out by the pixel, what hides a text, colours, odd layouts."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.layout.features import GEOMETRY, NAMES, WEB2TEXT_BLOCK, extract
from pagesight.layout.features.css import StyleTable, contrast_ratio, read_colour
from pagesight.layout.features.geometry import geometry_features
from pagesight.layout.features.scales import heaviest, log_share, signed_log, weighted_median
from pagesight.layout.features.scene import nearest
from pagesight.layout.geometry import area, intersection, share_inside, weight_at
from pagesight.layout.page import Page, build_page
from pagesight.render.builder import SnapshotBuilder
from pagesight.render.capture import Renderer
from pagesight.render.loop import LoopThread
from pagesight.render.snapshot import STYLES, Meta, Snapshot
from pagesight.render.static import parse

Column = Callable[[str], dict[str, float]]
Rendered = Callable[[str], Page]


@pytest.fixture(scope="module")
def rendered(loop: LoopThread, renderer: Renderer) -> Rendered:
    return lambda html: build_page(
        loop.run(renderer.replay(html.encode(), "http://page.example/", "utf-8"))
    )


def columns_of(page: Page) -> Column:
    """One geometry column, by the first word of each block."""
    table = geometry_features(page)
    firsts = [text.split()[0] for text in page.text]

    def values(name: str) -> dict[str, float]:
        return dict(zip(firsts, table[:, GEOMETRY.columns.index(name)].tolist(), strict=True))

    return values


def boxes_of(page: Page) -> dict[str, list[float]]:
    return dict(zip((text.split()[0] for text in page.text), page.box.tolist(), strict=True))


def having(values: dict[str, float]) -> set[str]:
    assert {*values.values()} <= {0.0, 1.0}
    return {name for name, value in values.items() if value}


STYLE = """<!doctype html><title>t</title><style>
body { margin: 0; font: 16px/20px monospace; color: #000 } div { position: absolute }
p, ul, pre { margin: 0; padding: 0; list-style: none }
p { white-space: nowrap }
</style><body>"""

LAYOUT = f"""{STYLE}
<div style="left:128px; top:100px; width:640px; font-size:32px; font-weight:700">Heading</div>
<div style="left:128px; top:200px; width:640px">The main text is longer than the rest of it</div>
<div style="left:128px; top:260px; width:640px">And here is some more of this text as well.</div>
<div style="left:960px; top:260px; width:192px; color:red; font-style:italic">Side</div>
<div style="left:0; top:400px; width:320px; text-align:center; text-decoration:underline;
cursor:pointer">Link</div>
<div style="left:0; top:440px; visibility:hidden">Unseen</div>
<div style="left:0; top:460px; opacity:0"><p>Faint <b>too</b></p></div>
<div style="left:0; top:500px; width:1px; height:1px; overflow:hidden">Clipped</div>
<div style="left:0; top:520px; position:fixed"><b>Fixed</b></div>
<div style="left:-900px; top:540px; width:300px">Away</div>
<div style="display:none">Nowhere</div>
<div style="left:0; top:600px"><pre>Code</pre></div>"""


@pytest.fixture(scope="module")
def layout(rendered: Rendered) -> Page:
    return rendered(LAYOUT)


@pytest.fixture(scope="module")
def column(layout: Page) -> Column:
    return columns_of(layout)


def test_places(layout: Page, column: Column) -> None:
    assert layout.snapshot.meta.page_size == (1280, 800)
    place = column("left")
    assert place["Heading"] == place["The"] == place["And"] == pytest.approx(128 / 1280)
    assert place["Side"] == pytest.approx(960 / 1280)
    assert place["Away"] == pytest.approx(-900 / 1280)
    boxes = boxes_of(layout)
    areas = {name: box[2] * box[3] for name, box in boxes.items() if name != "Nowhere"}
    for name in ("Heading", "The", "Side"):
        x, y, width, _ = boxes[name]
        assert column("width")[name] == pytest.approx(width / 1280)
        assert column("centre")[name] == pytest.approx((x + width / 2) / 1280 - 0.5)
        assert column("top")[name] == pytest.approx(y / 800)
        assert column("from_top")[name] == pytest.approx(math.log1p(y / 800) / 4)
        assert column("lines")[name] == pytest.approx(math.log(2) / 3)
        share = areas[name] / sum(areas.values())
        assert column("area_share")[name] == pytest.approx(math.log10(share) / 4 + 1, abs=1e-5)
    # The text stands in the middle of its line of 20 pixels.
    assert boxes["The"][1] + boxes["The"][3] / 2 == pytest.approx(210, abs=1)
    assert column("height")["The"] == pytest.approx(math.log(2) / 3)
    assert column("characters_a_line")["The"] == pytest.approx(math.log1p(43) / 5)
    assert column("words_a_line")["The"] == pytest.approx(math.log1p(10) / 3)
    assert having(column("first_screen")) == {*boxes} - {"Away", "Nowhere"}


def test_columns(column: Column) -> None:
    assert column("column_left")["The"] == pytest.approx(0.1)
    assert column("column_width")["The"] == pytest.approx(0.5)
    assert column("column_left")["Side"] == pytest.approx(0.75)
    assert column("column_width")["Side"] == pytest.approx(0.15)
    assert having(column("column_is_main")) == {"Heading", "The", "And"}
    assert column("column_share")["The"] > 0.5 > column("column_share")["Side"] > 0
    assert column("column_share")["Clipped"] == 0  # what nobody sees has no weight
    overlaps = column("overlaps_main")
    assert (overlaps["The"], overlaps["Side"], overlaps["Away"]) == (1, 0, 0)


def test_the_place_in_and_beside_columns(layout: Page, column: Column) -> None:
    boxes = boxes_of(layout)
    assert column("in_column")["The"] == 0
    assert column("of_column")["The"] == pytest.approx(boxes["The"][2] / 640)
    # Centred in 320 pixels.
    width = boxes["Link"][2]
    assert column("in_column")["Link"] == pytest.approx((320 - width) / 2 / 320, abs=1e-3)
    assert column("of_column")["Link"] == pytest.approx(width / 320)
    # The main column goes from 128 to 768.
    beside = column("from_main")
    assert beside["The"] == beside["Link"] == 0
    assert beside["Side"] == pytest.approx((960 - 768) / 1280)
    assert beside["Code"] == pytest.approx(-(128 - boxes["Code"][2]) / 1280)


def test_neighbours(layout: Page, column: Column) -> None:
    boxes = layout.box.tolist()
    line = boxes[1][3]
    gap = math.log1p((boxes[2][1] - boxes[1][1] - line) / line) / 3
    assert column("gap_before")["And"] == pytest.approx(gap, abs=1e-5)
    assert column("gap_after")["The"] == pytest.approx(gap, abs=1e-5)
    # 60 pixels from top to top.
    assert gap == pytest.approx(math.log1p((60 - line) / line) / 3, abs=1e-3)
    assert column("gap_before")["Heading"] == 0
    assert column("gap_before")["Side"] < 0
    # What is not laid out does not part its neighbours.
    assert column("gap_before")["Code"] == column("gap_after")["Away"] > 0
    assert having(column("right_of_before")) >= {"Side"}
    assert not having(column("right_of_before")) & {"Heading", "The", "And", "Link"}
    assert not having(column("left_of_before"))
    assert {"The", "And"} <= having(column("aligned_before"))
    assert {"Heading", "The"} <= having(column("aligned_after"))
    assert not {"Heading", "Side"} & having(column("aligned_before"))
    assert having(column("right_aligned_before")) == {"The", "And", "too"}
    assert having(column("same_width_before")) == {"The", "And", "too"}
    assert {"And", "Unseen", "Faint"} <= having(column("same_font_before"))
    assert not {"Heading", "The", "Side", "Link"} & having(column("same_font_before"))


def test_a_block_to_the_left(rendered: Rendered) -> None:
    page = rendered(
        f"{STYLE}<div style='left:300px; top:0'>Right</div><div style='left:0; top:5px'>Left</div>"
    )
    assert having(columns_of(page)("left_of_before")) == {"Left"}


def test_types(column: Column) -> None:
    size = column("font_size")
    assert size["Heading"] == pytest.approx(math.log(2))
    assert size["The"] == size["Side"] == 0
    assert column("font_size_before")["The"] == pytest.approx(-math.log(2))
    assert column("font_size_after")["Heading"] == pytest.approx(math.log(2))
    assert column("font_size_before")["Heading"] == column("font_size_after")["The"] == 0
    assert having(column("largest")) == {"Heading"}
    assert having(column("font_weight")) == {"Heading", "too", "Fixed"}
    weights = column("font_weight_before")
    assert (weights["Heading"], weights["The"], weights["too"], weights["Away"]) == (0, -1, 1, -1)
    assert having(column("italic")) == {"Side"}
    assert having(column("underlined")) == having(column("centred")) == {"Link"}
    assert having(column("pointer")) == {"Link"}
    assert having(column("preformatted")) == {"Code"}
    assert {"The", "And"} <= having(column("main_style"))
    assert not {"Heading", "Side", "Fixed"} & having(column("main_style"))
    # 20 pixels of 16, and of 32.
    assert column("line_height")["The"] == pytest.approx(20 / 16 - 1.2)
    assert column("line_height")["Heading"] == pytest.approx(20 / 32 - 1.2)


def test_families(rendered: Rendered) -> None:
    page = rendered(f"{STYLE}<p>Most of the text<p style='font:16px serif'>Other<p>Same again")
    assert having(columns_of(page)("main_family")) == {"Most", "Same"}
    assert having(columns_of(page)("same_font_before")) == set()
    assert columns_of(page)("line_height")["Other"] == 0


def test_visibility(column: Column) -> None:
    laid_out = column("laid_out")
    assert {name for name, value in laid_out.items() if value == -1} == {"Nowhere"}
    assert {name for name, value in laid_out.items() if value == 1} == {*laid_out} - {"Nowhere"}
    assert having(column("hidden")) == {"Unseen", "Faint", "too", "Clipped"}
    assert having(column("fixed")) == {"Fixed"}
    assert having(column("off_page")) == {"Away"}
    for name in GEOMETRY.columns[1:]:
        assert column(name)["Nowhere"] == 0, name


# In one row 20 pixels high: 5 + 3 + 5 characters. In 400 x 300 pixels: 20 + 6.
FLOW = f"""{STYLE}
<ul style="display:flex"><li style="width:200px">First<li style="width:200px">Two
<li style="width:200px">Three</ul>
<section style="width:400px; height:300px"><p>Twenty characters it
<p style="padding-top:40px">Second</section>"""


def test_sections_and_rows(rendered: Rendered) -> None:
    page = rendered(FLOW)
    column, boxes = columns_of(page), boxes_of(page)
    assert page.text == ("First", "Two", "Three", "Twenty characters it", "Second")
    width, height = page.snapshot.meta.page_size
    assert (width, height) == (1280, 800)
    assert column("section_text")["Two"] == pytest.approx(13 / 39)
    assert column("section_text")["Second"] == pytest.approx(26 / 39)
    for name, section, text in (("First", 1280 * 20, 13), ("Second", 400 * 300, 26)):
        share = section / (width * height)
        assert column("section_area")[name] == pytest.approx(math.log10(share) / 4 + 1, abs=1e-5)
        density = math.log1p(1000 * text / section) / 2
        assert column("section_density")[name] == pytest.approx(density, abs=1e-5)
        ink = boxes[name][2] * boxes[name][3]
        assert column("section_fill")[name] == pytest.approx(ink / section, abs=1e-5)
    assert column("of_section")["Two"] == pytest.approx(boxes["Two"][2] / 1280)
    assert column("in_section")["Second"] == pytest.approx((boxes["Second"][1] - 20) / 300)
    row = sum(boxes[name][2] for name in ("First", "Two", "Three"))
    for name in ("First", "Two", "Three"):
        assert column("row_blocks")[name] == pytest.approx(math.log(3) / 3)
        assert column("row_cover")[name] == pytest.approx(row / 1280)
    assert column("row_blocks")["Second"] == 0
    assert column("row_cover")["Second"] == pytest.approx(boxes["Second"][2] / 1280)


LONG = "This text goes on for more than eighty characters, as the texts of an article usually do."


def test_landmarks(rendered: Rendered) -> None:
    page = rendered(
        f"""{STYLE}<div style="width:900px; top:100px">Before</div>
        <div style="width:900px; top:900px; font-size:30px">Headline</div>
        <div style="width:900px; top:1300px">First {LONG}</div>
        <div style="width:900px; top:1700px">Middle</div>
        <div style="width:900px; top:2100px">Last {LONG}</div>
        <div style="width:900px; top:4500px; font-size:60px">Below</div>"""
    )
    column, boxes = columns_of(page), boxes_of(page)
    assert having(column("column_is_main")) == {*boxes}
    assert having(column("between")) == {"First", "Middle", "Last"}
    first, last = boxes["First"][1], boxes["Last"][1] + boxes["Last"][3]
    for name, (_, top, _, _) in boxes.items():
        for landmark, wanted in (("after_first", top - first), ("after_last", top - last)):
            log = math.copysign(math.log1p(abs(wanted) / 800) / 3, wanted)
            assert column(landmark)[name] == pytest.approx(log, abs=1e-5)
        # Below is larger, and too far down to be the headline.
        far = max(-1, min(1, (top - boxes["Headline"][1]) / 2400))
        assert column("from_heading")[name] == pytest.approx(far, abs=1e-5)
    assert having(column("largest")) == {"Below"}


def test_a_page_of_one_font_has_no_headline(rendered: Rendered) -> None:
    column = columns_of(rendered(f"{STYLE}<p>One<p>Two<p>Three"))
    assert not any(column("from_heading").values())
    assert not having(column("largest"))


SEEN = f"""{STYLE}
<div style="width:40px; height:20px; overflow:hidden"><p>Half-of-it</p></div>
<div style="top:30px; width:40px; height:20px; overflow:hidden"><div style="left:20px; width:90px;
height:20px; overflow:hidden"><p>Nested-clips</p></div></div>
<section style="height:0; overflow:hidden"><p>Collapsed</p><div style="top:60px">Escapes</div>
<div style="top:90px; position:fixed">Pinned</div></section>
<section style="position:relative; height:0; overflow:hidden"><div>Caught</div></section>
<div style="top:120px; width:40px; height:1px; overflow-x:clip; overflow-y:visible">Sideways</div>
<div style="top:150px; width:300px; height:30px; overflow:auto"><p>Scrolled</p>
<p style="padding-top:80px">Beneath</p></div>
<div style="top:200px; opacity:.5"><p style="opacity:.5">Pale</p></div>
<div style="top:230px; clip-path:inset(50%)">Cut</div>
<div style="top:260px; clip-path:inset(1px)">Shaped</div>
<div style="top:300px">Buried</div>
<div style="top:295px; width:300px; height:40px; background:#eee">Lid</div>
<div style="top:350px; z-index:2">Above</div>
<div style="top:345px; width:300px; height:40px; background:#eee">Lower</div>
<div style="top:400px">Glimpsed</div>
<div style="top:395px; width:300px; height:40px; background:rgba(0,0,0,.1)">Glass</div>
<section style="position:sticky">Sticky</section><p style="float:left">Floating</p>"""


def test_what_is_seen(rendered: Rendered) -> None:
    page = rendered(SEEN)
    column, boxes = columns_of(page), boxes_of(page)
    clipped = {name: value for name, value in column("clipped").items() if value > 1e-6}
    assert clipped == pytest.approx(
        {
            "Half-of-it": 1 - 40 / boxes["Half-of-it"][2],
            "Nested-clips": 1 - 20 / boxes["Nested-clips"][2],
            "Collapsed": 1,
            "Caught": 1,
            "Sideways": 1 - 40 / boxes["Sideways"][2],
        },
        abs=0.02,
    )
    assert having(column("hidden")) == {"Collapsed", "Caught", "Cut"}
    assert having(column("clip_path")) == {"Cut", "Shaped"}
    assert having(column("in_scroller")) == {"Scrolled", "Beneath"}
    assert having(column("scrolled_away")) == {"Beneath"}
    assert column("transparent")["Pale"] == pytest.approx(0.75)
    assert {name for name, value in column("transparent").items() if value > 1e-6} == {"Pale"}
    assert having(column("covered")) == {"Buried"}


def test_layers(rendered: Rendered) -> None:
    column = columns_of(rendered(SEEN))
    assert having(column("fixed")) == {"Pinned"}
    assert having(column("sticky")) == {"Sticky"}
    assert having(column("floated")) == {"Floating"}
    flow = {"Collapsed", "Pinned", "Sticky", "Floating"}
    assert having(column("absolute")) == {*column("absolute")} - flow
    assert having(column("raised")) == {"Above"}
    rank = column("paint_rank")
    assert rank["Floating"] == min(rank.values()) == 0
    assert rank["Above"] == max(rank.values()) == 1
    assert rank["Buried"] < rank["Lid"] < 1


GROUNDS = f"""{STYLE}<p>The main text is black on white and has most words</p>
<section style="background:#000; color:#fff">Inverse<p style="color:#000">Lost</p>
<p style="background:rgba(255,255,255,.5); color:#fff">Veiled</p></section>
<p style="color:rgba(0,0,0,.5)">Grey</p><p style="color:#00f">Blue</p>"""


def test_colours(rendered: Rendered) -> None:
    column = columns_of(rendered(GROUNDS))
    contrast = column("contrast")
    assert (contrast["The"], contrast["Lost"]) == pytest.approx((1, 0), abs=1e-6)
    assert contrast["Inverse"] == pytest.approx(1)
    # Half of white on black is a grey of luminance ((.5 + .055) / 1.055) ** 2.4 = .214.
    grey = ((0.5 + 0.055) / 1.055) ** 2.4
    assert contrast["Veiled"] == pytest.approx(math.log(1.05 / (grey + 0.05)) / math.log(21))
    assert contrast["Grey"] == pytest.approx(
        math.log(1.05 / (grey + 0.05)) / math.log(21), abs=0.01
    )
    assert contrast["Blue"] == pytest.approx(math.log(1.05 / 0.1222) / math.log(21), abs=1e-5)
    ground = column("dark_ground")
    assert (ground["The"], ground["Inverse"], ground["Lost"]) == pytest.approx((0, 1, 1))
    assert ground["Veiled"] == pytest.approx(1 - grey)
    assert having(column("other_ground")) == {"Inverse", "Lost", "Veiled"}
    distance = column("colour_distance")
    assert (distance["The"], distance["Inverse"], distance["Lost"]) == pytest.approx((0, 1, 0))
    assert distance["Grey"] == pytest.approx(0.5, abs=0.01)
    assert distance["Blue"] == pytest.approx(math.sqrt(1 / 3))
    coloured = column("coloured")
    assert (coloured["The"], coloured["Blue"]) == (0, 1)
    assert having(column("main_style")) == {"The", "Lost"}


def test_a_dark_page(rendered: Rendered) -> None:
    html = f"""{STYLE}<section style="background:#000; color:#fff">The main text is white on black
    <p style="background:#fff; color:#000">Aside</p></section>"""
    column = columns_of(rendered(html))
    assert having(column("other_ground")) == {"Aside"}
    assert having(column("colour_distance")) == {"Aside"}
    assert having(column("main_style")) == {"The"}


def test_without_layout_the_geometry_is_zero() -> None:
    page = build_page(parse(LAYOUT.encode(), "utf-8"))
    assert len(page) == 13
    assert geometry_features(page).shape == (13, len(GEOMETRY))
    assert not geometry_features(page).any()


def test_the_rest_is_the_same_with_and_without_layout(layout: Page) -> None:
    static_page = build_page(parse(LAYOUT.encode(), "utf-8"))
    assert layout.text == static_page.text
    rest = len(WEB2TEXT_BLOCK) + len(NAMES)
    static, rendered = extract(static_page), extract(layout)
    np.testing.assert_array_equal(static.blocks[:, :rest], rendered.blocks[:, :rest])


VALUES = """block|inline|none||0|1|0.01|fixed|sticky|absolute|hidden|clip|auto|scroll|rgb(0, 0, 0)|
rgba(255, 0, 0, 0.5)|16px|700|color(srgb 1 0 0)|oklch(0.5 0.1 30 / 0.3)|lab(1e999 0 0)|italic|
normal|collapse|underline|-webkit-center|pointer|preserve|.|99999px|-3|1e999px|inset(50%)|left|
rgb(-1, 1e400, nan)""".replace("\n", "").split("|")


def odd_layout(rng: random.Random) -> Snapshot:
    """A page in a browser that says odd things."""
    builder = SnapshotBuilder()
    builder.add(-1, "#document")
    path = [builder.add(0, "html")]
    for _ in range(rng.randint(0, 12)):
        tag = rng.choice(["p", "b", "#text", "#text"])
        del path[rng.randint(1, len(path)) :]
        if tag == "#text":
            builder.add(path[-1], tag, rng.choice(["x", "some text", " "]))
        else:
            path.append(builder.add(path[-1], tag))
    nodes = len(builder.parent)
    rows = [node for node in range(nodes) if node < 2 or rng.random() < 0.8]
    lines = sorted(rng.choices(range(len(rows)), k=rng.randint(0, 9)))
    widest = rng.choice([0, 1, 100, 1e6, 1e30])
    boxes = [
        [rng.uniform(-widest, widest) for _ in range(4)] for _ in range(len(rows) + len(lines))
    ]
    column = np.array(boxes, np.float32)
    if rng.random() < 0.3:
        column[rng.randrange(len(column)), rng.randrange(4)] = np.nan
    size = (rng.choice([0, 1280]), rng.choice([0, 5000, 1_000_000]))
    bare = builder.build(
        Meta(maker="chromium", viewport=(1280, rng.choice([0, 800])), page_size=size)
    )
    values = [[rng.randrange(len(VALUES)) for _ in STYLES] for _ in range(3)]
    return replace(
        bare,
        strings=(*bare.strings, *VALUES),
        row_node=np.array(rows, np.int32),
        row_box=column[: len(rows)],
        row_style=np.array([rng.randrange(-1, 3) for _ in rows], np.int32),
        row_paint=np.array([rng.randrange(4) for _ in rows], np.int32),
        line_row=np.array(lines, np.int32),
        line_box=column[len(rows) :],
        styles=np.array(values, np.int32) + len(bare.strings),
    )


@given(st.integers(0, 10**9))
@settings(max_examples=300, deadline=None)
def test_any_layout_has_sound_features(seed: int) -> None:
    snapshot = odd_layout(random.Random(seed))
    snapshot.check()
    page = build_page(snapshot)
    table = geometry_features(page)
    assert table.shape == (len(page), len(GEOMETRY))
    assert table.dtype == np.float32
    assert np.isfinite(table).all()
    assert np.abs(table).max(initial=0) <= 8
    has_box = ~np.isnan(page.box).any(axis=1)
    assert table[:, 0].tolist() == np.where(has_box, 1, -1).tolist()
    assert not table[~has_box, 1:].any()
    assert np.isfinite(extract(page).blocks).all()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("rgb(255, 0, 51)", (1, 0, 0.2, 1)),
        ("rgba(0, 255, 0, 0.25)", (0, 1, 0, 0.25)),
        ("rgb(0 0 255 / 0.5)", (0, 0, 1, 0.5)),
        ("color(srgb 0.5 0 1)", (0.5, 0, 1, 1)),
        ("color(display-p3 0.5 0 1 / 0.1)", (0.5, 0, 1, 0.1)),
        ("oklch(1 0 none)", (0, 0, 0, 1)),
        ("oklch(1 0.2 30)", (1, 1, 1, 1)),
        ("oklab(0.6 0.1 -0.1 / 0.2)", (0.502, 0.502, 0.502, 0.2)),
        ("lab(53.585 0 0)", (0.502, 0.502, 0.502, 1)),
        ("", (0, 0, 0, 0)),
        ("currentcolor", (0, 0, 0, 1)),
        ("rgb(-5, 999, 1e999)", (0, 1, 1, 1)),
    ],
)
def test_read_colour(text: str, wanted: tuple[float, ...]) -> None:
    assert read_colour(text) == pytest.approx(wanted, abs=2e-3)


def test_contrast_ratio() -> None:
    white, black, grey = np.ones(3), np.zeros(3), np.full(3, 0x77 / 255)
    assert contrast_ratio(white, black) == contrast_ratio(black, white) == pytest.approx(21)
    assert contrast_ratio(grey, white) == pytest.approx(4.48, abs=0.005)
    assert contrast_ratio(np.stack([grey, black]), grey).tolist() == pytest.approx([1, 4.69], 1e-2)


def test_a_table_of_styles() -> None:
    builder = SnapshotBuilder()
    builder.add(-1, "#document")
    rows = [["16px", "red", "bold"], ["-2.5px", "red", "thin"], ["16px", "red", "bold"]]
    strings = ("#document", "none", "16px", "-2.5px", "red", "bold", "thin")
    styles = np.full((3, len(STYLES)), strings.index("none"), np.int32)
    names = ("font-size", "color", "font-weight")
    styles[:, [STYLES.index(name) for name in names]] = [[*map(strings.index, r)] for r in rows]
    bare = builder.build(Meta(maker="chromium"))
    assert bare.strings == strings[:1]
    table = StyleTable(replace(bare, strings=strings, styles=styles))
    assert table.number("font-size", 7).tolist() == [16, -2.5, 16, 7]
    assert table.equals("font-weight", "bold", "").tolist() == [True, False, True, True]
    first, second, third, none = table.kinds(*names).tolist()
    assert first == third
    assert len({first, second, none}) == 3


def test_scales() -> None:
    assert signed_log(np.array([0.0, 1, -1, 1e9])).tolist() == pytest.approx(
        [0, math.log(2) / 3, -math.log(2) / 3, 1]
    )
    assert log_share(np.array([0.0, 1e-4, 0.01, 1])).tolist() == pytest.approx([0, 0, 0.5, 1])
    assert weighted_median(np.array([3.0, 1, 2]), np.array([1.0, 1, 5])) == 2
    assert weighted_median(np.array([3.0, 1, 2]), np.array([0.0, 0, 1])) == 2
    assert heaviest(np.array([0, 1, 1]), np.array([3.0, 2, 2])) == 1


@given(st.lists(st.tuples(st.integers(-1, 30), st.booleans()), max_size=30))
@settings(deadline=None)
def test_nearest(nodes: list[tuple[int, bool]]) -> None:
    above = np.array([min(node, i - 1) for i, (node, _) in enumerate(nodes)], np.int32)
    flag = np.array([flagged for _, flagged in nodes], bool)
    found = nearest(above, flag)
    for node in range(len(nodes)):
        climber = node
        while climber >= 0 and not flag[climber]:
            climber = int(above[climber])
        assert found[node] == climber


def test_boxes_inside_boxes() -> None:
    box = np.array([[0.0, 0, 10, 10], [0, 0, 10, 10], [0, 0, 10, 10], [5, 5, 0, 3]])
    other = np.array([[5.0, 5, 10, 10], [20, 0, 5, 5], [-5, -5, 99, 99], [0, 0, 10, 10]])
    assert intersection(box, other)[0].tolist() == [5, 5, 5, 5]
    assert area(intersection(box, other)).tolist() == [25, 0, 100, 0]
    assert share_inside(box, other).tolist() == [0.25, 0, 1, 0]
    assert share_inside(box, other[0]).tolist() == [0.25, 0.25, 0.25, 0]


SPANS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5), st.integers(1, 9)), max_size=8)


@given(SPANS, st.lists(st.integers(-1, 15), max_size=6))
@settings(deadline=None)
def test_weight_at(spans: list[tuple[int, int, int]], points: list[int]) -> None:
    start, length, weight = np.array(spans, np.float64).reshape(-1, 3).T
    pair = np.stack([weight, np.ones(len(spans))], axis=1)
    found = weight_at(np.array(points, np.float64), start, length, pair)
    for point, (total, count) in zip(points, found.tolist(), strict=True):
        hits = [w for s, size, w in spans if s <= point < s + size]
        assert (total, count) == (sum(hits), len(hits))
