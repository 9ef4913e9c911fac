"""The page beside a trained model: its Markdown as a reader's program takes it, and its charts."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
import vl_convert
from lxml import etree
from markdown_it import MarkdownIt
from markdown_it.token import Token
from PIL import Image

from pagesight.app.model_card import CardFacts, write_page
from pagesight.model.calibration import Calibration
from pagesight.render.errors import PagesightError
from pagesight.train.calibrate import Bin
from pagesight.train.settings import Epoch

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</svg><script>x()</script> | a\\| `b` *c* _d_ [e](f) ![g](h) &amp; ~~i~~ \"'\n# j \ud800"
# Up to 1,000 blocks in a bin. ECE: (600 × .1 + 1000 × .05 + 400 × .2) / 2000 = .095; after: .02.
BEFORE = (Bin(0.1, 0.2, 600), Bin(0.55, 0.5, 1000), Bin(0.9, 0.7, 400))
AFTER = (Bin(0.2, 0.2, 1000), Bin(0.74, 0.7, 1000))
HISTORY = (
    (Epoch(1, 0.7, 0.5, 0.6), Epoch(2, 0.5, 0.81, 0.4), Epoch(3, 0.4, 0.81, 0.41)),
    (Epoch(1, 0.8, 0.9, 0.3), Epoch(2, 0.6, 0.88, 0.35)),
)
FACTS = CardFacts(
    name="small_one",
    policies={"web": "wcxb (all), styled (all)", "clean_eval": "cleaneval (web2text)"},
    recipe="pagesight",
    settings={"seed": 7, "learning_rate": 0.002, "widths": [64, 32], "vision": {"side": 24}},
    figures={"f1": 0.9213, "validation_ece": 0.0312, "training_pages": 12345, "rendered": True},
    calibration=Calibration(0.612),
    before=BEFORE,
    after=AFTER,
    history=HISTORY,
    command="pagesight train --dataset cleaneval -o small_one.onnx",
)


def parsed(path: Path) -> list[Token]:
    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return markdown.parse(path.with_suffix(".md").read_text("utf-8"))


def plain(token: Token) -> str:
    """The text of an inline token, which must hold no markup."""
    assert {child.type for child in token.children or ()} <= {"text", "text_special"}, token.content
    return "".join(child.content for child in token.children or ())


def tables(tokens: list[Token]) -> list[list[list[str]]]:
    """Each table as rows of cells, its head first."""
    found: list[list[list[str]]] = []
    for before, token in pairwise(tokens):
        if token.type == "table_open":
            found.append([])
        if token.type == "tr_open":
            found[-1].append([])
        if before.type in ("th_open", "td_open"):
            found[-1][-1].append(plain(token))
    return found


def images(tokens: list[Token]) -> list[str]:
    children = [child for token in tokens for child in token.children or ()]
    return [str(child.attrs["src"]) for child in children if child.type == "image"]


def fences(tokens: list[Token]) -> list[str]:
    return [token.content.rstrip("\n") for token in tokens if token.type == "fence"]


def marks(path: Path, kind: str) -> list[str]:
    """What each mark of one kind says; the legend's and the axes' are none."""
    root = etree.fromstring(path.read_bytes())
    return [
        str(mark.get("aria-label"))
        for mark in root.iter(f"{SVG}path")
        if mark.get("aria-roledescription") == kind
    ]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("card") / "small_one.onnx"
    write_page(FACTS, path)
    return path


def test_what_is_written(model: Path) -> None:
    names = {path.name for path in model.parent.iterdir()}
    assert names == {"small_one.md", "small_one.reliability.svg", "small_one.training.svg"}


def test_tables(model: Path) -> None:
    figures, settings, members, errors = tables(parsed(model))
    assert figures[1:] == [
        ["F1", ".921"],
        ["validation ECE", ".031"],
        ["training pages", "12,345"],
        ["rendered", "yes"],
    ]
    assert settings[1:] == [
        ["policy web", "wcxb (all), styled (all)"],
        ["policy clean_eval", "cleaneval (web2text)"],
        ["recipe", "pagesight"],
        ["seed", "7"],
        ["learning rate", "0.002"],
        ["widths", "64, 32"],
        ["vision", "side 24"],
    ]
    # Of two epochs as good the training keeps the later one.
    assert members[1:] == [
        ["1", "3", "3", ".400", ".810", ".410"],
        ["2", "2", "1", ".800", ".900", ".300"],
    ]
    assert errors[1:] == [
        ["ECE", ".095", ".020"],
        ["farthest dot", ".200", ".040"],
        ["blocks", "2,000", "2,000"],
    ]


def test_headings_images_and_commands(model: Path) -> None:
    tokens = parsed(model)
    pairs = pairwise(tokens)
    heads = [plain(token) for before, token in pairs if before.type == "heading_open"]
    assert heads[0] == "small_one"
    assert heads[1:5] == ["Figures", "Training", "Calibration", "Limits"]
    assert images(tokens) == ["small_one.training.svg", "small_one.reliability.svg"]
    assert all((model.parent / image).is_file() for image in images(tokens))
    use, command = fences(tokens)
    assert use.startswith("pagesight extract --model small_one.onnx ")
    assert command == FACTS.command


@pytest.mark.parametrize(
    ("calibration", "said"),
    [
        (Calibration(0.612), "surer of itself than it should be"),
        (Calibration(0.612), "> calibrated log odds = 0.612 × log odds\n"),
        (Calibration(1.5), "less sure of itself than it could be"),
        (Calibration(1.5), "> calibrated log odds = 1.500 × log odds\n"),
        (Calibration(), "left as the model gives them"),
    ],
)
def test_the_calibration_in_words(calibration: Calibration, said: str, tmp_path: Path) -> None:
    write_page(replace(FACTS, calibration=calibration), tmp_path / "m.onnx")
    assert said in (tmp_path / "m.md").read_text("utf-8")


def test_marks_of_the_reliability_diagram(model: Path) -> None:
    said = marks(model.with_suffix(".reliability.svg"), "circle")
    assert sorted(said) == [
        "after: .200 promised, .200 content, 1,000 blocks",
        "after: .740 promised, .700 content, 1,000 blocks",
        "before: .100 promised, .200 content, 600 blocks",
        "before: .550 promised, .500 content, 1,000 blocks",
        "before: .900 promised, .700 content, 400 blocks",
    ]
    text = model.with_suffix(".reliability.svg").read_text("utf-8")
    assert "before, ECE .095" in text
    assert "after, ECE .020" in text


def test_dots_stand_at_their_shares_and_are_larger_for_more_blocks(model: Path) -> None:
    root = etree.fromstring(model.with_suffix(".reliability.svg").read_bytes())
    places, radii = {}, {}
    for mark in root.iter(f"{SVG}path"):
        if mark.get("aria-roledescription") == "circle":
            x, y = re.findall(r"[\d.]+", mark.get("transform", ""))
            blocks = str(mark.get("aria-label"))
            places[blocks[: blocks.index(" promised")]] = float(x) / 430, 1 - float(y) / 430
            radii[blocks[: blocks.index(" promised")]] = float(mark.get("d", "")[1:].split(",")[0])
    assert places["before: .900"] == pytest.approx((0.9, 0.7))
    assert places["after: .200"] == pytest.approx((0.2, 0.2))
    assert radii["before: .900"] < radii["before: .100"] < radii["before: .550"]
    assert radii["before: .550"] == radii["after: .200"]


def test_marks_of_the_training(model: Path) -> None:
    path = model.with_suffix(".training.svg")
    assert sorted(marks(path, "line mark")) == ["member 1"] * 2 + ["member 2"] * 2
    assert sorted(marks(path, "circle")) == (
        ["member 1, epoch 3: loss .400, F1 .810"] * 2
        + ["member 2, epoch 1: loss .800, F1 .900"] * 2
    )


def test_charts_are_pictures_without_scripts(model: Path) -> None:
    for kind in ("reliability", "training"):
        content = model.with_suffix(f".{kind}.svg").read_bytes()
        root = etree.fromstring(content)
        assert root.tag == f"{SVG}svg"
        elements = [element for element in root.iter() if isinstance(element.tag, str)]
        assert not {element.tag for element in elements} & {f"{SVG}script", f"{SVG}foreignObject"}
        names = {name for element in elements for name in element.attrib}
        assert not [name for name in names if name.startswith("on") or name.endswith("href")]
        assert b"url(" not in content


def test_charts_have_ink(model: Path, tmp_path: Path) -> None:
    """Where a picture's styles are not understood too: its colours stand in its marks."""
    svg = model.with_suffix(".reliability.svg").read_text("utf-8")
    (tmp_path / "chart.png").write_bytes(vl_convert.svg_to_png(svg))
    with Image.open(tmp_path / "chart.png") as picture:
        pixels = np.asarray(picture.convert("RGB")).reshape(-1, 3)
    assert (pixels == (255, 255, 255)).all(1).mean() > 0.8
    # The grey of before and the blue of after, both a little thinned.
    assert (np.abs(pixels - np.array((119, 127, 135))).max(1) < 8).sum() > 300
    assert (np.abs(pixels - np.array((64, 119, 201))).max(1) < 8).sum() > 300


def test_every_colour_changes_on_a_dark_screen(model: Path) -> None:
    for kind in ("reliability", "training"):
        svg = model.with_suffix(f".{kind}.svg").read_text("utf-8")
        drawn = set(re.findall(r'(?:fill|stroke)="(#\w+)"', svg.partition("</style>")[2]))
        changed = set(re.findall(r'\[fill="(#\w+)"\] \{', svg))
        assert len(drawn) > 4
        assert drawn <= changed


def test_hostile_names(tmp_path: Path) -> None:
    path = tmp_path / "a `b` (c) <d> [e].onnx"
    command = "pagesight train\n````\n# not a heading\n| no | table |"
    facts = replace(
        FACTS,
        name=HOSTILE,
        policies={HOSTILE: HOSTILE, "| |": ""},
        recipe="",
        settings={HOSTILE: HOSTILE, "a_b|c": [], "none": None},
        figures={HOSTILE: HOSTILE},
        command=command,
    )
    write_page(facts, path)
    tokens = parsed(path)
    assert not [token for token in tokens if token.type.startswith("html")]
    shown = " ".join(HOSTILE.split()).replace("\ud800", "?")
    key = " ".join(shown.replace("_", " ").split())
    figures, settings, *_ = tables(tokens)
    assert figures[1:] == [[key, shown]]
    assert settings[1:] == [
        [f"policy {shown}", shown],
        ["policy | |", "–"],
        ["recipe", "–"],
        [key, shown],
        ["a b|c", "–"],
        ["none", "–"],
    ]
    assert plain(tokens[1]) == shown
    assert fences(tokens)[1] == command
    for image in images(tokens):
        assert (tmp_path / unquote(image)).is_file()


def test_what_is_no_number(tmp_path: Path) -> None:
    nan = math.nan
    bad = (Epoch(1, math.inf, nan, nan), Epoch(2, 0.5, 0.8, nan), Epoch(3, nan, 0.7, 0.1))
    facts = replace(FACTS, history=(bad, ()), figures={"f1": nan}, before=(), after=())
    write_page(facts, tmp_path / "m.onnx")
    figures, _, members, errors = tables(parsed(tmp_path / "m.onnx"))
    assert figures[1:] == [["F1", "–"]]
    assert members[1:] == [["1", "3", "2", ".500", ".800", "–"]]
    assert errors[1:] == [["ECE", "–", "–"], ["farthest dot", "–", "–"], ["blocks", "0", "0"]]
    assert marks(tmp_path / "m.reliability.svg", "circle") == []
    said = "member 1, epoch 2: loss .500, F1 .800"
    assert marks(tmp_path / "m.training.svg", "circle") == [said, said]
    assert "NaN" not in (tmp_path / "m.training.svg").read_text("utf-8")


def test_many_members_and_a_single_epoch(tmp_path: Path) -> None:
    history = tuple((Epoch(1, 0.1 * number, 0.9, 0.2),) for number in range(1, 9))
    write_page(replace(FACTS, history=history), tmp_path / "m.onnx")
    assert len(marks(tmp_path / "m.training.svg", "circle")) == 16


def test_a_training_without_epochs_has_no_chart(tmp_path: Path) -> None:
    write_page(replace(FACTS, history=()), tmp_path / "m.onnx")
    assert not (tmp_path / "m.training.svg").exists()
    assert images(parsed(tmp_path / "m.onnx")) == ["m.reliability.svg"]


@pytest.mark.parametrize("missing", ["altair", "vl_convert"])
def test_without_the_drawing_libraries(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(PagesightError, match=rf"{missing}.*pip install 'pagesight\[train\]'"):
        write_page(FACTS, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())
