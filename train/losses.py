"""What a training minimises, and the probabilities of the chain, in torch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..model.likelihood import chain_loss, log_partition

_IGNORED = -100  # the label that cross_entropy passes over


def batch_loss(chain: str, unary: Tensor, pairwise: Tensor, labels: Tensor, real: Tensor) -> Tensor:
    """The loss of a batch, a mean over its states; the shapes are those of `chain_loss`."""
    if chain == "joint":
        return chain_loss(unary, pairwise, labels, real).sum() / real.sum()
    known = torch.where(labels < 0, _IGNORED, labels)
    pairs = torch.where(
        (labels[:, :-1] < 0) | (labels[:, 1:] < 0), _IGNORED, labels[:, :-1] * 2 + labels[:, 1:]
    )
    return _mean_entropy(unary.flatten(0, 1), known) + _mean_entropy(
        pairwise.flatten(2).flatten(0, 1), pairs
    )


def _mean_entropy(scores: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of [k, classes] and k labels; 0 where there is none."""
    wanted = (labels != _IGNORED).sum().clamp(min=1)
    return cross_entropy(scores, labels.flatten(), ignore_index=_IGNORED, reduction="sum") / wanted


def marginals(unary: Tensor, pairwise: Tensor, real: Tensor) -> Tensor:
    """The probability of label 1 of each state, [n, s]: the gradient of the log partition."""
    with torch.enable_grad():
        leaf = unary.detach().requires_grad_()
        total = log_partition(leaf, pairwise.detach(), real).sum()
        (gradient,) = torch.autograd.grad(total, leaf)
    return gradient[:, :, 1].clamp(0, 1)  # rounding leads a little beyond
