"""Pictures and looks: what stands where, pictures of any size, torch and ONNX Runtime alike."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pagesight.layout.crops import MAX_SIDE, SCALE, Picture, picture_of
from pagesight.layout.page import Page, build_page
from pagesight.render.capture import Renderer
from pagesight.render.errors import SnapshotError
from pagesight.render.loop import LoopThread
from pagesight.render.settings import RenderSettings
from pagesight.render.static import parse

URL = "https://site.example/a"
SAMPLES = sorted((Path(__file__).parents[1] / "data" / "samples").glob("*.html"))
# A dark side bar, 320 pixels wide, and a white article; a link at the very end of a long page.
SIDE, HEAD, ARTICLE, HIDDEN, END = range(5)
SOURCE = """<!doctype html><body style="margin:0;background:#fff;color:#000;font:16px sans-serif">
<div style="position:absolute;left:0;top:0;width:320px;height:1200px;background:#222;color:#bbb">
<p style="margin:0;padding:400px 40px">Home News Sports</p></div>
<h1 style="position:absolute;left:400px;top:80px;margin:0;background:#f00;color:#f00">Red</h1>
<p style="position:absolute;left:400px;top:400px;width:480px;margin:0">The cat sat on the mat, and
then the dog sat on the cat, which made the cat get up and leave the mat to the dog.</p>
<p style="display:none">Not laid out</p>
<p style="position:absolute;left:400px;top:17000px;margin:0">Far below</p>"""


@pytest.fixture(scope="module")
def render(loop: LoopThread, renderer: Renderer) -> Callable[[bytes], Page]:
    return lambda content: build_page(loop.run(renderer.replay(content, URL, "utf-8")))


@pytest.fixture(scope="module")
def page(render: Callable[[bytes], Page]) -> Page:
    return render(SOURCE.encode())


def jpeg(pixels: np.ndarray | tuple[int, int]) -> bytes:
    """A picture of these pixels, or a white one of (width, height)."""
    white = isinstance(pixels, tuple)
    image = Image.new("RGB", pixels, "white") if white else Image.fromarray(pixels)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=95)
    return buffer.getvalue()


def with_picture(page: Page, content: bytes, scale: float = SCALE) -> Page:
    snapshot = replace(page.snapshot, screenshot=content).with_meta(screenshot_scale=scale)
    return replace(page, snapshot=snapshot)


def with_boxes(boxes: list[list[float]], content: bytes, scale: float = SCALE) -> Page:
    """A page of one block a box, x, y, width, height in CSS pixels."""
    page = build_page(parse(b"<p>x" * len(boxes), "utf-8"))
    box = np.array(boxes, np.float32).reshape(-1, 4)
    return with_picture(replace(page, box=box), content, scale)


def picture(page: Page) -> Picture:
    found = picture_of(page, page.box)
    assert found is not None
    return found


def crop(picture: Picture, block: int) -> np.ndarray:
    left, top, right, bottom = picture.boxes[block].round().astype(int).tolist()
    return picture.pixels[top:bottom, left:right]


def test_a_crop_shows_what_stands_there(page: Page) -> None:
    shown = picture(page)
    assert shown.pixels.shape == (MAX_SIDE, 320, 3)
    assert shown.seen.tolist() == [True, True, True, False, False]
    assert (crop(shown, HEAD) @ [1, -0.5, -0.5]).mean() > 200  # all red
    assert crop(shown, SIDE).mean() < 90 < 160 < crop(shown, ARTICLE).mean()
    left, top, right, bottom = shown.boxes[ARTICLE]
    assert (left, top) == pytest.approx((100, 100), abs=1)
    assert 200 < right <= 220
    assert 109 < bottom < 120  # two lines of 16 to 20 CSS pixels


def test_boxes_by_hand() -> None:
    boxes = {
        (40, 80, 100, 20): ([10, 20, 35, 25], True),
        (-100, 0, 200, 40): ([0, 0, 25, 10], True),  # half of it left of the picture
        (-101, 0, 200, 40): ([0, 0, 1, 1], False),
        (0, 380, 400, 40): ([0, 95, 100, 100], True),  # the picture ends at 400 CSS pixels
        (0, 381, 400, 40): ([0, 0, 1, 1], False),
        (-400, -400, 1600, 1600): ([0, 0, 1, 1], False),  # 9 sixteenths of it are outside
        (0, 1_000_000, 400, 40): ([0, 0, 1, 1], False),
        (float("nan"),) * 4: ([0, 0, 1, 1], False),
        (40, 80, 0, 20): ([0, 0, 1, 1], False),
    }
    found = picture(with_boxes([list(box) for box in boxes], jpeg((100, 100))))
    for i, (corners, seen) in enumerate(boxes.values()):
        assert (found.boxes[i].tolist(), bool(found.seen[i])) == (corners, seen), list(boxes)[i]
    assert found.boxes.dtype == np.float32


def test_pages_without_a_picture() -> None:
    page = build_page(parse(b"<p>x", "utf-8"))
    assert picture_of(page, page.box) is None
    empty = picture(with_boxes([], jpeg((3, 5))))
    assert (empty.boxes.shape, empty.seen.shape) == ((0, 4), (0,))


def test_damaged_pictures() -> None:
    sound = jpeg((40, 30))
    png = io.BytesIO()
    Image.new("RGB", (4, 4)).save(png, "PNG")
    huge = sound.replace(b"\x00\x1e\x00\x28", b"\x27\x10\x27\x10", 1)  # 10,000 x 10,000 pixels
    for content in (b"\xff\xd8\xff", sound[:200], b"text", png.getvalue(), huge):
        with pytest.raises(SnapshotError, match="damaged"):
            picture_of(page := with_boxes([[0, 0, 9, 9]], content), page.box)
    for scale in (0.0, -1.0, float("nan"), float("inf"), 1e-300):
        with pytest.raises(SnapshotError, match="scale"):
            picture_of(page := with_boxes([[0, 0, 9, 9]], sound, scale), page.box)


def test_a_picture_of_another_scale_is_brought_to_the_usual_one() -> None:
    pixels = np.full((160, 240, 3), 255, np.uint8)
    pixels[80:, 120:] = (0, 0, 200)  # the last quarter is blue
    found = picture(with_boxes([[120, 80, 120, 80]], jpeg(pixels), 1.0))
    assert found.pixels.shape == (40, 60, 3)
    assert found.boxes.tolist() == [[30, 20, 60, 40]]
    assert np.abs(crop(found, 0)[2:, 2:].astype(int) - (0, 0, 200)).max() < 12
    assert found.pixels[:19, :29].min() > 243
    wide = picture(with_boxes([[480, 320, 480, 320]], jpeg(pixels), 0.0625))
    assert wide.pixels.shape == (640, 960, 3)
    far = picture(with_boxes([[7e4, 0, 9, 9], [0, 0, 9, 9]], jpeg((17_600, 1)), 0.25))
    assert far.pixels.shape == (1, MAX_SIDE, 3)
    assert far.seen.tolist() == [False, False]


def test_a_picture_taken_at_full_size_shows_the_same(page: Page, loop: LoopThread) -> None:
    full = Renderer(RenderSettings(screenshot_scale=1.0))
    try:
        large = build_page(loop.run(full.replay(SOURCE.encode(), URL, "utf-8")))
    finally:
        loop.run(full.close())
    one, other = picture(page), picture(large)
    assert other.boxes == pytest.approx(one.boxes, abs=0.5)
    assert other.pixels.shape == one.pixels.shape
    for block in (SIDE, HEAD, ARTICLE):
        assert crop(other, block).mean() == pytest.approx(crop(one, block).mean(), abs=12)


_NUMBER = st.floats(width=32) | st.floats(-500, 500, width=32)


@given(
    st.lists(st.lists(_NUMBER, min_size=4, max_size=4), max_size=5),
    st.tuples(st.integers(1, 70), st.integers(1, 70)),
    st.sampled_from([0.01, 0.25, 0.3, 1.0, 100.0]),
)
@settings(max_examples=150, deadline=None)
def test_any_boxes_on_any_picture(
    boxes: list[list[float]], size: tuple[int, int], scale: float
) -> None:
    found = picture(with_boxes(boxes, jpeg(size), scale))
    height, width, _ = found.pixels.shape
    assert min(height, width) >= 1
    assert max(height, width) <= MAX_SIDE
    assert (found.boxes[~found.seen] == [0, 0, 1, 1]).all()
    left, top, right, bottom = found.boxes.T
    assert ((left >= 0) & (left <= right) & (right <= width)).all()
    assert ((top >= 0) & (top <= bottom) & (bottom <= height)).all()


# The network.


@pytest.fixture(scope="module")
def network() -> Any:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torchvision")
    from pagesight.model.vision import PictureNetwork, VisionSettings

    torch.manual_seed(3)
    return PictureNetwork(VisionSettings())


@pytest.fixture(scope="module")
def session(network: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    import onnxruntime

    from pagesight.model.export import export_members
    from pagesight.model.networks import Member, NetworkSettings

    member = Member(4, 3, NetworkSettings(width=8), network.settings)
    member.eyes = network
    folder = tmp_path_factory.mktemp("vision")
    export_members([member], folder / "own.onnx", path := folder / "own.vision.onnx")
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def looks(network: Any, found: Picture) -> np.ndarray:
    import torch

    with torch.no_grad():
        return network(*map(torch.from_numpy, inputs(found).values())).numpy()


def inputs(found: Picture) -> dict[str, np.ndarray]:
    pixels = np.ascontiguousarray(found.pixels.transpose(2, 0, 1)[None])
    return {"pixels": pixels, "boxes": found.boxes, "seen": found.seen}


def noise(height: int, width: int, blocks: int) -> Picture:
    """A picture of random pixels and boxes, every third of them not seen."""
    random = np.random.default_rng(height * 7 + width * 3 + blocks)
    corners = np.sort(random.random((blocks, 2, 2)) * [width, height], axis=1)
    return Picture(
        random.integers(0, 256, (height, width, 3), np.uint8),
        corners.reshape(-1, 4).astype(np.float32),
        np.arange(blocks) % 3 != 2,
    )


def test_it_is_small(network: Any) -> None:
    assert sum(weights.numel() for weights in network.parameters()) < 60_000


def test_surroundings_by_hand() -> None:
    torch = pytest.importorskip("torch")
    from pagesight.model.vision import surroundings

    boxes = torch.tensor([[20.0, 30, 40, 35], [20, 30, 40, 50], [0, 0, 100, 100], [95, 96, 99, 99]])
    grown = surroundings(boxes, height=100, width=100, margin=8)
    assert grown.tolist() == [
        [12, 22, 48, 43],
        [12, 10, 48, 70],
        [0, 0, 100, 100],
        [87, 88, 100, 100],
    ]
    assert surroundings(boxes[:0], 9, 9, 8).shape == (0, 4)


SIZES = [(300, 320, 50), (300, 320, 1), (1, 1, 1), (1, 1, 3), (3, 2, 0), (5, 320, 4)]


@pytest.mark.parametrize(("height", "width", "blocks"), [*SIZES, (4096, 320, 30), (97, 1280, 9)])
def test_onnx_runtime_agrees_with_torch(
    network: Any, session: Any, height: int, width: int, blocks: int
) -> None:
    found = noise(height, width, blocks)
    expected = looks(network, found)
    (actual,) = session.run(["looks"], inputs(found))[0]
    assert actual.shape == expected.shape == (blocks, network.settings.looks)
    assert np.isfinite(expected).all()
    assert actual == pytest.approx(expected, abs=1e-4)
    assert (expected[~found.seen] == 0).all()
    assert (expected[found.seen] != 0).any(axis=1).all()


@pytest.mark.parametrize("path", [None, *SAMPLES], ids=lambda path: path.stem if path else "own")
def test_real_pages(
    network: Any, session: Any, render: Callable[[bytes], Page], page: Page, path: Path | None
) -> None:
    found = picture(render(path.read_bytes()) if path else page)
    expected = looks(network, found)
    assert found.seen.any()
    assert session.run(["looks"], inputs(found))[0][0] == pytest.approx(expected, abs=1e-4)
    assert (expected[~found.seen] == 0).all()


def test_blocks_do_not_depend_on_one_another(network: Any) -> None:
    found = noise(200, 320, 30)
    together = looks(network, found)
    for i in range(30):
        one = replace(found, boxes=found.boxes[i : i + 1], seen=found.seen[i : i + 1])
        assert looks(network, one)[0] == pytest.approx(together[i], abs=1e-6)


def test_where_the_picture_ends_does_not_matter(network: Any, page: Page) -> None:
    """Looks of blocks at 100 to 120 pixels, on 4,096 rows and on 201."""
    whole = picture(page)
    cut = picture(with_picture(page, jpeg(whole.pixels[:201])))
    assert cut.seen.tolist() == [True, True, True, False, False]
    assert cut.boxes[:3] == pytest.approx(whole.boxes[:3], abs=1e-6)
    same = replace(whole, pixels=whole.pixels[:201])
    assert looks(network, same)[:3] == pytest.approx(looks(network, whole)[:3], abs=1e-6)


def test_looks_tell_places_and_surroundings_apart(network: Any) -> None:
    """Three equal grey blocks: on white, on white further down, beside a dark bar."""
    pixels = np.full((320, 320, 3), 255, np.uint8)
    pixels[200:, 100:144] = 30
    boxes = np.array([[40, 40, 80, 48], [40, 120, 80, 128], [148, 240, 188, 248]], np.float32)
    for left, top, right, bottom in boxes.astype(int).tolist():
        pixels[top:bottom, left:right] = 128
    white, lower, beside = looks(network, Picture(pixels, boxes, np.ones(3, bool)))
    assert white == pytest.approx(lower, abs=1e-5)
    assert np.abs(white - beside).max() > 1e-3


def test_cells_lie_where_the_boxes_look(network: Any) -> None:
    """A picture turned upside down and its weights with it give the same map upside down."""
    import torch

    from pagesight.model.vision import PictureNetwork

    turned = PictureNetwork(network.settings)
    with torch.no_grad():
        for own, other in zip(network.parameters(), turned.parameters(), strict=True):
            other.copy_(own.flip(2, 3) if own.dim() == 4 else own)
        ink = torch.rand(1, 3, 64, 48)
        expected = network.map(ink)
        assert turned.map(ink.flip(2, 3)).flip(2, 3).numpy() == pytest.approx(
            expected.numpy(), abs=1e-5
        )
    assert expected.shape == (1, network.settings.widths[-1], 16, 12)


def test_training_reaches_every_weight(network: Any) -> None:
    """Fifty steps tell blocks on dark from blocks on white; every weight has a gradient."""
    import torch

    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(network.settings.looks, 1))
    eyes = type(network)(network.settings)
    pixels = np.full((110, 160, 3), 255, np.uint8)
    pixels[:, :80] = 40
    corners = np.random.default_rng(0).integers(0, 60, (40, 2)) + [[0, 40], [90, 40]] * 20
    boxes = np.concatenate([corners, corners + np.array([10, 6])], axis=1).astype(np.float32)
    dark = torch.tensor([1.0, 0.0] * 20)
    found = Picture(pixels, boxes, np.ones(40, bool))
    tensors = [torch.from_numpy(value) for value in inputs(found).values()]
    weights = [*eyes.parameters(), *model.parameters()]
    optimiser = torch.optim.Adam(weights, lr=5e-3)
    for step in range(50):
        scores = model(eyes(*tensors))[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, dark)
        optimiser.zero_grad()
        loss.backward()
        if not step:
            assert all((weight.grad != 0).any() for weight in weights)
        optimiser.step()
    assert ((scores > 0) == (dark > 0)).all()
