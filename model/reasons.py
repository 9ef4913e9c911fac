"""What spoke for and against each block: the log odds that an aspect of it adds.

An aspect's share is what the network loses without it (occlusion; Zeiler, Fergus 2014); what the
neighbours add is the difference of the chain's log odds and the network's own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..layout.features import BLOCK

Float32 = npt.NDArray[np.float32]

# What a reason may name: columns of the block features by the start of their names.
_ASPECTS = {
    "text": ("leaf.", "duplicate", "phrases."),
    "tags": ("leaf.tag.", "parent.tag", "class_path"),
    "parent": ("parent.",),
    "grandparent": ("grandparent.",),
    "page": ("root.", "context.", "declared."),
    "section": ("sections.",),
    "groups": ("groups.",),
    "names": ("names.",),
    "layout": ("geometry.",),
}
_ASPECT_COLUMNS = [
    [column.startswith(starts) for column in BLOCK.columns] for starts in _ASPECTS.values()
]
_NAMES = (*_ASPECTS, "neighbours")
_SMALLEST = 0.2  # log odds below which an aspect is not worth a word


def occluded(blocks: Float32, unknown: float) -> Float32:
    """The features as they are, then without one aspect after the other, [1 + aspects, b, F]."""
    variants = np.repeat(blocks[None], 1 + len(_ASPECTS), axis=0)
    for variant, columns in zip(variants[1:], _ASPECT_COLUMNS, strict=True):
        variant[:, columns[: blocks.shape[1]]] = unknown
    return variants


def reasons_of(unary: Float32, probability: Float32) -> tuple[str, ...]:
    """One line a block, from the potentials [1 + aspects, b, 2] of the variants of `occluded`.

    probability: [b] of the chain.
    """
    odds = unary[:, :, 1] - unary[:, :, 0]  # [1 + aspects, b]
    bounded = np.clip(probability.astype(np.float64), 1e-6, 1 - 1e-6)
    chain = np.log(bounded / (1 - bounded)) - np.clip(odds[0], -13.8, 13.8)
    shares = np.concatenate([odds[0] - odds[1:], chain[None]])  # [aspects + 1, b]
    return tuple(_one_reason(column) for column in shares.T.tolist())


def _one_reason(shares: list[float]) -> str:
    ranked = sorted(zip(shares, _NAMES, strict=True), key=lambda pair: -abs(pair[0]))[:3]
    told = [(share, name) for share, name in ranked if abs(share) >= _SMALLEST]
    speaks_for = [f"{name} +{share:.1f}" for share, name in told if share > 0]
    against = [f"{name} −{-share:.1f}" for share, name in told if share < 0]
    parts = [f"for: {', '.join(speaks_for)}"] if speaks_for else []
    parts += [f"against: {', '.join(against)}"] if against else []
    return "; ".join(parts) or "nothing speaks clearly for or against"
