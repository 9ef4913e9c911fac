"""Pure arithmetic on boxes, (x, y, width, height) in CSS pixels, in arrays of shape [.., 4]."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Int32 = npt.NDArray[np.int32]


def union_by(key: Int32, box: Float32, size: int) -> tuple[Float32, Int32]:
    """The smallest box around all boxes of one key, and how many these are.

    Args:
        key: [k] in 0..size - 1; boxes with a negative key are left out.
        box: [k, 4].

    Returns:
        [size, 4], NaN for a key without a box that has an area, and [size] counts.
    """
    kept = (key >= 0) & (box[:, 2] > 0) & (box[:, 3] > 0)
    key, box = key[kept], box[kept]
    low = np.full((size, 2), np.inf, np.float32)
    high = np.full((size, 2), -np.inf, np.float32)
    np.minimum.at(low, key, box[:, :2])
    np.maximum.at(high, key, box[:, :2] + box[:, 2:])
    count = np.bincount(key, minlength=size).astype(np.int32)
    union = np.concatenate([low, high - low], axis=1)
    union[count == 0] = np.nan
    return union, count


def overlap(start: Float32, length: Float32, other: Float32, other_length: Float32) -> Float32:
    """How long two spans on one axis overlap; 0 where they are apart."""
    shared = np.minimum(start + length, other + other_length) - np.maximum(start, other)
    return np.maximum(shared, 0).astype(np.float32)
