"""Score a model on the pages of one part of a split."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..layout.page import Page, build_page
from ..model.predict import Model
from .examples import Bool, Example
from .metrics import BlockScores, block_scores, calibration_error, rouge_lsum, word_f1


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Block metrics pooled over all pages, text metrics as means over pages.

    seconds_per_page: from the Snapshot to labels, mean.
    """

    dataset: str
    split: str
    pages: int
    block: BlockScores
    word_f1: float
    rouge_lsum: float
    ece: float
    seconds_per_page: float
    model: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def evaluate(
    model: Model, dataset: str, split: str, examples: Iterable[Example], vision: bool = False
) -> Evaluation:
    """Score `model` on examples, with `vision` by their pictures too.

    Raises ValueError where there is none, ModelError where the model cannot look.
    """
    gold, predicted, probability = [], [], []
    words, rouge, seconds = [], [], []
    for example in examples:
        start = time.perf_counter()
        labels = model.label(build_page(example.page.snapshot), reasons=False, vision=vision)
        seconds.append(time.perf_counter() - start)
        gold.append(example.content[example.known])
        predicted.append(labels.content[example.known])
        probability.append(labels.probability[example.known])
        text, reference = joined(example.page, labels.content), example.record.gold or ""
        words.append(word_f1(text, reference))
        rouge.append(rouge_lsum(text, reference))
    if not gold:
        raise ValueError("no page to evaluate")
    truth = np.concatenate(gold)
    return Evaluation(
        dataset=dataset,
        split=split,
        pages=len(gold),
        block=block_scores(truth, np.concatenate(predicted)),
        word_f1=float(np.mean(words)),
        rouge_lsum=float(np.mean(rouge)),
        ece=calibration_error(np.concatenate(probability), truth),
        seconds_per_page=float(np.mean(seconds)),
        model=model.card.name,
    )


def joined(page: Page, content: Bool) -> str:
    """The text of the kept blocks, a line a block of text."""
    pieces = []
    for block in np.flatnonzero(content).tolist():
        broken, spaced = page.tree.break_before[block], page.space_before[block]
        pieces += ["\n" if broken else " " if spaced else "", page.text[block]]
    return "".join(pieces).strip()
