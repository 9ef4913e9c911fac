"""The label chain: two states a block, log potentials on blocks and on edges.

score(labels) = sum of unary[i, l_i] + sum of pairwise[i, l_i, l_i+1], as in Web2Text, section 3.5.
Pages are short and the states are two, so that plain floats beat arrays here.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]


def viterbi(unary: Floats, pairwise: Floats) -> Int64:
    """The labels of the highest score, [b] of 0 and 1.

    Args:
        unary: [b, 2] log potentials.
        pairwise: [b - 1, 2, 2] log potentials of (label, next label).
    """
    rows, edges = unary.tolist(), pairwise.tolist()
    if not rows:
        return np.zeros(0, np.int64)
    best0, best1 = rows[0]
    came_from: list[tuple[bool, bool]] = []
    for (u0, u1), ((p00, p01), (p10, p11)) in zip(rows[1:], edges, strict=True):
        from0, from1 = best1 + p10 > best0 + p00, best1 + p11 > best0 + p01
        best0, best1 = (
            u0 + (best1 + p10 if from0 else best0 + p00),
            u1 + (best1 + p11 if from1 else best0 + p01),
        )
        came_from.append((from0, from1))
    labels = [int(best1 > best0)]
    for choice in reversed(came_from):
        labels.append(int(choice[labels[-1]]))
    return np.array(labels[::-1], np.int64)


def marginals(unary: Floats, pairwise: Floats) -> Float64:
    """The probability of label 1 for each block over all label sequences, [b].

    The forward-backward algorithm in log space; the shapes are those of `viterbi`.
    """
    rows, edges = unary.tolist(), pairwise.tolist()
    if not rows:
        return np.zeros(0)
    forward = [tuple(rows[0])]
    for (u0, u1), ((p00, p01), (p10, p11)) in zip(rows[1:], edges, strict=True):
        f0, f1 = forward[-1]
        forward.append((u0 + _log_add(f0 + p00, f1 + p10), u1 + _log_add(f0 + p01, f1 + p11)))
    backward = [(0.0, 0.0)]
    for (u0, u1), ((p00, p01), (p10, p11)) in zip(rows[:0:-1], edges[::-1], strict=True):
        b0, b1 = backward[-1]
        backward.append(
            (_log_add(p00 + u0 + b0, p01 + u1 + b1), _log_add(p10 + u0 + b0, p11 + u1 + b1))
        )
    # [b] log odds of label 1
    odds = [f1 + b1 - f0 - b0 for (f0, f1), (b0, b1) in zip(forward, backward[::-1], strict=True)]
    return 1 / (1 + np.exp(-np.clip(odds, -700, 700)))


def _log_add(a: float, b: float) -> float:
    """log(exp(a) + exp(b))."""
    high, low = (a, b) if a > b else (b, a)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))
