"""hzxdark's density network: a three-layer perceptron trained with RPROP, one sample a line.

From "A simple way to extract the main text from HTML files: results of experiments" (in Chinese,
2008, blog.csdn.net/hzxdark/article/details/3565929): six sets of inputs, squared error, each
line's error multiplied by its page's ratio of boilerplate to content. The author trained on ten
pages and found that sets 1 to 5 overfit, and that set 6, which is told the label of the line
before, is excellent with true labels and carries its errors on when it is told its own.

What the source leaves open: the hidden layer and the epochs; sets 3 and 4, whose inputs are the
same, differ here in the weights they start from.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .lines import (
    Bools,
    Floats,
    PageLines,
    follow,
    labelled_lines,
    page_balance,
    previous_labels,
    read_lines,
)
from .protocol import LearnedSystem, StudyPage, TrainingPage

if TYPE_CHECKING:
    from ...train.metrics import BlockScores

HIDDEN = 10
EPOCHS = 300
LONG = 5000
"""Characters from which on lines count as equally long (hzxdark)."""

TENTHS = 10

# How far lines around a line are seen, by feature set.
_REACH = {1: 1, 2: 2, 3: 2, 4: 2, 5: 1, 6: 1}
_WITH_PREVIOUS = 6


class _Weights(NamedTuple):
    """[i] inputs, [h] hidden units. mean and scale bring the inputs to one size."""

    mean: Floats  # [i]
    scale: Floats  # [i]
    hidden: Floats  # [i, h]
    hidden_bias: Floats  # [h]
    output: Floats  # [h]
    output_bias: Floats  # []


class RpropNetwork(LearnedSystem):
    """The network on one of the feature sets 1 to 6; `rprop-6` is told its own previous label."""

    version = "1"

    def __init__(self, feature_set: int):
        self.name = f"rprop-{feature_set}"
        self._set = feature_set
        self._weights: _Weights

    def fit(self, pages: Sequence[TrainingPage]) -> bytes:
        """The weights as an npz file; ValueError if no page has both content and boilerplate."""
        pairs = labelled_lines(pages)
        # [n, i], [n], [n] over the lines of all pages
        inputs = np.concatenate(
            [self.features(lines, previous_labels(labels)) for lines, labels in pairs]
        )
        targets = np.concatenate([labels for _, labels in pairs])
        weights = np.concatenate(
            [np.full(len(labels), page_balance(labels)) for _, labels in pairs]
        )
        state = io.BytesIO()
        trained = _train(inputs, targets.astype(np.float64), weights, seed=self._set)
        np.savez(state, **trained._asdict())
        return state.getvalue()

    def load(self, state: bytes) -> None:
        """Take over what `fit` gave."""
        with np.load(io.BytesIO(state), allow_pickle=False) as arrays:
            self._weights = _Weights(**arrays)

    def extract(self, page: StudyPage) -> str:
        """The lines of content, one a line."""
        lines = read_lines(page.html)
        return lines.join(self.own_labels(lines))

    def own_labels(self, lines: PageLines) -> Bools:
        """Which lines [n] are content, with no other label known than its own."""
        nothing = np.zeros(len(lines), np.bool_)
        if self._set != _WITH_PREVIOUS:
            return self.labels_after(lines, nothing)
        return follow(self._predict(lines, nothing), self._predict(lines, ~nothing))

    def labels_after(self, lines: PageLines, labels: Bools) -> Bools:
        """Which lines [n] are content, told the true label of the line before each."""
        return self._predict(lines, previous_labels(labels))

    def features(self, lines: PageLines, previous: Bools) -> Floats:
        """What the network sees of each line -> [n, i]; lines beyond the page's ends are all 0.

        previous: the label of the line before each [n].
        """
        columns = _around(_line_features(self._set, lines), _REACH[self._set])
        if self._set >= 3:
            # Articles have few links for their text, lists of articles many.
            share = lines.lengths.sum() / max(1.0, lines.links.sum())
            columns = np.column_stack([np.full(len(lines), share), columns])
        if self._set == _WITH_PREVIOUS:
            columns = np.column_stack([columns, previous])
        return columns

    def _predict(self, lines: PageLines, previous: Bools) -> Bools:
        weights = self._weights
        inputs = (self.features(lines, previous) - weights.mean) / weights.scale
        # [n, h], [n]
        hidden = _sigmoid(inputs @ weights.hidden + weights.hidden_bias)
        # The output's sigmoid is over a half.
        return hidden @ weights.output + weights.output_bias > 0


@dataclass(frozen=True, slots=True)
class Cascade:
    """How a network does when told true previous labels, and when told its own.

    true, own: scores over the lines of all pages. true_tenths, own_tenths: F1 over the lines of
    the first, second, ... tenth of their pages.
    """

    true: BlockScores
    own: BlockScores
    true_tenths: tuple[float, ...]
    own_tenths: tuple[float, ...]


def cascade(pages: Sequence[TrainingPage], network: RpropNetwork) -> Cascade:
    """Both ways over the lines of labelled pages; a network without previous labels has one.

    Raises ValueError if no page has both content and boilerplate.
    """
    from ...train.metrics import block_scores

    pairs = labelled_lines(pages)
    # [n] over the lines of all pages
    gold = np.concatenate([labels for _, labels in pairs])
    tenths = np.concatenate([np.arange(len(page)) * TENTHS // len(page) for page, _ in pairs])
    true = np.concatenate([network.labels_after(*pair) for pair in pairs])
    own = np.concatenate([network.own_labels(lines) for lines, _ in pairs])

    def by_tenth(labels: Bools) -> tuple[float, ...]:
        parts = [tenths == tenth for tenth in range(TENTHS)]
        return tuple(
            block_scores(gold[part], labels[part]).f1 if part.any() else 0.0 for part in parts
        )

    return Cascade(block_scores(gold, true), block_scores(gold, own), by_tenth(true), by_tenth(own))


def _line_features(feature_set: int, lines: PageLines) -> list[Floats]:
    """What a set sees of each line, without its neighbours -> [n] each."""
    lengths, densities = lines.lengths, lines.densities
    if feature_set == 1:
        return [densities, lengths, lines.html_bytes]
    if feature_set == 2:
        return [densities, 1 / lengths]
    return [densities, np.minimum(lengths / LONG, 1)]


def _around(columns: list[Floats], reach: int) -> Floats:
    """Each column [n] of the line and of the lines up to `reach` away -> [n, c (2 reach + 1)]."""
    padded = [np.pad(column, reach) for column in columns]
    shifts = range(2 * reach + 1)
    length = len(columns[0])
    return np.column_stack([column[s : s + length] for column in padded for s in shifts])


def _train(inputs: Floats, targets: Floats, weights: Floats, seed: int) -> _Weights:
    """Weights after `EPOCHS` steps of RPROP over all lines at once; the same on every run."""
    import torch

    generator = np.random.default_rng(seed)
    mean, scale = inputs.mean(axis=0), inputs.std(axis=0)
    scale[scale == 0] = 1
    units = inputs.shape[1]
    start = [
        generator.normal(0, units**-0.5, (units, HIDDEN)),
        np.zeros(HIDDEN),
        generator.normal(0, HIDDEN**-0.5, HIDDEN),
        np.zeros(()),
    ]
    # Sums over several threads differ in their last bits, and RPROP goes by their signs.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        hidden, hidden_bias, output, output_bias = (
            torch.tensor(array, requires_grad=True) for array in start
        )
        optimizer = torch.optim.Rprop([hidden, hidden_bias, output, output_bias])
        # [n, i], [n], [n]
        samples = torch.from_numpy((inputs - mean) / scale)
        gold, share = torch.from_numpy(targets), torch.from_numpy(weights / weights.sum())
        for _ in range(EPOCHS):
            optimizer.zero_grad()
            # [n, h], [n]
            inner = torch.sigmoid(samples @ hidden + hidden_bias)
            errors = torch.sigmoid(inner @ output + output_bias) - gold
            (share * errors**2).sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    finally:
        torch.set_num_threads(threads)
    trained = (hidden, hidden_bias, output, output_bias)
    return _Weights(mean, scale, *(tensor.detach().numpy() for tensor in trained))


def _sigmoid(values: Floats) -> Floats:
    return 0.5 * (1 + np.tanh(values / 2))
