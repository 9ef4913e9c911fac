"""The two networks of Web2Text (Vogels, Ganea, Eickhoff 2018, section 3.4), in torch."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Web2TextSettings:
    """Widths and kernels of a stack of 1-D convolutions over the block sequence."""

    widths: tuple[int, ...] = (50, 50, 50, 10)
    kernels: tuple[int, ...] = (1, 1, 3, 3, 3)
    dropout: float = 0.2


class SequenceCnn(nn.Module):
    """Convolutions of the same padding with ReLU between them, and a log softmax over classes."""

    def __init__(self, features: int, classes: int, settings: Web2TextSettings) -> None:
        super().__init__()
        sizes = (features, *settings.widths, classes)
        layers: list[nn.Module] = []
        for i, kernel in enumerate(settings.kernels):
            layers += [nn.Conv1d(sizes[i], sizes[i + 1], kernel, padding=kernel // 2)]
            if i + 1 < len(settings.kernels):
                layers += [nn.ReLU(), nn.Dropout(settings.dropout)]
        self.layers = nn.Sequential(*layers)

    def forward(self, features: Tensor) -> Tensor:
        """Features [n, length, F] to log probabilities [n, length, classes]."""
        scores: Tensor = self.layers(features.transpose(1, 2)).transpose(1, 2)
        return scores.log_softmax(dim=2)


class Web2TextNetwork(nn.Module):
    """Unary potentials of blocks and pairwise potentials of edges, trained apart.

    Pairwise class 2 * l_i + l_(i+1) stands for the labels (l_i, l_(i+1)).
    """

    def __init__(self, block_features: int, edge_features: int, settings: Web2TextSettings) -> None:
        super().__init__()
        self.unary = SequenceCnn(block_features, 2, settings)
        self.pairwise = SequenceCnn(edge_features, 4, settings)

    def forward(self, blocks: Tensor, edges: Tensor) -> tuple[Tensor, Tensor]:
        """[n, b, F] and [n, b - 1, E] to log potentials [n, b, 2] and [n, b - 1, 4]."""
        return self.unary(blocks), self.pairwise(edges)
