"""The page's picture and the place of each block on it, as a network reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..render.errors import SnapshotError
from .overlay import open_picture
from .page import Page

UInt8 = npt.NDArray[np.uint8]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

# Picture pixels a CSS pixel; a picture of another scale is brought to this one.
SCALE = 0.25
# What lies right of or below these many pixels is cut off: 16,384 CSS pixels.
MAX_SIDE = 4096

_SCALES = (0.01, 100.0)  # of pictures that can be brought to SCALE
_SEEN_SHARE = 0.5  # of a block's area that must lie on the picture


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """The picture of a page and b boxes on it, at SCALE picture pixels a CSS pixel."""

    pixels: UInt8  # [height, width, 3] red, green, blue
    boxes: Float32  # [b, 4] x1, y1, x2, y2 in picture pixels; 0, 0, 1, 1 for a block not seen
    seen: Bool  # [b] the block has a box, and at least half of it lies on the picture


def picture_of(page: Page, box: Float32) -> Picture | None:
    """The picture of a page with boxes [b, 4] on it, None where it was taken without one.

    The boxes are in CSS pixels, NaN where not laid out: those of blocks, or of runs of them.
    Raises SnapshotError where the picture is damaged.
    """
    if not page.snapshot.screenshot:
        return None
    pixels = _pixels(page)
    boxes, seen = _place(box, pixels.shape[1], pixels.shape[0])
    return Picture(pixels, boxes, seen)


def _pixels(page: Page) -> UInt8:
    """The picture at SCALE, [height, width, 3]. Raises SnapshotError."""
    from PIL import Image

    scale = page.snapshot.meta.screenshot_scale
    if not _SCALES[0] <= scale <= _SCALES[1]:
        raise SnapshotError(f"the picture of this page has an unusable scale, {scale:g}")
    picture = open_picture(page)
    zoom = SCALE / scale
    width, height = (min(max(side * zoom, 1), MAX_SIDE) for side in picture.size)
    if (width, height) != picture.size:
        box = (0, 0, min(width / zoom, picture.width), min(height / zoom, picture.height))
        size = (round(width), round(height))
        picture = picture.resize(size, Image.Resampling.BOX, box)
    return np.array(picture)


def _place(box: Float32, width: int, height: int) -> tuple[Float32, Bool]:
    """Corners [b, 4] on a picture of this size, and whether enough of each box lies on it."""
    known = np.isfinite(box).all(axis=1, keepdims=True)
    # A hostile page's boxes may overflow 32 bits when their corners are added up.
    wide: Float64 = np.where(known, box, 0).astype(np.float64) * SCALE
    corners = np.concatenate([wide[:, :2], wide[:, :2] + wide[:, 2:]], axis=1)
    clipped = np.clip(corners, 0, [width, height, width, height])
    area = wide[:, 2] * wide[:, 3]
    shown = (clipped[:, 2] - clipped[:, 0]) * (clipped[:, 3] - clipped[:, 1])
    seen = (area > 0) & (shown >= _SEEN_SHARE * area)
    boxes = np.where(seen[:, None], clipped, [0, 0, 1, 1])
    return boxes.astype(np.float32), seen
