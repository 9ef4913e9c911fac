"""hzxdark's proposal: AdaBoost on text length, text length / links and the previous line's label.

The author closes the experiments behind `rprop` with it and did not try it. The proposal speaks of
three weak classifiers: three stumps can never go from boilerplate to content, since the first one,
on the previous label, outvotes the two others. So there are `ROUNDS`. Lines are not weighted by
their page's balance: on pages held out from training that costs a third of the line F1.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .lines import Bools, Floats, PageLines, follow, labelled_lines, previous_labels, read_lines
from .protocol import LearnedSystem, StudyPage, TrainingPage

ROUNDS = 50
"""Stumps at most (scikit-learn's default)."""


class _Stumps(NamedTuple):
    """Each stump votes with its weight for content or against it, by one feature."""

    features: npt.NDArray[np.int64]  # [s]
    thresholds: Floats  # [s]
    below: Bools  # [s] whether it votes for content at or below its threshold
    above: Bools  # [s]
    weights: Floats  # [s]


class AdaBoost(LearnedSystem):
    """Boosted stumps that are told the true previous labels in training, and then their own."""

    name = "adaboost"
    version = "1"

    def __init__(self) -> None:
        self._stumps: _Stumps

    def fit(self, pages: Sequence[TrainingPage]) -> bytes:
        """The stumps as an npz file; ValueError if no page has both content and boilerplate."""
        pairs = labelled_lines(pages)
        # [n, 3], [n] over the lines of all pages
        features = [line_features(lines, previous_labels(labels)) for lines, labels in pairs]
        gold = np.concatenate([labels for _, labels in pairs])
        state = io.BytesIO()
        np.savez(state, **_boost(np.concatenate(features), gold)._asdict())
        return state.getvalue()

    def load(self, state: bytes) -> None:
        """Take over what `fit` gave."""
        with np.load(io.BytesIO(state), allow_pickle=False) as arrays:
            self._stumps = _Stumps(**arrays)

    def extract(self, page: StudyPage) -> str:
        """The lines of content, one a line."""
        lines = read_lines(page.html)
        nothing = np.zeros(len(lines), np.bool_)
        return lines.join(follow(self.labels(lines, nothing), self.labels(lines, ~nothing)))

    def labels(self, lines: PageLines, previous: Bools) -> Bools:
        """Which lines [n] are content, given the label of the line before each [n]."""
        features = line_features(lines, previous)
        votes = np.zeros(len(lines))
        for feature, threshold, below, above, weight in zip(*self._stumps, strict=True):
            content = np.where(features[:, feature] <= threshold, below, above)
            votes += np.where(content, weight, -weight)
        return votes > 0


def line_features(lines: PageLines, previous: Bools) -> npt.NDArray[np.float32]:
    """Characters, characters / links, label of the line before -> [n, 3]."""
    lengths = lines.lengths
    columns = [lengths, lengths / np.maximum(1, lines.links), previous]
    # scikit-learn's trees compare in this precision.
    return np.column_stack(columns).astype(np.float32)


def _boost(features: npt.NDArray[np.float32], gold: Bools) -> _Stumps:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    stump = DecisionTreeClassifier(max_depth=1)
    model = AdaBoostClassifier(stump, n_estimators=ROUNDS, random_state=0).fit(features, gold)
    # A tree that found nothing to split is a root alone: both its sides are the root.
    trees = [estimator.tree_ for estimator in model.estimators_]
    sides = [(1, 2) if tree.node_count > 1 else (0, 0) for tree in trees]
    votes = [
        [int(tree.value[node, 0].argmax()) for node in pair]
        for tree, pair in zip(trees, sides, strict=True)
    ]
    below, above = np.array(votes, np.bool_).T
    return _Stumps(
        features=np.array([max(0, tree.feature[0]) for tree in trees], np.int64),
        thresholds=np.array([tree.threshold[0] for tree in trees], np.float64),
        below=below,
        above=above,
        weights=np.array(model.estimator_weights_[: len(trees)], np.float64),
    )
