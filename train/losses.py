"""What a training minimises, and the probabilities of the chain, in torch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..model.likelihood import chain_loss, log_partition
from .batches import Batch

_IGNORED = -100  # the label that cross_entropy passes over
_WORDS_POWER = 0.5  # how much more a long block counts than a short one
_PAGE_SHARE = 0.5  # of the loss of whole pages beside that of blocks
_KIND_SHARE = 0.1


def batch_loss(chain: str, unary: Tensor, pairwise: Tensor, batch: Batch) -> Tensor:
    """The loss of a batch; the potentials' shapes are those of `chain_loss`.

    Joint: the likelihood of label sequences, a mean over states. Separate: edges by themselves,
    and states by themselves, each page counting alike: by cross-entropy, the longer blocks weighing
    more, and by what the page lacks of a word F1 of 1, in expectation (cf. Eban et al. 2017).
    """
    labels, real = batch.labels, batch.real
    if chain == "joint":
        return chain_loss(unary, pairwise, labels, real).sum() / real.sum()
    pairs = torch.where(
        (labels[:, :-1] < 0) | (labels[:, 1:] < 0), _IGNORED, labels[:, :-1] * 2 + labels[:, 1:]
    )
    pages = _block_loss(unary, labels, batch.words) + _PAGE_SHARE * _page_loss(
        unary, labels, batch.words
    )
    return pages.mean() + _mean_entropy(pairwise.flatten(2).flatten(0, 1), pairs)


def kind_loss(kinds: Tensor, wanted: Tensor) -> Tensor:
    """What not knowing the kinds of pages costs: [n, kinds] and [n], below 0 where nobody knows."""
    return _KIND_SHARE * _mean_entropy(kinds, torch.where(wanted < 0, _IGNORED, wanted))


def _block_loss(unary: Tensor, labels: Tensor, words: Tensor) -> Tensor:
    """Cross-entropy of the labelled states of each page, a weighted mean, [n]."""
    weights = words.clamp(min=1) ** _WORDS_POWER * (labels >= 0)
    targets = torch.where(labels < 0, _IGNORED, labels)
    entropy = cross_entropy(unary.transpose(1, 2), targets, ignore_index=_IGNORED, reduction="none")
    return (entropy * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1e-6)


def _page_loss(unary: Tensor, labels: Tensor, words: Tensor) -> Tensor:
    """1 - F1 of the words of each page if each state is kept with its probability, [n]."""
    counted = words * (labels >= 0)
    kept = unary.softmax(dim=2)[:, :, 1] * counted
    wanted = counted * labels.clamp(min=0)
    hits = (kept * labels.clamp(min=0)).sum(dim=1)
    # One more word that is right: a page without content asks for nothing else to be kept.
    return 1 - (2 * hits + 1) / (kept.sum(dim=1) + wanted.sum(dim=1) + 1)


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
