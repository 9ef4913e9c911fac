"""From a Page to Labels with a trained model, through ONNX Runtime."""

from __future__ import annotations

import hashlib
import os
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..layout.features import Features, extract
from ..layout.page import Labels, Page
from ..layout.runs import run_boxes, run_features
from ..render.errors import ModelError
from .card import DEFAULT, RECIPES, Card, read_card, read_file
from .chain import marginals, viterbi
from .reasons import occluded, reasons_of

if TYPE_CHECKING:
    import onnxruntime

Float32 = npt.NDArray[np.float32]
Bool = npt.NDArray[np.bool_]

# The probability that a block must exceed where one kind of error is worse than the other.
FAVOUR = {"precision": 0.75, "": 0.5, "recall": 0.25}


class Model:
    """Trained weights, ready to label pages. `load` makes one.

    The chain of "web2text" runs over leaves and labels by its best sequence, as in the paper. Ours
    runs over unbroken runs of text, so that a link is never cut out of its sentence, and labels
    each by its own probability: that errs on fewer blocks, and label and probability agree.
    """

    def __init__(self, card: Card, weights: bytes, vision: bytes = b"") -> None:
        self.card, self.recipe = card, RECIPES[card.recipe]
        self._session = _session(weights)
        self._inputs = {node.name: node.shape for node in self._session.get_inputs()}
        self._vision = vision

    @classmethod
    def load(cls, name: str | os.PathLike[str] = DEFAULT) -> Model:
        """A packaged model by its name, or one's own by the path of its `.onnx` or `.json` file.

        Raises:
            ModelError: there is no such model, it is damaged, or it fits other features.
        """
        card, weights = read_card(name), read_file(name, ".onnx")
        vision = read_file(name, ".vision.onnx") if card.vision_sha256 else b""
        for content, digest in ((weights, card.weights_sha256), (vision, card.vision_sha256)):
            if (content or digest) and hashlib.sha256(content).hexdigest() != digest:
                raise ModelError(f"{name}: the weights are damaged, or not those of the card")
        card.require_features()
        try:
            return cls(card, weights, vision)
        except Exception as error:  # onnxruntime's own errors share no base class
            raise ModelError(f"{name}: the weights cannot be read: {error}") from error

    def label(
        self, page: Page, reasons: bool = True, favour: str = "", vision: bool = False
    ) -> Labels:
        """The labels of a page.

        Without `reasons` each of them is empty, at a lower cost. `favour` "precision" or "recall"
        moves the probability that a block must exceed. With `vision` the page's picture counts too,
        where there is one: raises ModelError for a model without eyes, SnapshotError for a
        damaged picture.
        """
        states = self.states(page)
        variants = occluded(states.blocks, self.recipe.unknown) if reasons else states.blocks[None]
        looks = self.looks(page) if vision else None
        unary, pairwise = self.potentials(variants, states.edges, looks)
        content, probability = self.decode(unary[0], pairwise, favour)
        if self.recipe.over_runs:
            content, probability, unary = (
                content[page.run],
                probability[page.run],
                unary[:, page.run],
            )
        return Labels(
            content=content,
            probability=probability,
            reasons=reasons_of(unary * self.card.slope, probability)
            if reasons
            else ("",) * len(page),
        )

    def states(self, page: Page) -> Features:
        """The features of the s states of the chain, [s, F] and [s - 1, E]."""
        features = extract(page, self.recipe.block_set)
        return run_features(page, features) if self.recipe.over_runs else features

    def looks(self, page: Page) -> Float32 | None:
        """What the networks see of each state, [members, s, looks]; None without a picture.

        Raises ModelError, SnapshotError.
        """
        from ..layout.crops import picture_of

        if not self._vision:
            raise ModelError(f"{self.card.name}: this model has not learned to look at pictures")
        picture = picture_of(page, run_boxes(page))
        if picture is None or not picture.seen.any():
            return None
        pixels = picture.pixels.transpose(2, 0, 1)[None]
        feed = {"pixels": pixels, "boxes": picture.boxes, "seen": picture.seen}
        looks: Float32 = self._eyes.run(None, feed)[0]
        return looks

    def potentials(
        self, blocks: Float32, edges: Float32, looks: Float32 | None = None
    ) -> tuple[Float32, Float32]:
        """Log potentials [v, s, 2] and [s - 1, 2, 2].

        Args:
            blocks: [v, s, F], v variants of the same states.
            edges: [s - 1, E].
            looks: [members, s, looks], None where nothing was seen.
        """
        size = blocks.shape[1]
        if not size:
            return np.zeros((len(blocks), 0, 2), np.float32), np.zeros((0, 2, 2), np.float32)
        feed = {"blocks": blocks, "edges": edges[None]}
        if "looks" in self._inputs:
            members, _, width = self._inputs["looks"]
            feed["looks"] = np.zeros((members, size, width), np.float32) if looks is None else looks
        elif not len(edges):
            # The runtime convolves no empty sequence: a lone state gets an edge, dropped again.
            feed["edges"] = np.zeros((1, 1, edges.shape[1]), np.float32)
        unary, pairwise = self._session.run(None, feed)
        return unary, pairwise[0, : len(edges)].reshape(-1, 2, 2)

    def decode(self, unary: Float32, pairwise: Float32, favour: str = "") -> tuple[Bool, Float32]:
        """The labels and the calibrated probabilities of s states, both [s]."""
        edges = pairwise * self.card.pairwise_weight
        probability = self.card.calibration.apply(marginals(unary, edges))
        if self.recipe.over_runs or favour:
            return probability > FAVOUR[favour], probability
        return viterbi(unary, edges).astype(bool), probability

    @cached_property
    def _eyes(self) -> onnxruntime.InferenceSession:
        try:
            return _session(self._vision)
        except Exception as error:  # onnxruntime's own errors share no base class
            raise ModelError(f"{self.card.name}: the eyes cannot be read: {error}") from error


def _session(weights: bytes) -> onnxruntime.InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # pages are small
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
