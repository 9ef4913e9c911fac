"""The exact likelihood of label sequences under the chain, for batches of pages, in torch.

A linear-chain conditional random field (Lafferty, McCallum, Pereira 2001). The forward recursion
is a product of 2 x 2 matrices in the (logsumexp, +) semiring; a product may be bracketed in any
way, so that neighbours are multiplied in pairs, all pairs at once: log2(s) rounds, not s steps.
"""

from __future__ import annotations

import torch
from torch import Tensor

# Instead of minus infinity, whose gradients are not numbers.
_IMPOSSIBLE = -1e4


def chain_loss(unary: Tensor, pairwise: Tensor, labels: Tensor, real: Tensor) -> Tensor:
    """-log P(labels) of each page, summed over the labelings that agree with the known ones, [n].

    Args:
        unary: [n, s, 2] log potentials.
        pairwise: [n, s - 1, 2, 2] log potentials of (label, next label).
        labels: [n, s] 0 or 1; any other number where gold says nothing.
        real: [n, s] bool, False for the padding behind a page; a page has a state at least.
    """
    ruled_out = torch.stack([labels == 1, labels == 0], dim=2) * _IMPOSSIBLE  # [n, s, 2]
    agreeing = log_partition(unary + ruled_out, pairwise, real)
    return log_partition(unary, pairwise, real) - agreeing


def log_partition(unary: Tensor, pairwise: Tensor, real: Tensor) -> Tensor:
    """Log of the summed exponential scores of all labelings of each page, [n].

    The arguments are those of `chain_loss`.
    """
    identity = unary.new_tensor([[0.0, _IMPOSSIBLE], [_IMPOSSIBLE, 0.0]])
    # [n, s - 1, 2, 2] from the label of a state to that of the next, that one's own score included
    steps = pairwise + unary[:, 1:, None, :]
    steps = torch.where(real[:, 1:, None, None], steps, identity)
    while steps.shape[1] > 1:
        if steps.shape[1] % 2:
            steps = torch.cat([steps, identity.expand(len(steps), 1, 2, 2)], dim=1)
        first, second = steps[:, 0::2], steps[:, 1::2]
        steps = torch.logaddexp(
            first[..., :, :1] + second[..., :1, :], first[..., :, 1:] + second[..., 1:, :]
        )
    if not steps.shape[1]:
        return unary[:, 0].logsumexp(dim=1)
    return (unary[:, 0, :, None] + steps[:, 0]).logsumexp(dim=(1, 2))
