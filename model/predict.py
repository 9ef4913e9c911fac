"""From a Page to Labels with a trained model, through ONNX Runtime."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..layout.features import BLOCK, EDGE, WEB2TEXT_BLOCK, FeatureSet, extract
from ..layout.page import Labels, Page
from ..render.errors import ModelError
from .chain import marginals, viterbi

Float32 = npt.NDArray[np.float32]

WEIGHTS = Path(__file__).parent / "weights"
# What counts as main content: CleanEval's rules, until the web has a model of its own.
POLICIES = {"web": "cleaneval-531", "cleaneval": "cleaneval-531"}
DEFAULT = POLICIES["web"]
# The probability that a block must exceed where one kind of error is worse than the other.
FAVOUR = {"precision": 0.75, "recall": 0.25}


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a model sees of a block, and what its chain runs over: leaves, or runs of them."""

    block_set: FeatureSet
    over_runs: bool


# "web2text" follows the paper; the other departs from it where that pays.
RECIPES = {"pagesight": Recipe(BLOCK, True), "web2text": Recipe(WEB2TEXT_BLOCK, False)}

# What a reason may name: columns of the block features by the start of their names.
_ASPECTS = {
    "text": ("leaf.", "duplicate"),
    "tags": ("leaf.tag.", "parent.tag", "class_path"),
    "parent": ("parent.",),
    "grandparent": ("grandparent.",),
    "page": ("root.",),
    "names": ("names.",),
    "layout": ("geometry.",),
}
_ASPECT_COLUMNS = [
    [column.startswith(starts) for column in BLOCK.columns] for starts in _ASPECTS.values()
]
_SMALLEST = 0.2  # log odds below which an aspect is not worth a word


@dataclass(frozen=True, slots=True)
class Card:
    """What a model is: how it was trained, what it fits and what was measured.

    recipe: one of RECIPES.
    block_digest, edge_digest: of the feature sets that it was trained on.
    pairwise_weight: lambda of the paper's section 3.5.
    """

    name: str
    dataset: str
    split: str
    block_digest: str
    edge_digest: str
    pairwise_weight: float
    weights_sha256: str
    recipe: str = "pagesight"
    settings: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.recipe not in RECIPES:
            raise ValueError(f"recipe {self.recipe!r}: there are {', '.join(RECIPES)}")
        if not (isinstance(self.pairwise_weight, int | float) and isfinite(self.pairwise_weight)):
            raise ValueError(f"pairwise_weight is {self.pairwise_weight!r}, no number")

    def write(self, path: Path) -> None:
        """Write the card as JSON."""
        path.write_text(json.dumps(asdict(self), indent=2) + "\n")


class Model:
    """Trained weights, ready to label pages. `load` makes one."""

    def __init__(self, card: Card, weights: bytes) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # pages are small
        options.log_severity_level = 4
        self.card, self._recipe = card, RECIPES[card.recipe]
        self._session = onnxruntime.InferenceSession(
            weights, options, providers=["CPUExecutionProvider"]
        )

    @classmethod
    def load(cls, name: str | os.PathLike[str] = DEFAULT) -> Model:
        """A packaged model by its name, or one's own by the path of its `.onnx` or `.json` file.

        Raises:
            ModelError: there is no such model, it is damaged, or it fits other features.
        """
        card, weights = read_card(name), _read(name, ".onnx")
        if hashlib.sha256(weights).hexdigest() != card.weights_sha256:
            raise ModelError(f"{name}: the weights are damaged, or not those of the card")
        block_set = RECIPES[card.recipe].block_set
        if (card.block_digest, card.edge_digest) != (block_set.digest, EDGE.digest):
            raise ModelError(f"{name}: trained on other features than this version computes")
        try:
            return cls(card, weights)
        except Exception as error:  # onnxruntime's own errors share no base class
            raise ModelError(f"{name}: the weights cannot be read: {error}") from error

    def label(self, page: Page, reasons: bool = True, favour: str = "") -> Labels:
        """The labels of a page.

        Without `reasons` each of them is empty, at a lower cost. `favour` "precision" or "recall"
        labels by the probability of each block instead of the most probable sequence.
        """
        features = extract(page, self._recipe.block_set)
        variants = _occluded(features.blocks) if reasons else features.blocks[None]
        unary, pairwise = self.potentials(variants, features.edges)
        content, probability = self.decode(page, unary[0], pairwise)
        if favour:
            content = probability > FAVOUR[favour]
        return Labels(
            content=content,
            probability=probability,
            reasons=_reasons(unary, probability) if reasons else ("",) * len(page),
        )

    def potentials(self, blocks: Float32, edges: Float32) -> tuple[Float32, Float32]:
        """Log potentials [v, b, 2] and [b - 1, 2, 2] from [v, b, F] and [b - 1, E]."""
        if not blocks.shape[1]:
            return np.zeros((len(blocks), 0, 2), np.float32), np.zeros((0, 2, 2), np.float32)
        # The runtime takes no empty sequence: a lone block gets an edge that is dropped again.
        padded = edges if len(edges) else np.zeros((1, edges.shape[1]), np.float32)
        unary, pairwise = self._session.run(None, {"blocks": blocks, "edges": padded[None]})
        return unary, pairwise[0, : len(edges)].reshape(-1, 2, 2)

    def decode(
        self, page: Page, unary: Float32, pairwise: Float32
    ) -> tuple[npt.NDArray[np.bool_], Float32]:
        """The Viterbi labels and the probabilities of the chain, both [b].

        The paper's chain runs over leaves. In ours the leaves of an unbroken run share one state,
        with the mean of their unary potentials weighted by their characters: a link is never cut
        out of its sentence.
        """
        edges = pairwise * self.card.pairwise_weight
        if not self._recipe.over_runs:
            return viterbi(unary, edges).astype(bool), marginals(unary, edges).astype(np.float32)
        sizes = np.fromiter(map(len, page.text), np.float64, len(page))
        total = np.bincount(page.run, sizes)
        means = [np.bincount(page.run, sizes * column) / total for column in unary.T]  # [2][runs]
        states, edges = np.stack(means, axis=1), edges[page.tree.break_before[1:]]
        content = viterbi(states, edges)[page.run].astype(bool)
        return content, marginals(states, edges)[page.run].astype(np.float32)


def read_card(name: str | os.PathLike[str]) -> Card:
    """The card of a model alone; `name` as in `Model.load`. Raises ModelError."""
    content = _read(name, ".json")
    try:
        return Card(**json.loads(content))
    except (ValueError, TypeError) as error:
        raise ModelError(f"{name}: damaged model card: {error}") from error


def _read(name: str | os.PathLike[str], suffix: str) -> bytes:
    path = Path(name)
    if path.suffix not in {".onnx", ".json"}:
        path = WEIGHTS / f"{name}.onnx"
    try:
        return path.with_suffix(suffix).read_bytes()
    except FileNotFoundError as error:
        raise ModelError(f"{name}: no such model: {error.filename} is missing") from error
    except OSError as error:
        raise ModelError(f"{name}: damaged model card: {error}") from error


def packaged() -> list[str]:
    """The names of the models in the package."""
    return sorted(path.stem for path in WEIGHTS.glob("*.onnx"))


def _occluded(blocks: Float32) -> Float32:
    """The features as they are, then with each aspect set to its mean, [1 + aspects, b, F]."""
    variants = np.repeat(blocks[None], 1 + len(_ASPECTS), axis=0)
    for variant, columns in zip(variants[1:], _ASPECT_COLUMNS, strict=True):
        variant[:, columns[: blocks.shape[1]]] = 0
    return variants


def _reasons(unary: Float32, probability: Float32) -> tuple[str, ...]:
    """What spoke for and against each block: the log odds that an aspect adds.

    An aspect's share is what the network loses without it (occlusion); what the neighbours add is
    the difference of the chain's log odds and the network's own.
    """
    odds = unary[:, :, 1] - unary[:, :, 0]  # [1 + aspects, b]
    bounded = np.clip(probability.astype(np.float64), 1e-6, 1 - 1e-6)
    chain = np.log(bounded / (1 - bounded)) - np.clip(odds[0], -13.8, 13.8)
    shares = np.concatenate([odds[0] - odds[1:], chain[None]])  # [aspects + 1, b]
    names = (*_ASPECTS, "neighbours")
    return tuple(_one_reason(names, column) for column in shares.T.tolist())


def _one_reason(names: tuple[str, ...], shares: list[float]) -> str:
    ranked = sorted(zip(shares, names, strict=True), key=lambda pair: -abs(pair[0]))[:3]
    told = [(share, name) for share, name in ranked if abs(share) >= _SMALLEST]
    speaks_for = [f"{name} +{share:.1f}" for share, name in told if share > 0]
    against = [f"{name} −{-share:.1f}" for share, name in told if share < 0]
    parts = [f"for: {', '.join(speaks_for)}"] if speaks_for else []
    parts += [f"against: {', '.join(against)}"] if against else []
    return "; ".join(parts) or "nothing speaks clearly for or against"
