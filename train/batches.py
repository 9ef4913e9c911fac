"""Samples of pages, stacked and padded for a training step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from ..layout.crops import Picture, picture_of
from ..layout.runs import run_boxes
from ..model.vision import STRIDE
from .samples import UNKNOWN, Sample

_REACH = 48  # picture pixels beyond a block's height that the network may look at


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """n pages of up to s states; `pictures` has None for a page that is not looked at."""

    pictures: tuple[Picture | None, ...]
    blocks: Tensor  # [n, s, F]
    edges: Tensor  # [n, s - 1, E]
    labels: Tensor  # [n, s] 0, 1 or UNKNOWN
    real: Tensor  # [n, s] bool, False for the padding behind a page
    words: Tensor  # [n, s]
    policy: Tensor  # [n, policies] 1 for the policy of a page
    kinds: Tensor  # [n] or UNKNOWN


def collate(
    samples: Sequence[Sample], pictures: Sequence[Picture | None], policies: int, device: str
) -> Batch:
    """Pad samples to the longest one, on a device."""
    longest = max(map(len, samples))
    shape = (len(samples), longest)
    blocks = np.zeros((*shape, samples[0].blocks.shape[1]), np.float32)
    edges = np.zeros((len(samples), longest - 1, samples[0].edges.shape[1]), np.float32)
    labels, real = np.full(shape, UNKNOWN), np.zeros(shape, bool)
    words, policy = np.zeros(shape, np.float32), np.zeros((len(samples), policies), np.float32)
    kinds = np.array([sample.kind for sample in samples])
    for i, sample in enumerate(samples):
        size = len(sample)
        blocks[i, :size], edges[i, : size - 1] = sample.blocks, sample.edges
        labels[i, :size], real[i, :size] = sample.labels, True
        words[i, :size], policy[i, sample.policy] = sample.words, 1
    tables = (blocks, edges, labels, real, words, policy, kinds)
    return Batch(tuple(pictures), *(torch.from_numpy(table).to(device) for table in tables))


def window(sample: Sample, size: int, random: np.random.Generator) -> tuple[Sample, int]:
    """At most `size` neighbouring states of a sample, at a random place, and where they start."""
    if len(sample) <= size:
        return sample, 0
    start = int(random.integers(len(sample) - size + 1))
    part = slice(start, start + size)
    inside = slice(start, start + size - 1)
    return replace(
        sample,
        blocks=sample.blocks[part],
        edges=sample.edges[inside],
        labels=sample.labels[part],
        leaves=sample.leaves[part],
        words=sample.words[part],
    ), start


def look(sample: Sample, start: int) -> Picture | None:
    """The picture of a sample's page where its states from `start` on stand.

    Rows far from all of them are cut off: no layer of the network sees so far.
    """
    picture = picture_of(sample.page, run_boxes(sample.page)[start : start + len(sample)])
    if picture is None or not picture.seen.any():
        return None
    top, bottom = picture.boxes[picture.seen, 1].min(), picture.boxes[picture.seen, 3].max()
    reach = _REACH + (picture.boxes[:, 3] - picture.boxes[:, 1]).max()
    first = int(max(top - reach, 0)) // STRIDE * STRIDE
    pixels = picture.pixels[first : int(bottom + reach) + 1]
    shifted = picture.boxes - np.array([0, first, 0, first], np.float32)
    boxes = np.where(picture.seen[:, None], shifted, picture.boxes)
    return Picture(pixels, boxes.astype(np.float32), picture.seen)
