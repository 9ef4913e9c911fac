"""The likelihood of label sequences in torch, against brute force and the chain in numpy."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_chain import EXTREME, SMOOTH, Array, all_scores, log_sum

from pagesight.model.chain import marginals

torch = pytest.importorskip("torch")
from pagesight.model.likelihood import chain_loss, log_partition  # noqa: E402

UNKNOWN = -1
CHAINS = st.one_of(SMOOTH, EXTREME)


def batch(chain: tuple[Array, Array]) -> tuple[Any, Any, Any]:
    """A chain as a batch of one page without padding."""
    unary, pairwise = map(torch.from_numpy, chain)
    return unary[None], pairwise[None], torch.ones(1, len(unary), dtype=torch.bool)


def padded(chains: list[tuple[Array, Array]]) -> tuple[Any, Any, Any]:
    """Chains behind which there is padding of any potentials."""
    longest = max(len(unary) for unary, _ in chains)
    rng = np.random.default_rng(longest)
    unary = rng.normal(0, 50, (len(chains), longest, 2))
    pairwise = rng.normal(0, 50, (len(chains), longest - 1, 2, 2))
    real = np.zeros((len(chains), longest), bool)
    for i, (own_unary, own_pairwise) in enumerate(chains):
        size = len(own_unary)
        unary[i, :size], pairwise[i, : size - 1], real[i, :size] = own_unary, own_pairwise, True
    return torch.from_numpy(unary), torch.from_numpy(pairwise), torch.from_numpy(real)


def agree(path: tuple[int, ...], labels: list[int]) -> bool:
    return all(label in (UNKNOWN, own) for own, label in zip(path, labels, strict=True))


def brute_loss(chain: tuple[Array, Array], labels: list[int]) -> float:
    scores = all_scores(*chain)
    fitting = [score for path, score in scores.items() if agree(path, labels)]
    return log_sum([*scores.values()]) - log_sum(fitting)


def labels_of(size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.sampled_from([0, 1, UNKNOWN]), min_size=size, max_size=size)


LABELLED = CHAINS.flatmap(lambda chain: st.tuples(st.just(chain), labels_of(len(chain[0]))))


@given(CHAINS)
@settings(max_examples=100, deadline=None)
def test_all_labelings_are_summed(chain: tuple[Array, Array]) -> None:
    wanted = log_sum([*all_scores(*chain).values()])
    assert log_partition(*batch(chain)).tolist() == pytest.approx([wanted], rel=1e-12, abs=1e-9)


@given(LABELLED)
@settings(max_examples=150, deadline=None)
def test_the_loss_of_labels_known_and_unknown(
    case: tuple[tuple[Array, Array], list[int]],
) -> None:
    chain, labels = case
    unary, pairwise, real = batch(chain)
    (found,) = chain_loss(unary, pairwise, torch.tensor([labels]), real).tolist()
    assert found == pytest.approx(brute_loss(chain, labels), rel=1e-9, abs=1e-9)


@given(st.lists(LABELLED, min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_padding_changes_nothing(cases: list[tuple[tuple[Array, Array], list[int]]]) -> None:
    unary, pairwise, real = padded([chain for chain, _ in cases])
    unary.requires_grad_()
    # What stands behind a page as its label must not count either.
    labels = torch.ones(real.shape, dtype=torch.int64)
    for i, (_, own) in enumerate(cases):
        labels[i, : len(own)] = torch.tensor(own)
    losses = chain_loss(unary, pairwise, labels, real)
    wanted = [brute_loss(*case) for case in cases]
    assert losses.tolist() == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    losses.sum().backward()
    assert unary.grad.isfinite().all()
    assert (unary.grad[~real] == 0).all()


@given(CHAINS)
@settings(max_examples=100, deadline=None)
def test_the_gradient_is_the_marginals(chain: tuple[Array, Array]) -> None:
    unary, pairwise, real = batch(chain)
    unary.requires_grad_()
    log_partition(unary, pairwise, real).sum().backward()
    np.testing.assert_allclose(unary.grad[0, :, 1], marginals(*chain), atol=1e-9)
    np.testing.assert_allclose(unary.grad[0].sum(dim=1), 1, atol=1e-9)


@pytest.mark.parametrize(("label", "wanted"), [(0, 0.9), (1, 0.1), (UNKNOWN, 1.0), (7, 1.0)])
def test_one_state_by_hand(label: int, wanted: float) -> None:
    unary = torch.tensor([[[math.log(9), 0.0]]], requires_grad=True)
    nothing, real = torch.zeros(1, 0, 2, 2), torch.ones(1, 1, dtype=torch.bool)
    assert log_partition(unary, nothing, real).tolist() == pytest.approx([math.log(10)])
    loss = chain_loss(unary, nothing, torch.tensor([[label]]), real)
    assert loss.exp().tolist() == pytest.approx([1 / wanted])
    loss.sum().backward()
    known = 0 if label in (0, 1) else 1
    pull = [0.0, 0.0] if known else [0.9 - (label == 0), 0.1 - (label == 1)]
    assert unary.grad is not None
    assert unary.grad.flatten().tolist() == pytest.approx(pull, abs=1e-6)


def test_two_states_by_hand() -> None:
    """Scores 1, 2, 3, 4 of the labelings 00, 01, 10, 11; the odd one out is what the pair says."""
    unary = torch.log(torch.tensor([[[1.0, 3.0], [1.0, 1.0]]]))
    pairwise = torch.log(torch.tensor([[[[1.0, 2.0], [1.0, 4 / 3]]]]))
    real = torch.ones(1, 2, dtype=torch.bool)

    def likely(*labels: int) -> float:
        return float(chain_loss(unary, pairwise, torch.tensor([labels]), real).neg().exp())

    assert [likely(0, 0), likely(0, 1), likely(1, 0), likely(1, 1)] == pytest.approx(
        [0.1, 0.2, 0.3, 0.4]
    )
    assert likely(UNKNOWN, 1) == pytest.approx(0.6)
    assert likely(1, UNKNOWN) == pytest.approx(0.7)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 64, 65, 1023])
def test_every_labeling_of_equal_states_counts_once(size: int) -> None:
    """2 ** size labelings of score 1, whatever the number of rounds."""
    real = torch.ones(1, size, dtype=torch.bool)
    unary, pairwise = torch.zeros(1, size, 2), torch.zeros(1, size - 1, 2, 2)
    assert float(log_partition(unary, pairwise, real)) == pytest.approx(size * math.log(2))
    labels = torch.full((1, size), UNKNOWN)
    labels[0, ::2] = 1
    loss = chain_loss(unary, pairwise, labels, real)
    assert float(loss) == pytest.approx((size + 1) // 2 * math.log(2), rel=1e-4)


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_long_chains(scale: float) -> None:
    generator = torch.Generator().manual_seed(0)
    unary = torch.randn(2, 2000, 2, generator=generator).mul(scale).requires_grad_()
    pairwise = torch.randn(2, 1999, 2, 2, generator=generator).mul(scale).requires_grad_()
    labels = torch.randint(UNKNOWN, 2, (2, 2000), generator=generator)
    real = torch.ones(2, 2000, dtype=torch.bool)
    real[1, 1500:] = False
    began = time.process_time()
    losses = chain_loss(unary, pairwise, labels, real)
    losses.sum().backward()
    assert time.process_time() - began < 1
    assert losses.isfinite().all()
    assert (losses > 0).all()
    for gradient in (unary.grad, pairwise.grad):
        assert gradient is not None
        assert gradient.isfinite().all()
        assert gradient.abs().max() <= 1 + 1e-3
    if scale == 1:
        alone = log_partition(unary[:1], pairwise[:1], real[:1])
        (gradient,) = torch.autograd.grad(alone.sum(), unary)
        wanted = marginals(unary[0].detach().numpy(), pairwise[0].detach().numpy())
        np.testing.assert_allclose(gradient[0, :, 1], wanted, atol=1e-3)


def test_descending_the_loss_teaches_the_labels() -> None:
    """Potentials free to move give the known labels nearly all the probability."""
    unary = torch.zeros(1, 9, 2, requires_grad=True)
    pairwise = torch.zeros(1, 8, 2, 2, requires_grad=True)
    labels, real = torch.tensor([[0, 1, 0, 1, UNKNOWN, 1, 0, 1, 0]]), torch.ones(1, 9) > 0
    optimizer = torch.optim.SGD([unary, pairwise], lr=1.0)
    for _ in range(100):
        optimizer.zero_grad()
        chain_loss(unary, pairwise, labels, real).sum().backward()
        optimizer.step()
    found = marginals(unary[0].detach().numpy(), pairwise[0].detach().numpy()) > 0.5
    known = labels[0] != UNKNOWN
    assert (found == labels[0].numpy())[known.numpy()].all()
    assert float(chain_loss(unary, pairwise, labels, real).detach()) < 0.1
