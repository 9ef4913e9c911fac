"""The blocks of a page drawn over its picture: what was decided, at a glance."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

import numpy as np

from ..render.errors import PagesightError, SnapshotError
from .page import Labels, Page

if TYPE_CHECKING:
    from PIL import Image

# Probability 0, 1/2 and 1, dark enough for thin lines on white.
_RED, _YELLOW, _GREEN = (204, 41, 41), (214, 158, 0), (30, 132, 73)
_FILL_ALPHA, _LINE_ALPHA = 36, 255


def colour(probability: float) -> tuple[int, int, int]:
    """Red for boilerplate, over yellow for what is unsure, to green for content; 8-bit RGB."""
    low, high = (_RED, _YELLOW) if probability < 0.5 else (_YELLOW, _GREEN)
    part = min(max(probability * 2 - (probability >= 0.5), 0.0), 1.0)
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(low, high, strict=True))
    return red, green, blue


def draw(page: Page, labels: Labels) -> Image.Image:
    """The page's picture with an outline around each block, coloured by its probability.

    Blocks below the pictured part, and blocks that were not laid out, are left out.
    Raises PagesightError where the rendering has no picture, SnapshotError where it is damaged.
    """
    from PIL import Image, ImageDraw

    picture = open_picture(page).convert("RGBA")
    layer = Image.new("RGBA", picture.size)
    pen = ImageDraw.Draw(layer)
    scale = page.snapshot.meta.screenshot_scale
    corners = np.concatenate([page.box[:, :2], page.box[:, :2] + page.box[:, 2:]], axis=1) * scale
    visible = np.isfinite(corners).all(axis=1) & (corners[:, 1] < picture.height)
    for block in np.flatnonzero(visible).tolist():
        rgb = colour(float(labels.probability[block]))
        box = [round(edge) for edge in corners[block].tolist()]
        pen.rectangle(box, fill=(*rgb, _FILL_ALPHA), outline=(*rgb, _LINE_ALPHA))
    return Image.alpha_composite(picture, layer).convert("RGB")


def open_picture(page: Page) -> Image.Image:
    """The page's picture, RGB. Raises PagesightError where it has none, SnapshotError."""
    from PIL import Image

    if not page.snapshot.screenshot:
        raise PagesightError("this page has no picture: it must be rendered, with a screenshot")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            # Other decoders have no business with what a snapshot from elsewhere holds.
            picture = Image.open(io.BytesIO(page.snapshot.screenshot), formats=("JPEG",))
        return picture.convert("RGB")
    except (
        OSError,
        ValueError,
        SyntaxError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    ) as error:
        raise SnapshotError("the picture of this page is damaged") from error
