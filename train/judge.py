"""What a member says of pages, in batches, and how right it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ..model.networks import Member
from .batches import Batch, collate
from .losses import marginals
from .samples import Sample

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

_BATCH = 16
_CERTAIN = 1e-6  # a probability is no nearer to 0 or 1 where its logarithm is taken


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Probabilities of k states, and what gold says of their leaves.

    A state counts as often as it has leaves with a label.
    """

    probability: Float64  # [k]
    leaves: Int64  # [k, 2] of boilerplate, of content

    def blocks(self) -> tuple[Float64, npt.NDArray[np.bool_]]:
        """The probability and the label of each leaf that has one, both [leaves]."""
        sides = [np.repeat(self.probability, self.leaves[:, side]) for side in (0, 1)]
        return np.concatenate(sides), np.repeat([False, True], list(map(len, sides)))

    @property
    def f1(self) -> float:
        """Block F1 of the leaves, pooled; 0 where there is none."""
        found = self.leaves[self.probability > 0.5].sum(axis=0)
        return float(2 * found[1] / max(found.sum() + self.leaves[:, 1].sum(), 1))

    @property
    def nll(self) -> float:
        """Mean negative log probability of the leaves' labels."""
        sure = np.clip(self.probability, _CERTAIN, 1 - _CERTAIN)
        log = np.log(np.stack([1 - sure, sure], axis=1))
        return float(-(log * self.leaves).sum() / max(self.leaves.sum(), 1))


def potentials(member: Member, batch: Batch) -> tuple[Tensor, Tensor]:
    """Log potentials [n, s, 2] and [n, s - 1, 2, 2] of a batch, pictures looked at where given."""
    device = batch.blocks.device
    size = batch.blocks.shape[1]
    looks = []
    for picture in batch.pictures:
        if picture is None:
            looks.append(batch.blocks.new_zeros(size, member.eyes.settings.looks))
            continue
        pixels = torch.from_numpy(picture.pixels).to(device).permute(2, 0, 1)[None]
        places = (torch.from_numpy(table).to(device) for table in (picture.boxes, picture.seen))
        seen = member.eyes(pixels, *places)
        looks.append(torch.nn.functional.pad(seen, (0, 0, 0, size - len(seen))))
    unary, pairwise = member.page(batch.blocks, batch.edges, torch.stack(looks), batch.real)
    return unary, pairwise


@torch.no_grad()
def judge(
    member: Member, samples: Sequence[Sample], pairwise_weight: float, device: str
) -> Judgement:
    """What a member says of samples, in the order of their lengths, without their pictures."""
    member.eval()
    ordered = sorted(samples, key=len)
    probability, leaves = [np.zeros(0)], [np.zeros((0, 2), np.int64)]
    for start in range(0, len(ordered), _BATCH):
        some = ordered[start : start + _BATCH]
        batch = collate(some, [None] * len(some), device)
        unary, pairwise = potentials(member, batch)
        content = marginals(unary.float(), pairwise.float() * pairwise_weight, batch.real)
        probability.append(content[batch.real].cpu().numpy().astype(np.float64))
        leaves += [sample.leaves for sample in some]
    return Judgement(np.concatenate(probability), np.concatenate(leaves))
