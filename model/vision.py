"""What a block and its surroundings look like: a small convolutional network, in torch.

The network reads the page's picture once; RoIAlign (He, Gkioxari, Dollár, Girshick 2017, "Mask
R-CNN", section 3) then takes each block's part of its feature map, and that of its surroundings.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torchvision.ops import roi_align

STRIDE = 4  # picture pixels a cell of the feature map
_SAMPLES = 2  # points a bin in each direction that RoIAlign averages over


@dataclass(frozen=True, slots=True)
class VisionSettings:
    """Sizes of a PictureNetwork; lengths are picture pixels, bins are (rows, columns).

    widths: channels of the convolutions; the first two halve the picture each.
    margin: how far the surroundings reach beyond a block, at least; above and below it is the
        block's height where that is more.
    looks: features of a block.
    """

    widths: tuple[int, ...] = (8, 16, 24, 24)
    bins: tuple[int, int] = (2, 4)
    margin: int = 8
    margin_bins: tuple[int, int] = (3, 3)
    looks: int = 32


class PictureNetwork(nn.Module):
    """The looks of each block of one page.

    No layer takes statistics over the picture: what stands far from a block cannot change its
    looks, whether the picture shows it or ends before.
    """

    def __init__(self, settings: VisionSettings) -> None:
        super().__init__()
        self.settings = settings
        sizes = (3, *settings.widths)
        layers: list[nn.Module] = []
        for i, (before, after) in enumerate(pairwise(sizes)):
            if 2**i < STRIDE:
                # One pixel more at the far ends keeps the last cell of an odd side, and cells
                # stay where RoIAlign looks for them.
                layers += [nn.ZeroPad2d((1, 2, 1, 2)), nn.Conv2d(before, after, 4, stride=2)]
            else:
                layers += [nn.Conv2d(before, after, 3, padding=1)]
            layers += [nn.ReLU()]
        self.map = nn.Sequential(*layers)
        for layer in layers:
            if isinstance(layer, nn.Conv2d):
                # Without normalisation, torch's default would let a page fade from layer to layer.
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        bins = sum(rows * columns for rows, columns in (settings.bins, settings.margin_bins))
        self.head = nn.Linear(bins * sizes[-1], settings.looks)

    def forward(self, pixels: Tensor, boxes: Tensor, seen: Tensor) -> Tensor:
        """The looks of b blocks on one picture, zeros for blocks that are not seen.

        Args:
            pixels: [1, 3, height, width] from 0 to 255.
            boxes: [b, 4] x1, y1, x2, y2 in picture pixels.
            seen: [b] bool.

        Returns:
            [b, looks]
        """
        # Ink, not light: a page is mostly white, and white is what lies beyond its edges.
        cells = self.map(1 - pixels.float() / 255)  # [1, C, rows, columns]
        around = surroundings(boxes, pixels.shape[2], pixels.shape[3], self.settings.margin)
        parts = [
            roi_align(cells, [box], bins, 1 / STRIDE, _SAMPLES, aligned=True).flatten(1)
            for box, bins in ((boxes, self.settings.bins), (around, self.settings.margin_bins))
        ]
        looks: Tensor = self.head(torch.cat(parts, dim=1))
        return looks * seen[:, None]


def surroundings(boxes: Tensor, height: int, width: int, margin: int) -> Tensor:
    """Boxes grown by a margin on each side, above and below by their height if that is more.

    Args:
        boxes: [b, 4] x1, y1, x2, y2.
        height, width: of the picture that they are clipped to.

    Returns:
        [b, 4]
    """
    left, top, right, bottom = boxes.unbind(1)
    grown = (bottom - top).clamp(min=margin)
    edges = (
        (left - margin).clamp(min=0),
        (top - grown).clamp(min=0),
        (right + margin).clamp(max=width),
        (bottom + grown).clamp(max=height),
    )
    return torch.stack(edges, dim=1)
