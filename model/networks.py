"""The network of a page: log potentials of the states of the chain and of its edges, in torch.

A state is an unbroken run of text. Residual dilated convolutions (Yu, Koltun 2016; He et al. 2016)
over the sequence of states, with the whole page's mean and maximum mixed in twice; a few networks
trained on different parts of the data are averaged (Breiman 1996). The trunk is shared by labelling
policies, each with a head of its own (Caruana 1997): data sets disagree on what main content is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, relu

from .kinds import KINDS
from .vision import PictureNetwork, VisionSettings

# Standardised features beyond these many deviations are cut.
_FURTHEST = 5.0
_FEW = 200  # training pages
_LEAST_DEVIATION = 0.05  # a column that hardly varies in training must not explode later


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """Sizes of a PageNetwork, and how much of it is dropped in training.

    policies: how many heads there are. kinds: of pages, that are told apart.
    dilations: of the convolutions, one residual layer each.
    pooled_after: the layers after which the page's mean and maximum are mixed in.
    dropped_columns: share of the features of a page that a training step goes without.
    dropped_channels: share of a layer's channels, for the whole page alike.
    """

    policies: int = 1
    kinds: int = len(KINDS)
    width: int = 32
    dilations: tuple[int, ...] = (1, 2, 4, 8, 16, 1)
    pooled_after: tuple[int, ...] = (1, 3)
    pair_width: int = 32
    dropped_columns: float = 0.5
    dropped_inputs: float = 0.2
    dropped_channels: float = 0.3

    @classmethod
    def for_pages(cls, pages: int, policies: int = 1) -> NetworkSettings:
        """What suits so many training pages: few are soon known by heart, so more is dropped."""
        usual = cls(policies=policies)
        few = replace(usual, dropped_columns=0.7, dropped_channels=0.5)
        return usual if pages >= _FEW else few


class PageDropout(nn.Module):
    """Drops channels for all states of a page alike: neighbours cannot tell what was dropped."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, values: Tensor) -> Tensor:
        """[n, s, C] to the same."""
        if not self.training or not self.share:
            return values
        kept = torch.rand(len(values), 1, values.shape[2], device=values.device) >= self.share
        return values * kept / (1 - self.share)


class Standardise(nn.Module):
    """Columns by the mean and the deviation that they had in training; what is NaN becomes 0."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(columns))
        self.register_buffer("deviation", torch.ones(columns))

    def fit(self, table: Tensor) -> None:
        """Take mean and deviation from [rows, columns]."""
        self.mean.copy_(table.mean(dim=0))
        self.deviation.copy_(table.std(dim=0, correction=0).clamp(min=_LEAST_DEVIATION))

    def forward(self, values: Tensor) -> Tensor:
        """[.., columns] to the same."""
        scaled = (values - self.mean) / self.deviation
        return torch.where(scaled.isnan(), 0.0, scaled).clamp(-_FURTHEST, _FURTHEST)


class DilatedLayer(nn.Module):
    """x + f(x), f a convolution of three states that lie `dilation` apart."""

    def __init__(self, width: int, dilation: int, dropped: float) -> None:
        super().__init__()
        self.dilation = dilation
        self.norm = nn.LayerNorm(width)
        # A matrix product over shifted copies is twice as fast on a CPU as Conv1d here.
        self.mix = nn.Linear(3 * width, width)
        self.out = nn.Linear(width, width)
        self.drop = PageDropout(dropped)

    def forward(self, states: Tensor, real: Tensor) -> Tensor:
        """States [n, s, width] and real [n, s, 1] to [n, s, width]."""
        length = states.shape[1]
        padded = pad(self.norm(states) * real, (0, 0, self.dilation, self.dilation))
        shifted = [padded[:, i * self.dilation : i * self.dilation + length] for i in range(3)]
        change = self.out(relu(self.mix(torch.cat(shifted, dim=2))))
        mixed: Tensor = (states + self.drop(change)) * real
        return mixed


def pool(states: Tensor, real: Tensor) -> Tensor:
    """The mean and the maximum over the states of a page, [n, s, width] to [n, 1, 2 width]."""
    mean = states.sum(dim=1, keepdim=True) / real.sum(dim=1, keepdim=True)
    highest = torch.where(real > 0, states, -torch.inf).amax(dim=1, keepdim=True)
    return torch.cat([mean, highest], dim=2)


class PagePool(nn.Module):
    """Tells each state what the page is like: the mean and the maximum over its states."""

    def __init__(self, width: int, dropped: float) -> None:
        super().__init__()
        self.mix = nn.Linear(2 * width, width)
        self.drop = PageDropout(dropped)

    def forward(self, states: Tensor, real: Tensor) -> Tensor:
        """States [n, s, width] and real [n, s, 1] to [n, s, width]."""
        told: Tensor = (states + relu(self.mix(self.drop(pool(states, real))))) * real
        return told


class PageNetwork(nn.Module):
    """Unary potentials of the states of pages, pairwise potentials of their edges, page kinds."""

    def __init__(self, columns: int, edge_columns: int, looks: int, sizes: NetworkSettings) -> None:
        super().__init__()
        self.policies = sizes.policies
        self.standardise = Standardise(columns)
        self.standardise_edges = Standardise(edge_columns)
        self.drop_columns = PageDropout(sizes.dropped_columns)
        self.read = nn.Linear(columns + looks, sizes.width)
        self.drop_inputs = PageDropout(sizes.dropped_inputs)
        self.layers = nn.ModuleList(
            DilatedLayer(sizes.width, dilation, sizes.dropped_channels)
            for dilation in sizes.dilations
        )
        self.pools = nn.ModuleDict(
            {str(i): PagePool(sizes.width, sizes.dropped_channels) for i in sizes.pooled_after}
        )
        self.norm = nn.LayerNorm(sizes.width)
        self.unary = nn.Linear(sizes.width, 2 * sizes.policies)
        last = nn.Linear(sizes.pair_width, 4 * sizes.policies)
        # The chain starts as independent states.
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        first = nn.Linear(edge_columns + 2 * sizes.width, sizes.pair_width)
        self.pairwise = nn.Sequential(first, nn.ReLU(), last)
        self.kind = nn.Linear(2 * sizes.width, sizes.kinds)
        # No kind is told before a page has taught one.
        nn.init.zeros_(self.kind.weight)
        nn.init.zeros_(self.kind.bias)

    def forward(
        self, blocks: Tensor, edges: Tensor, looks: Tensor, real: Tensor, policy: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Log potentials [n, s, 2] and [n, s - 1, 2, 2], and the log odds of kinds [n, kinds].

        Args:
            blocks: [n, s, columns], NaN for what is not known.
            edges: [n, s - 1, edge_columns].
            looks: [n, s, looks] of a PictureNetwork, zeros for what was not seen.
            real: [n, s] bool, False for the padding behind a page.
            policy: [n, policies], 1 for the head whose potentials are wanted and 0 for others.
        """
        mask = real[:, :, None].to(blocks.dtype)
        known = self.drop_columns(self.standardise(blocks))
        states = self.drop_inputs(relu(self.read(torch.cat([known, looks], dim=2)))) * mask
        for i, layer in enumerate(self.layers):
            states = layer(states, mask)
            if str(i) in self.pools:
                states = self.pools[str(i)](states, mask)
        states = self.norm(states)
        sides = [self.standardise_edges(edges), states[:, :-1], states[:, 1:]]
        unary = _of_policy(self.unary(states), policy)  # [n, s, 2]
        pairs = _of_policy(self.pairwise(torch.cat(sides, dim=2)), policy)  # [n, s - 1, 4]
        kinds = self.kind(pool(states * mask, mask)[:, 0])
        return unary, pairs.reshape(*pairs.shape[:2], 2, 2), kinds


def _of_policy(heads: Tensor, policy: Tensor) -> Tensor:
    """What the chosen heads say: [n, s, policies * k] and [n, policies] to [n, s, k]."""
    n, s, values = heads.shape
    by_policy = heads.reshape(n, s, policy.shape[1], values // policy.shape[1])
    return (by_policy * policy[:, None, :, None]).sum(dim=2)


class Member(nn.Module):
    """A network with eyes of its own: what is trained at a time."""

    def __init__(
        self, columns: int, edge_columns: int, sizes: NetworkSettings, vision: VisionSettings
    ) -> None:
        super().__init__()
        self.page = PageNetwork(columns, edge_columns, vision.looks, sizes)
        self.eyes = PictureNetwork(vision)


class Mean(nn.Module):
    """The mean of what the members say, for pages without padding: what is exported."""

    def __init__(self, members: list[Member]) -> None:
        super().__init__()
        self.pages = nn.ModuleList(member.page for member in members)

    def forward(
        self, blocks: Tensor, edges: Tensor, looks: Tensor, policy: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Of one page in n variants: potentials [n, s, 2], [n, s - 1, 2, 2], kinds [n, kinds].

        Args:
            blocks: [n, s, columns].
            edges: [1, s - 1, edge_columns].
            looks: [members, s, looks].
            policy: [1, policies], 1 for the one that is wanted.
        """
        real = torch.ones_like(blocks[:, :, 0], dtype=torch.bool)
        variants = blocks.shape[0]  # len(blocks) would be a constant of the exported graph
        every_edge = edges.expand(variants, -1, -1)
        every_policy = policy.expand(variants, -1)
        said = [
            page(blocks, every_edge, looks[i].expand(variants, -1, -1), real, every_policy)
            for i, page in enumerate(self.pages)
        ]
        unary, pairwise, kinds = (torch.stack(part).mean(dim=0) for part in zip(*said, strict=True))
        return unary, pairwise, kinds


class Eyes(nn.Module):
    """What each member sees of a picture: what is exported beside the networks."""

    def __init__(self, members: list[Member]) -> None:
        super().__init__()
        self.eyes = nn.ModuleList(member.eyes for member in members)

    def forward(self, pixels: Tensor, boxes: Tensor, seen: Tensor) -> Tensor:
        """[members, s, looks]; the arguments are those of a PictureNetwork."""
        return torch.stack([eyes(pixels, boxes, seen) for eyes in self.eyes])
