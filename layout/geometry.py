"""Pure arithmetic on boxes, (x, y, width, height) in CSS pixels, in arrays of shape [.., 4]."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
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


def intersection(box: Float64, other: Float64) -> Float64:
    """What two boxes share, [.., 4]; width or height is 0 where they are apart."""
    low = np.maximum(box[..., :2], other[..., :2])
    high = np.minimum(box[..., :2] + box[..., 2:], other[..., :2] + other[..., 2:])
    return np.concatenate([low, np.maximum(high - low, 0)], axis=-1)


def area(box: Float64) -> Float64:
    """Width times height, [..]."""
    return np.asarray(box[..., 2] * box[..., 3], np.float64)


def share_inside(box: Float64, other: Float64) -> Float64:
    """The share of a box's area that lies inside another, [..]; 0 for a box without an area."""
    whole = area(box)
    shared = area(intersection(box, other))
    return np.divide(shared, whole, out=np.zeros_like(shared), where=whole > 0)


def weight_at(point: Float64, start: Float64, length: Float64, weight: Float64) -> Float64:
    """The sum of the weights of the spans that hold each point, [p, ..]; an end is outside.

    Args:
        point: [p] on one axis.
        start, length: [k] of the spans.
        weight: [k, ..], one or more sums at once.
    """

    def passed(edge: Float64) -> Float64:
        order = np.argsort(edge)
        running = np.zeros((len(edge) + 1, *weight.shape[1:]))
        np.cumsum(weight[order], axis=0, out=running[1:])
        return running[np.searchsorted(edge[order], point, "right")]

    return passed(start) - passed(start + length)
