"""From a Page to Labels with a trained model, through ONNX Runtime."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..layout.features import Features, extract
from ..layout.page import Labels, Page
from ..layout.runs import run_boxes, run_features
from ..render.errors import ModelError
from .calibration import log_odds
from .card import DEFAULT, RECIPES, Card, read_card, read_file
from .chain import marginals, viterbi
from .kinds import KINDS
from .reasons import occluded, reasons_of

if TYPE_CHECKING:
    import onnxruntime

Float32 = npt.NDArray[np.float32]
Bool = npt.NDArray[np.bool_]


class Model:
    """Trained weights, ready to label pages. `load` makes one.

    The chain of "web2text" runs over leaves and labels by its best sequence, as in the paper. Ours
    runs over unbroken runs of text, so that a link is never cut out of its sentence, and labels
    each by its own probability: that errs on fewer blocks, and label and probability agree.
    """

    def __init__(
        self,
        card: Card,
        weights: bytes,
        vision: bytes = b"",
        reasons: bytes = b"",
        policy: str = "",
    ) -> None:
        self.card, self.recipe = card, RECIPES[card.recipe]
        self.policy = card.policies[card.policy(policy)]
        chosen = [name == card.policy(policy) for name in card.policies]
        self._head = np.array([chosen], np.float32)  # [1, policies]
        self._session = _session(weights)
        self._inputs = {node.name: node.shape for node in self._session.get_inputs()}
        self._vision, self._why = vision, reasons

    @classmethod
    def load(cls, name: str | os.PathLike[str] = DEFAULT, policy: str = "") -> Model:
        """A packaged model by its name, or one's own by the path of its `.onnx` or `.json` file.

        `policy` says what it shall take for main content; by default the first that it knows.

        Raises:
            ModelError: there is no such model, it is damaged, it fits other features, or it does
                not know the policy.
        """
        card, weights = read_card(name), read_file(name, ".onnx")
        vision = read_file(name, ".vision.onnx") if card.vision_sha256 else b""
        why = read_file(name, ".reasons.onnx") if card.reasons_sha256 else b""
        digests = (card.weights_sha256, card.vision_sha256, card.reasons_sha256)
        for content, digest in zip((weights, vision, why), digests, strict=True):
            if (content or digest) and hashlib.sha256(content).hexdigest() != digest:
                raise ModelError(f"{name}: the weights are damaged, or not those of the card")
        card.require_features()
        card.policy(policy)
        try:
            return cls(card, weights, vision, why, policy)
        except Exception as error:  # onnxruntime's own errors share no base class
            raise ModelError(f"{name}: the weights cannot be read: {error}") from error

    def label(
        self,
        page: Page,
        reasons: bool = True,
        favour: str = "",
        vision: bool = False,
        site: Float32 | None = None,
    ) -> Labels:
        """The labels of a page.

        Without `reasons` each of them is empty, at a lower cost. `favour` "precision" or "recall"
        moves the probability that a block must exceed. With `vision` the page's picture counts too,
        where there is one: raises ModelError for a model without eyes, SnapshotError for a
        damaged picture. `site` are the log odds that other pages of the site hold against each
        block, [b], as of `SiteTexts.against`: its probability and its label follow.
        """
        states = self.states(page)
        looks = self.looks(page) if vision else None
        unary, pairwise, kinds = self.potentials(states.blocks[None], states.edges, looks)
        content, probability = self.decode(unary[0], pairwise, favour)
        told = self._reasons(states, unary[0], probability, looks) if reasons else None
        # [b] the state of each block
        state = page.run if self.recipe.over_runs else np.arange(len(page))
        labels = Labels(
            content=content[state],
            probability=probability[state],
            reasons=tuple(told[i] for i in state.tolist()) if told else ("",) * len(page),
            kind=KINDS[int(kinds.argmax())] if kinds.any() else "",
        )
        return labels if site is None else doubted(labels, site, self.policy.threshold(favour))

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
    ) -> tuple[Float32, Float32, Float32]:
        """Log potentials [v, s, 2] and [s - 1, 2, 2], and the log odds of page kinds, [kinds].

        The latter are zeros from a model that has not learned them, and for an empty page.

        Args:
            blocks: [v, s, F], v variants of the same states.
            edges: [s - 1, E].
            looks: [members, s, looks], None where nothing was seen.
        """
        size = blocks.shape[1]
        kinds = np.zeros((1, len(KINDS)), np.float32)
        if not size:
            nothing = np.zeros((len(blocks), 0, 2), np.float32), np.zeros((0, 2, 2), np.float32)
            return *nothing, kinds[0]
        feed = self._feed(blocks, edges, looks)
        unary, pairwise, *rest = self._session.run(None, feed)
        kinds = rest[0] if rest else kinds
        return unary, pairwise[0, : len(edges)].reshape(-1, 2, 2), kinds[0]

    def _feed(self, blocks: Float32, edges: Float32, looks: Float32 | None) -> dict[str, Float32]:
        feed = {"blocks": blocks, "edges": edges[None]}
        if "looks" in self._inputs:
            members, _, width = self._inputs["looks"]
            unseen = np.zeros((members, blocks.shape[1], width), np.float32)
            feed["looks"] = unseen if looks is None else looks
            feed["policy"] = self._head
        elif not len(edges):
            # The runtime convolves no empty sequence: a lone state gets an edge, dropped again.
            feed["edges"] = np.zeros((1, 1, edges.shape[1]), np.float32)
        return feed

    def _reasons(
        self, states: Features, unary: Float32, probability: Float32, looks: Float32 | None
    ) -> tuple[str, ...]:
        """What spoke for and against each of s states, whose potentials are [s, 2].

        One member explains for all: each of the many variants costs a fifth then.
        """
        if not len(states.blocks):
            return ()
        variants = occluded(states.blocks, self.recipe.unknown)
        feed = self._feed(variants, states.edges, looks)
        if self._explainer is not self._session:
            feed["looks"] = feed["looks"][:1]
        said: Float32 = self._explainer.run(["unary"], feed)[0]
        return reasons_of((unary + said - said[0]) * self.policy.slope, probability)

    def decode(self, unary: Float32, pairwise: Float32, favour: str = "") -> tuple[Bool, Float32]:
        """The labels and the calibrated probabilities of s states, both [s]."""
        edges = pairwise * self.card.pairwise_weight
        probability = self.policy.calibration.apply(marginals(unary, edges))
        if self.recipe.over_runs or favour:
            return probability > self.policy.threshold(favour), probability
        return viterbi(unary, edges).astype(bool), probability

    @cached_property
    def _explainer(self) -> onnxruntime.InferenceSession:
        """The first member by itself, where the model has it so."""
        try:
            return _session(self._why) if self._why else self._session
        except Exception as error:  # onnxruntime's own errors share no base class
            raise ModelError(f"{self.card.name}: the reasons cannot be read: {error}") from error

    @cached_property
    def _eyes(self) -> onnxruntime.InferenceSession:
        try:
            return _session(self._vision)
        except Exception as error:  # onnxruntime's own errors share no base class
            raise ModelError(f"{self.card.name}: the eyes cannot be read: {error}") from error


def doubted(labels: Labels, against: Float32, threshold: float) -> Labels:
    """Labels of b blocks after each has lost log odds, [b] from 0 on; what loses none stays."""
    odds = log_odds(labels.probability) - against
    lowered = np.where(against > 0, np.exp(-np.logaddexp(0, -odds)), labels.probability)
    probability = lowered.astype(np.float32)
    pairs = zip(labels.reasons, against.tolist(), strict=True)
    return replace(
        labels,
        content=labels.content & ((against <= 0) | (probability > threshold)),
        probability=probability,
        reasons=tuple(
            f"{told}; its site −{loss:.1f}" if told and round(loss, 1) else told
            for told, loss in pairs
        ),
    )


def _session(weights: bytes) -> onnxruntime.InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # pages are small
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
